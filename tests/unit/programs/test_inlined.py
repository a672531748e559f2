"""Functions of the user's own: a call is what the function returns, written out."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from graphtide.lang.python import unparse
from graphtide.lang.python.unparse import written_program
from graphtide.model.errors import LanguageError
from graphtide.plan.program_analysis import selection
from tests.oracle.programs import run
from tests.unit.programs.sources import define, read

FUNCTIONS = """
HALF = 0.5
low, high = lambda x, y=0.0: max(x, y), lambda x, *, most=1.0: min(x, most)

def clamp(x, least=0.0, most=1.0):
    '''Between two numbers.'''
    return high(low(x, least), most=most)

def fade(amount, days=3, *, rate=2):
    if days > 30:
        return 0
    part = amount * rate
    if days > 10:
        part *= HALF
    elif days > 5:
        part = part - 1
    return part / (1 + days)

def same(x, y):
    if x > 1:
        y = x
    else:
        y = x
    return y

def dear(kind, amount):
    return kind in ("wire", "swift") and amount > 9
"""
PROGRAM = """
@gt.program
class Spread:
    score: float
    source: gt.Vertex
    best = gt.Max(float)
    kind = gt.Property(str)
    days = gt.Property(int)

    def initialize(self, v):
        v.score = 1.0 if v == self.source else 0.0

    def traverse(self, u, e, v):
        {traverse}

    def update(self, v):
        v.score = max(v.score, v.best)
"""


def spread(traverse: str) -> Any:
    return read(FUNCTIONS + PROGRAM.format(traverse=traverse)).plan


@pytest.mark.parametrize(
    ("called", "written"),
    [
        ("v.best(clamp(u.score))", "v.best(min(max(u.score, 0.0), 1.0))"),
        ("v.best(clamp(most=9, x=u.score))", "v.best(min(max(u.score, 0.0), 9))"),
        ("v.best(high(u.score, most=0.5))", "v.best(min(u.score, 0.5))"),
        (
            "v.best(u.score * fade(e.amount, e.days))",
            "v.best(u.score * (0.0 if e.days > 30 else (e.amount * 2 * 0.5 if e.days > 10 else "
            "e.amount * 2 - 1 if e.days > 5 else e.amount * 2) / (1 + e.days)))",
        ),
        ("v.best(same(u.score, e.amount))", "v.best(u.score)"),
        (
            "if dear(e.kind, e.amount): v.best(u.score)",
            "if (e.kind == 'wire' or e.kind == 'swift') and e.amount > 9: v.best(u.score)",
        ),
        (
            "part = clamp(u.score)\n        v.best(part * clamp(part, 0.25))",
            "part = min(max(u.score, 0.0), 1.0)\n        v.best(part * min(max(part, 0.25), 1.0))",
        ),
    ],
)
def test_a_call_is_what_it_stands_for(called: str, written: str) -> None:
    plan = spread(called)
    assert plan == spread(written)
    assert written_program(unparse(plan)).plan == plan


def test_proofs_see_through_calls() -> None:
    found = selection(spread("v.best(u.score * clamp(e.amount, 0.25, 0.5))"))
    assert found is not None
    assert found.settles


def test_functions_of_modules_and_of_functions_around() -> None:
    helpers = define("def half(x): return x / 2", "<helpers>")
    text = """
    def made():
        share = 0.75
        def part(x): return x * share
        @gt.program
        class Halves:
            x: float
            got = gt.Sum(float)
            def traverse(self, u, e, v): v.got(half(part(u.x)))
            def update(self, v): v.x = v.got
        return Halves
    """
    plan = define(text, half=helpers["half"])["made"]().plan
    assert "v.got(u.x * 0.75 / 2.0)" in unparse(plan)


def test_walks_call_functions_too() -> None:
    text = """
    def near(one, other): return abs(one - other) < 2

    @gt.program
    class Close:
        total = gt.Global(gt.Count())
        def traverse(self, u):
            for v, e in u.out_edges:
                for w, f in v.out_edges:
                    if near(e.time, f.time):
                        self.total()
    """
    assert "abs(e.time - f.time) < 2" in unparse(read(text).plan)


@pytest.mark.parametrize(
    ("functions", "call", "what", "hint", "place"),
    [
        ("def f(x): return f(x) + 1", "f(1)", "f() calls itself", "", "f(x)"),
        (
            "def f(x): return g(x)\ndef g(x): return f(x)",
            "f(1)",
            "f() calls itself, and a program has no recursion",
            "",
            "f(x)",
        ),
        ("def f(x):\n    if x > 1: return 2", "f(1)", "may end without a value", "every way", None),
        (
            "def f(x):\n    for k in x: pass",
            "f(1)",
            "cannot stand in f()",
            "assignments, ifs",
            None,
        ),
        ("def f(x):\n    while x: pass", "f(1)", "`while` cannot", "assignments, ifs", None),
        (
            "def f(x):\n    x.y = 1\n    return 1",
            "f(1)",
            "only names can be assigned",
            "",
            "x.y = 1",
        ),
        ("def f(x): return [x]", "f(1)", "a list cannot", "", "[x]"),
        ("def f(x): return x and 1", "f(1)", "a condition is true or false", "compare", "x"),
        ("def f(x):\n    if x > 1: y = 2\n    return y", "f(1)", "'y' may have no value", "", "y"),
        ("def f(x): return x", "f()", "f() takes x", "give it 'x'", "f()"),
        ("def f(x): return x", "f(1, 2)", "f() takes x", "as it is defined", "f(1, 2)"),
        ("def f(x): return x", "f(y=2)", "f() takes x", "as it is defined", "f(y=2)"),
        ("def f(x): return x", "f(u)", "'u' is neither", "u.x", "u"),
        ("def f(x): return x", "f(e)", "'e' is neither", "e.weight", "e"),
        ("def f(*x): return x", "f(1)", "names all its arguments", "leave out `*`", None),
        ("def f(x, y=[]): return x", "f(1)", "the default of 'y'", "give it a value", None),
        ("def k(f): return f\n@k\ndef f(x): return x", "f(1)", "no decorators", "remove", "k"),
        ("async def f(x): return x", "f(1)", "asynchronous", "def", None),
        (
            "def f(x):\n" + "    x = x + x\n" * 12 + "    return x",
            "f(1.0)",
            "'x' stands for more than 1,000 operations",
            "put in wherever",
            "f(1.0)",
        ),
        (
            "\n".join(f"def f{k}(x): return f{k + 1}(x)" for k in range(30)) + "\nf = f0",
            "f(1)",
            "more than 20 deep",
            "join",
            "f20(x)",
        ),
    ],
)
def test_functions_that_cannot_be_called(
    functions: str, call: str, what: str, hint: str, place: str | None
) -> None:
    text = f"""
@gt.program
class Wrong:
    x: float
    got = gt.Sum(float)
    def traverse(self, u, e, v): v.got({call})
    def update(self, v): v.x = v.got
"""
    with pytest.raises(LanguageError) as caught:
        read(functions + text)
    error = caught.value
    assert what in error.what
    assert hint in (error.hint or "")
    line, carets = (error.where or "").splitlines()[1:3]
    assert place in (None, line[carets.index("^") : carets.rindex("^") + 1])


def test_a_function_without_source_is_refused() -> None:
    names: dict[str, Any] = {}
    exec("def f(x): return x", names)
    with pytest.raises(LanguageError, match=r"the source of f\(\) cannot be found"):
        read(PROGRAM.format(traverse="v.best(f(u.score))"), f=names["f"])


class Writer:
    """Writes functions of two numbers at random, which Python can carry out as they are."""

    def __init__(self, seed: int) -> None:
        self.pick = random.Random(seed)

    def number(self, names: list[str], depth: int = 2) -> str:
        if not depth or self.pick.random() < 0.3:
            return self.pick.choice([*names, *names, "2", "0.5", "3.0"])
        one, other = self.number(names, depth - 1), self.number(names, depth - 1)
        return self.pick.choice(
            [
                f"({one} + {other})",
                f"({one} - {other})",
                f"({one} * {other})",
                f"min({one}, {other})",
                f"abs({one})",
                f"({one} if {one} < {other} else {other})",
            ]
        )

    def condition(self, names: list[str]) -> str:
        one, other = self.number(names, 1), self.number(names, 1)
        return f"{one} {self.pick.choice(['<', '>=', '=='])} {other}"

    def block(self, names: list[str], depth: int, indent: str) -> list[str]:
        """Statements; a name is read where it surely has a value."""
        lines: list[str] = []
        for _ in range(self.pick.randrange(1, 4)):
            way, name = self.pick.random(), self.pick.choice("abxy")
            if way < 0.45 or not depth:
                operator = self.pick.choice(["=", "+=", "*="]) if name in names else "="
                lines.append(f"{indent}{name} {operator} {self.number(names)}")
                names = [*names, name] if name not in names else names
            elif way < 0.7:
                lines.append(f"{indent}if {self.condition(names)}:")
                lines.append(f"{indent}    return {self.number(names)}")
            else:
                lines.append(f"{indent}if {self.condition(names)}:")
                lines += self.block(names, depth - 1, indent + "    ")
                if self.pick.random() < 0.6:
                    lines.append(f"{indent}else:")
                    lines += self.block(names, depth - 1, indent + "    ")
        return lines

    def function(self) -> str:
        lines = ["def f(x, y):", *self.block(["x", "y"], 2, "    ")]
        return "\n".join([*lines, f"    return {self.number(['x', 'y'])}"])


@pytest.mark.parametrize("seed", range(40))
def test_random_functions_compute_what_python_computes(seed: int) -> None:
    text = Writer(seed).function()
    program = """
@gt.program
class Once:
    x: float
    got = gt.Sum(float)
    iterations = 1
    def initialize(self, v): v.x = 0.0
    def traverse(self, u, e, v): v.got(f(e.one, e.other))
    def update(self, v): v.x = v.got
"""
    try:
        plan = read(f"{text}\n{program}").plan
    except LanguageError as error:
        if "operations" not in error.what:  # Long ones are refused.
            raise
        return
    function = define(text)["f"]
    for one in (-2.5, 0.0, 1.0, 4.0):
        for other in (-1.0, 0.5, 3.0):
            edge = (0, 1, {"one": one, "other": other})
            found = run(plan, {}, 2, [edge])[0]["x"][1]
            assert math.isclose(found, function(one, other), abs_tol=1e-12), text
