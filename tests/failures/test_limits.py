"""Texts just below a limit go all the way; those just beyond are refused at once, in our words."""

from __future__ import annotations

import importlib.util
import re
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import graphtide as gt
from graphtide.lang.datalog import parse_datalog, unparse_datalog
from graphtide.lang.gvdl import explain_tree, parse_predicate, resolve_predicate, unparse
from graphtide.lang.nga.parse import parse_program
from graphtide.lang.paths import parse_path, unparse_path
from graphtide.model import limits
from graphtide.model.errors import GraphtideError, LanguageError, LimitError
from graphtide.model.limits import BLOCKS, CHARACTERS, DEPTH, DIGITS, LITERALS, WORD
from graphtide.model.schema import GraphSchema, Property, PropertyType
from graphtide.plan.dataflow_expressions import Column, Operation, constant
from graphtide.plan.regular_paths import MOST_FOLLOWS, MOST_POSITIONS, MOST_STATES, automaton_of

ROOT = Path(__file__).parents[2]
SCHEMA = GraphSchema(
    PropertyType.INT,
    edge=(Property("a", PropertyType.INT), Property("t", PropertyType.STRING)),
)
HEAD = ".decl a(x: number)\na(1).\n.decl b(x: number)\n.output b\n"
NGA = "Vertex (d: double)\nTraverse (u): For v in u.nbrs { v.best.Accumulate(%s) }\n"


def gvdl(text: str) -> None:
    tree = parse_predicate(text)
    assert parse_predicate(unparse(tree)) == tree
    assert explain_tree(tree)
    assert str(resolve_predicate(tree, SCHEMA))


def datalog(text: str) -> None:
    tree = parse_datalog(text)
    assert parse_datalog(unparse_datalog(tree)) == tree
    rules = gt.datalog(text)
    rules.explain()
    rules.advance()
    rules.facts("b")
    rules.close()


def path(text: str) -> None:
    tree = parse_path(text)
    assert parse_path(unparse_path(tree)) == tree
    automaton_of(tree)


def negations(count: int) -> str:
    return "not " * count + "a > 1"


def summed(count: int) -> str:
    return HEAD + "b(y) :- a(x), y = " + "x + " * count + "1.\n"


BELOW_AND_BEYOND: list[Any] = [
    (gvdl, negations(DEPTH - 2), negations(DEPTH + 1)),
    (gvdl, f"a > {'0' * (DIGITS - 1)}7", f"a > {'0' * DIGITS}7"),
    (gvdl, f"t = '{'x' * (WORD - 2)}'", f"t = '{'x' * (WORD - 1)}'"),
    (gvdl, f"a{' ' * (CHARACTERS - 4)}> 1", f"a{' ' * (CHARACTERS - 3)}> 1"),
    (gvdl, " and ".join(["a > 1"] * 1000), "a > " + "x" * (WORD + 1)),
    (datalog, summed(DEPTH - 6), summed(DEPTH + 1)),
    (
        datalog,
        HEAD + f"b({'0' * (DIGITS - 1)}1).\n",
        HEAD + f"b({'0' * DIGITS}1).\n",
    ),
    (
        datalog,
        HEAD + "b(x) :- " + ", ".join(["a(x)"] * LITERALS) + ".\n",
        HEAD + "b(x) :- " + ", ".join(["a(x)"] * (LITERALS + 1)) + ".\n",
    ),
    (path, "(" * 97 + "a/b" + ")*" * 97, "(" * 101 + "a/b" + ")*" * 101),
    (path, "x" * WORD, "x" * (WORD + 1)),
    (path, "0" * (DIGITS - 1) + "7", "0" * DIGITS + "7"),
]


@pytest.mark.parametrize(("whole_way", "below", "beyond"), BELOW_AND_BEYOND)
def test_texts_below_a_limit_go_all_the_way_and_beyond_are_refused(
    whole_way: Callable[[str], None], below: str, beyond: str
) -> None:
    whole_way(below)
    with pytest.raises(LanguageError, match=r"taken|nested|more than") as refused:
        whole_way(beyond)
    assert "line" in str(refused.value.where)
    assert len(str(refused.value)) < 1_000, "a long text is quoted shortened"


@pytest.mark.parametrize(
    "text",
    ["9" * 5000, "1 + " * 1000 + "1", "-" * 1000 + "1", "(" * 1000 + "1" + ")" * 1000],
    ids=["digits", "sum", "signs", "parentheses"],
)
def test_long_and_deep_values_of_nga_are_refused(text: str) -> None:
    with pytest.raises(LanguageError, match=r"taken|nested"):
        parse_program(NGA % text)


@pytest.mark.parametrize(
    "read",
    [parse_predicate, parse_program, parse_datalog, parse_path],
)
@pytest.mark.parametrize("text", ["'{}", '"{}"', "{}", "`{}", "/*{}", "({}", "a = 1 {}", "{} b"])
def test_ten_megabytes_of_anything_take_neither_time_nor_memory(
    read: Callable[[str], object], text: str
) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF)
    for length in (CHARACTERS - 20, 10_000_000):
        with pytest.raises(GraphtideError) as refused:
            read(text.format("x" * length))
        assert len(str(refused.value)) < 1_500
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert after.ru_utime - before.ru_utime < 5
    assert after.ru_maxrss - before.ru_maxrss < 300 << 10


PROGRAM = """
import graphtide as gt

@gt.program
class P:
    d: float = 0.0
    best = gt.Min(float)
    iterations = 3
    def initialize(self, v):
        v.d = 0.0
    def traverse(self, u, e, v):
        x = 0.0
{body}
        v.best(x)
    def update(self, v):
        v.d = v.best
"""
KINDS: dict[str, tuple[Callable[[int], str], int, int]] = {
    "sum": (lambda count: "        x = " + "u.d + " * count + "1.0", DEPTH - 4, DEPTH + 1),
    "signs": (lambda count: "        x = " + "-" * count + "u.d", DEPTH - 6, DEPTH + 1),
    "elif": (
        lambda count: (
            "        if u.d < 0.0:\n            x = 1.0\n"
            + "".join(f"        elif u.d < {at}.0:\n            x = 2.0\n" for at in range(count))
        ),
        DEPTH - 6,
        DEPTH + 1,
    ),
    "blocks": (
        lambda count: (
            "".join(f"{' ' * (8 + at)}if u.d < {at}.0:\n" for at in range(count))
            + f"{' ' * (8 + count)}x = 1.0\n"
        ),
        BLOCKS - 1,
        BLOCKS + 2,
    ),
}


@pytest.mark.interpreted
@pytest.mark.parametrize("kind", KINDS)
def test_programs_below_a_limit_run_and_beyond_are_refused(kind: str, tmp_path: Path) -> None:
    write, below, beyond = KINDS[kind]
    program = _imported(tmp_path / "below.py", PROGRAM.format(body=write(below)))
    assert program.explain()
    graph = gt.Graph([1, 2, 3], [2, 3, 1])
    assert graph.maintain(program()).table().num_rows == 3
    with pytest.raises(LanguageError, match="nested more than"):
        _imported(tmp_path / "beyond.py", PROGRAM.format(body=write(beyond)))


def _imported(file: Path, text: str) -> Any:
    file.write_text(text)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.P


def test_expressions_built_in_python_know_their_depth_and_size() -> None:
    def grown(count: int, *, wide: bool) -> Operation:
        expression: Any = Column("x")
        for _ in range(count):
            expression = Operation("+", (expression, expression if wide else constant(1)))
        return expression

    assert grown(150, wide=False).depth == 150
    with pytest.raises(LimitError, match="nested more than"):
        grown(151, wide=False)
    assert grown(15, wide=True).size == 2**15 - 1
    with pytest.raises(LimitError, match="operations"):
        grown(100, wide=True)


def test_long_chains_of_rules_and_nested_terms_take_linear_time() -> None:
    chain = "".join(
        f".decl r{at + 1}(x: number)\nr{at + 1}(x + 1) :- r{at}(x).\n" for at in range(400)
    )
    rules = gt.datalog(f".decl r0(x: number)\nr0(1).\n{chain}.output r400\n")
    rules.advance()
    assert rules.facts("r400") == [(401,)]
    nested = "count : {a(_), 1 < " * 30 + "1" + "}" * 30
    datalog(f"{HEAD}b(y) :- y = {nested}.\n")


def test_the_page_lists_every_limit() -> None:
    """In the order of the module; those of regular paths follow."""
    page = (ROOT / "docs" / "reference" / "limits.md").read_text()
    listed = [int(number.replace(",", "")) for number in re.findall(r"\| ([\d,]+) \|", page)]
    numbers = [value for name, value in vars(limits).items() if name.isupper()]
    texts = [value for value in numbers if isinstance(value, int)]
    assert listed == [*texts, MOST_POSITIONS, MOST_FOLLOWS, MOST_STATES]


@pytest.mark.parametrize("digits", [310, DIGITS])
def test_a_whole_number_beyond_all_floats_is_too_large(digits: int) -> None:
    with pytest.raises(LanguageError, match=r"^9{37}\.\.\. is too large a number") as error:
        parse_predicate(f"a = {'9' * digits}")
    assert len(error.value.what) < 80
