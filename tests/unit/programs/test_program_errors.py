"""Mistakes in programs: each error says what, where in the user's file, and what to do."""

from __future__ import annotations

import datetime
import math
import statistics
import textwrap

import numpy as np
import pytest

import graphtide.lang.python as gt
from graphtide.model.errors import LanguageError
from tests.unit.programs.sources import define, read

HEAD = """
NAMES = ["a"]
TABLE = {"a": 1.0}
def helper(x): return x
class Thing:
    def __call__(self, x): return x
thing = Thing()

@gt.program
class Wrong:
    source: gt.Vertex
    among: gt.Vertices
    pairs: gt.Pairs
    scale: float = 1.0
    dist: float = inf
    level: int
    seen: bool
    xs = gt.State(float, size=4)
    best = gt.Min(float)
    count = gt.Count()
    sums = gt.Sum(float, size=2)
"""
PLAIN = {
    "initialize": "v.seen = v == self.source or v in self.among or v == self.pairs.source",
    "traverse": "v.best(u.dist * self.scale)\nv.count()\nv.sums([1, 2])",
    "update": "v.dist = v.best + v.sums[0]\nv.level = v.count",
}
ARGUMENTS = {"initialize": "self, v", "traverse": "self, u, e, v", "update": "self, v"}


AROUND = {
    "np": np,
    "statistics": statistics,
    "math": math,
    "datetime": datetime,
    "LIMIT": 3,
    "BIG": 2**70,
}


def program_text(function: str, statements: str) -> str:
    text = HEAD
    for name, usual in PLAIN.items():
        body = usual + "\n" + statements if name == function else usual
        text += f"    def {name}({ARGUMENTS[name]}):\n" + textwrap.indent(body, "        ") + "\n"
    return text


def marked(error: LanguageError) -> str:
    assert error.where is not None
    line, carets = error.where.splitlines()[1:3]
    return line[carets.index("^") : carets.rindex("^") + 1]


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("if e.kind == 'wire': v.count()", "str"),
        ("if e.kind in ('wire', 'cash'): v.count()", "str"),
        ("if e.kind: v.count()", "bool"),
        ("if not e.kind and v.seen: v.count()", "bool"),
        ("if e.kind >= self.day: v.count()", "gt.Date"),
        ("if e.kind >= '2024-01-31': v.count()", "gt.Date"),
    ],
)
def test_a_property_that_is_no_float_is_to_be_declared(statement: str, kind: str) -> None:
    declared = "day: gt.Date\n    count = "
    text = program_text("traverse", statement).replace("count = ", declared)
    with pytest.raises(LanguageError) as caught:
        read(text, **AROUND)
    assert f"`kind = gt.Property({kind})`" in (caught.value.hint or "")


def test_the_base_of_these_tests_is_no_mistake() -> None:
    assert read(program_text("update", "pass")).plan.name == "Wrong"


def test_an_error_shows_file_line_caret_and_hint() -> None:
    text = """
    @gt.program
    class Spin:
        x: float
        a = gt.Sum(float)
        def traverse(self, u, e, v): v.a(1)
        def update(self, v):
            while v.x < 1: v.x = v.a
    """
    with pytest.raises(LanguageError) as caught:
        read(text, name="/home/ann/spin.py")
    assert str(caught.value) == (
        "`while` cannot be used in a program\n"
        "  at: /home/ann/spin.py, line 8, column 9\n"
        "    8 |         while v.x < 1: v.x = v.a\n"
        "      |         ^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "  try: loops are `for k in range(...)`"
    )


@pytest.mark.parametrize(
    ("statement", "what", "hint", "place"),
    [
        ("x = [1, 2]", "a list cannot", "gt.State(float, size=8)", "[1, 2]"),
        ("x = (1, 2)", "a tuple cannot", "one element", "(1, 2)"),
        ("x = [k for k in range(3)]", "a comprehension cannot", "range", None),
        ("return", "`return` cannot", "if and else", "return"),
        ("for k in range(3): break", "`break` cannot", "under an `if`", "break"),
        ("import math", "`import` cannot", "above the class", "import math"),
        ("assert v.seen", "`assert` cannot", "refused before", "assert v.seen"),
        ("def f(): pass", "a function inside", "above the class", "def f(): pass"),
        ("x = lambda y: y", "`lambda` cannot", "above the class", "lambda y: y"),
        ("global x", "`global` cannot", "as they are", "global x"),
        ("x = (y := 1)", "`:=` cannot", "line of its own", "y := 1"),
        ("x = f'{v.dist}'", "an f-string cannot", "programs make no texts", None),
        ("x, y = 1, 2", "a tuple cannot", "one element", "1, 2"),
        ("x = y = 1", "nothing can be assigned", "one name at a time", "x = y = 1"),
        ("x: int", "nothing can be assigned", "one name at a time", "x: int"),
        ("helper(1)", "can only send", "v.best(value)", "helper(1)"),
        ("1 + 1", "this does nothing", "assign it", "1 + 1"),
        ("print(v.dist)", "cannot call print()", "look at live.table()", "print"),
        ("x = print(1)", "cannot call print()", "look at live.table()", "print"),
        ("x = thing(1)", "cannot call thing()", "functions of yours", "thing"),
        ("x = absent(1)", "nothing here is called 'absent'", "above the class", "absent"),
        ("x = self.helper(1)", "cannot call self.helper()", "call it: helper(...)", "self.helper"),
        ("x = v.dist.hex()", "cannot call v.dist.hex()", "have no methods", "v.dist.hex"),
        ("x = round(v.dist)", "cannot call round()", "floor(x + 0.5)", "round"),
        ("x = np.sqrt(v.dist)", "cannot call np.sqrt()", "math.sqrt", "np.sqrt"),
        ("x = nmp.sqrt(v.dist)", "nothing here is called 'nmp'", "write sqrt(...)", "nmp.sqrt"),
        ("x = np.maximum(v.dist, 1)", "np.maximum()", "max(a, b)", "np.maximum"),
        ("x = np.where(v.seen, 1, 2)", "np.where()", "a if condition else b", "np.where"),
        ("x = statistics.mean(1)", "statistics.mean()", "divide", "statistics.mean"),
        (
            "x = sum(n.dist * 2 for n in v.neighbours)",
            "does not go over its neighbours with sum()",
            "declare `total = gt.Sum(float)`, send in `traverse`, v.total(u.dist * 2)",
            "sum(n.dist * 2 for n in v.neighbours)",
        ),
        ("x = max([n.dist for n in v.in_neighbours])", "with max()", "gt.Max(float)", None),
        ("x = len([n for n in v.neighbours])", "with len()", "gt.Count()", None),
        (
            "x = sum(e.w for e in v.out_edges)",
            "does not go over its neighbours with sum()",
            "v.total(e.w)",
            None,
        ),
        ("for n in v.neighbours: pass", "they send to it", "def traverse(self, u)", "v.neighbours"),
        ("x = TABLE.get('a')", "'TABLE' is no number", "a column", "TABLE"),
        ("x = pow(v.dist, 2)", "cannot call pow()", "a ** b", "pow"),
        ("x = math.log(v.dist, 2)", "one argument here, not 2", "log(x) / log(2.0)", None),
        ("x = math.nan", "'math.nan' is not a number", "under an `if`", "math.nan"),
        ("x = BIG", "'BIG' does not fit into 64 bits", "a float", "BIG"),
        ("x = v.level ^ 2", "this operator is not known", "** for a power", "v.level ^ 2"),
        ("x = datetime.date(2024, 1, 1)", "datetime.date()", "since: gt.Date", "datetime.date"),
        ("LIMIT += 1", "'LIMIT' stands outside", "gt.Count()", "LIMIT"),
        ("newly += 1", "'newly' has no value here", "newly = ...", "newly"),
        ("x = TABLE['a']", "'TABLE' is no number", "a column", "TABLE"),
        ("x = helper", "'helper' is a function", "helper(...)", "helper"),
        ("x = range(3)", "cannot call range()", "min, max", "range"),
        ("x = min(1)", "two or more", "min(a, b)", "min(1)"),
        ("x = min(1, key=2)", "plain arguments", "one by one", None),
        ("x = max(*v.dist)", "plain arguments", "one by one", None),
        ("x = sqrt(1, 2)", "one argument here, not 2", "", "sqrt(1, 2)"),
        ("x = sqrt(v.seen)", "a number is expected", "int(...)", "v.seen"),
        ("x = len(v.dist)", "only arrays", "len(v.x)", "v.dist"),
        ("v.dist = 'a'", "v.dist is a float, and this is a text", "== and !=", "'a'"),
        ("x = 'a' + 'b'", "texts have no arithmetic", "== and !=", "'a' + 'b'"),
        ("x = 'a' < 'b'", "texts have no order", "== and !=", "'a' < 'b'"),
        ("x = 'a' == 1", "a text and an int do not go together", "== and !=", "'a' == 1"),
        ("x = int('a')", "a text cannot be converted", "== and !=", "int('a')"),
        ("x = max('a', 'b')", "a number is expected here, and this is a text", "==", "'a'"),
        ("x = v.level in (1, 2)", "this is an int", "join them by `or`", "v.level"),
        ("x = v.level in ()", "`in` asks whether", "v.kind in", None),
        ("x = None", "int, float and bool only", "", "None"),
        ("x = 2j", "int, float and bool only", "", "2j"),
        ("x = 9223372036854775808", "64 bits", "float", "9223372036854775808"),
        ("x = NAMES", "'NAMES' is no number and no text but a list", "parameter", "NAMES"),
        ("x = nothing", "nothing here is called 'nothing'", "there are v, self", "nothing"),
        ("x = scale", "nothing here is called 'scale'", "self.scale", "scale"),
        ("x = self.scal", "no parameter 'scal'", "`scale`", "self.scal"),
        ("x = self.dist", "no parameter 'dist'", "v.dist", "self.dist"),
        ("x = self.unknown", "no parameter 'unknown'", "unknown: float", "self.unknown"),
        ("x = self.among", "a set of vertices", "v in self.among", "self.among"),
        ("x = self.pairs", "a list of pairs", "self.pairs.source", "self.pairs"),
        ("x = self.pairs.target", "has no 'target'", "for the targets", "self.pairs.target"),
        ("x = self.scale.source", "nothing of its own", "self.scale", "self.scale.source"),
        ("x = v.dits", "a vertex has no 'dits'", "`dist`", "v.dits"),
        ("x = v.scale", "a vertex has no 'scale'", "scale = gt.VertexProperty(float)", "v.scale"),
        ("v.extra = 1", "a vertex has no 'extra'", "extra: float = 0.0", "v.extra"),
        ("x = v", "'v' alone is no value", "v.id", "v"),
        ("x = self", "'self' alone", "self.name", "self"),
        ("x = v < self.source", "'v' alone", "v.id", "v"),
        ("v.id = 3", "'id' is what the graph says", "state", "v.id"),
        ("v.best = 3", "an accumulator", "in `traverse`", "v.best"),
        ("v.best(3)", "update cannot send", "`traverse`", "v.best(3)"),
        ("x = v.best(3)", "sending to an accumulator has no value", "statement", "v.best(3)"),
        ("v.dist(3)", "'dist' is state", "assign", "v.dist(3)"),
        ("self.scale = 2", "parameters keep their value", "v.scale", "self.scale"),
        ("v = 3", "'v' cannot be assigned", "another name", "v"),
        ("v.level = v.dist", "v.level is an int, and this is a float", "int(...)", "v.dist"),
        ("v.level = inf", "ints have no infinity", "declare level as float", "inf"),
        ("v.level = v.seen", "v.level is an int, and this is a truth", "int(...)", "v.seen"),
        ("v.seen = 1", "v.seen is a truth value, and this is an int", "bool(...)", "1"),
        ("x = v.seen + 1", "no arithmetic", "int(...)", "v.seen + 1"),
        ("x = -v.seen", "no sign", "`not`", "-v.seen"),
        ("x = ~v.level", "`~` is not known", "`not`", "~v.level"),
        ("x = v.level << 2", "this operator", "+ - *", "v.level << 2"),
        ("x = v.level & 2", "this operator", "and, or, not", "v.level & 2"),
        ("x = v.seen < True", "no order", "==", "v.seen < True"),
        ("x = v.seen == 1", "do not go together", "int(...)", "v.seen == 1"),
        ("x = 1 if v.level else 2", "a condition is true or false", "!= 0", "v.level"),
        ("x = v.level and v.seen", "a condition is true or false", "!= 0", "v.level"),
        ("if v.dist: pass", "a condition is true or false", "!= 0", "v.dist"),
        ("x = v is self.source", "`is` is not known", "==", "v is self.source"),
        ("x = v.level in self.among", "a vertex is in a set", "v in self.sources", None),
        ("x = v in NAMES", "a vertex is in a set", "gt.Vertices", "v in NAMES"),
        ("v.xs = 1", "an array of 4", "range(4)", "v.xs"),
        ("x = v.xs", "an array of 4", "xs[k]", "v.xs"),
        ("v.dist[0] = 1", "'dist' is no array", "size", "v.dist"),
        ("x = v.dist[0]", "'dist' is no array", "size", "v.dist"),
        ("x = v.xs[4]", "4 is outside of 'xs'", "0 to 3", "v.xs"),
        ("v.xs[-1] = 0", "-1 is outside of 'xs'", "0 to 3", "v.xs"),
        ("x = v.xs[1.5]", "an index is an int", "int(...)", "1.5"),
        ("x = v.xs[0:2]", "an index is one int", "one at a time", "0:2"),
        ("x = NAMES[0]", "'NAMES' is no number", "as a property", "NAMES"),
        ("x = v.nothing[0]", "a vertex has no 'nothing'", "declare", "v.nothing"),
        ("v.best[0] = 1", "an accumulator", "in `traverse`", "v.best"),
        ("if v.seen: x = 1\ny = x", "'x' may have no value", "before", "x"),
        ("for k in range(3): x = 1\ny = x", "'x' may have no value", "before", "x"),
        ("for k in range(3): pass\ny = k", "'k' may have no value", "before", "k"),
        ("y = x\nx = 1", "nothing here is called 'x'", "assigned before", "x"),
        ("x = 1\nx = v.seen", "'x' is an int, and this is a truth value", "", "v.seen"),
        ("x: str = 1", "cannot have this type", "int, float or bool", "str"),
        ("x = 1\nx: float = 2", "cannot have this type", "the same everywhere", "float"),
        ("for k in NAMES: pass", "over a range", "range(8)", "NAMES"),
        ("for k in range(1, 2, 0): pass", "the step", "-1", "0"),
        ("for k in range(1, 2, v.level): pass", "the step", "-1", "v.level"),
        ("for k in range(v.dist): pass", "an index is an int", "int(...)", "v.dist"),
        ("for j, k in range(3): pass", "a loop is", "one name", None),
        ("for k in range(3): k = 1", "'k' cannot be assigned", "another name", "k"),
        ("for k in range(3):\n  for k in range(3): pass", "has a value already", "another", "k"),
        ("for k in range(3): pass\nelse: pass", "a loop is", "no else", None),
        ("x = max(v.dist,\n  thing(2))", "cannot call thing()", "min", "thing"),
        ("x = 'ä' if v.seen else vv.dist", "nothing here is called 'vv.dist'", "", "vv.dist"),
        ("x = v.dist if 'ä' else 1", "this is a text", "compare it", "'ä'"),
    ],
)
def test_mistakes_in_update(statement: str, what: str, hint: str, place: str | None) -> None:
    with pytest.raises(LanguageError) as caught:
        read(program_text("update", statement), **AROUND)
    assert what in caught.value.what
    assert hint in (caught.value.hint or "")
    found = marked(caught.value)
    if place is not None:
        assert found == place


@pytest.mark.parametrize(
    ("function", "statement", "what", "hint", "place"),
    [
        ("traverse", "v.dist = 1", "traverse cannot assign", "accumulator", "v.dist"),
        ("traverse", "u.dist = 1", "traverse cannot assign", "accumulator", "u.dist"),
        ("traverse", "u.best(1)", "the way the edge is traversed", "send to v", "u.best(1)"),
        ("traverse", "x = v.best", "cannot be read in traverse", "`update`", "v.best"),
        ("traverse", "v.best += 2.0", "cannot be read in traverse", "v.best(2.0)", "v.best"),
        ("traverse", "x = self.iteration", "does not know the iteration", "`update`", None),
        ("traverse", "x = e", "'e' alone", "e.weight", "e"),
        ("traverse", "x = e[0]", "a fixed name", 'e["my weight"]', "0"),
        ("traverse", "v.best()", "one value is sent", "v.best(value)", "v.best()"),
        ("traverse", "v.best(1, 2)", "one value is sent", "v.best(value)", "v.best(1, 2)"),
        ("traverse", "v.best(value=1)", "one plain value", "v.best(value)", None),
        ("traverse", "v.best(u.seen)", "v.best is a float", "float(...)", "u.seen"),
        ("traverse", "v.count(1)", "a count is sent nothing", "gt.Sum(int)", "v.count(1)"),
        ("traverse", "v.sums(1)", "an array of 2", "sums[k]", "v.sums"),
        ("traverse", "v.sums([1])", "1 values are sent", "each element", "[1]"),
        ("traverse", "v.best([1])", "no array", "each element", "[1]"),
        ("traverse", "v.sums[2](1)", "2 is outside", "0 to 1", "v.sums"),
        ("traverse", "v.nothing(1)", "a vertex has no 'nothing'", "gt.Sum", "v.nothing"),
        ("traverse", "v.bst(1)", "a vertex has no 'bst'", "`best`", "v.bst"),
        ("initialize", "v.best(1)", "initialize cannot send", "`traverse`", "v.best(1)"),
        ("initialize", "x = v.best", "cannot be read in initialize", "`update`", "v.best"),
        ("initialize", "x = self.iteration", "does not know", "`update`", "self.iteration"),
    ],
)
def test_mistakes_in_the_other_functions(
    function: str, statement: str, what: str, hint: str, place: str | None
) -> None:
    with pytest.raises(LanguageError) as caught:
        read(program_text(function, statement), **AROUND)
    assert what in caught.value.what
    assert hint in (caught.value.hint or "")
    found = marked(caught.value)
    if place is not None:
        assert found == place


BODY = """
    x: float
    a = gt.Sum(float)
    def traverse(self, u, e, v): v.a(1)
    def update(self, v): v.x = v.a
"""


@pytest.mark.parametrize(
    ("lines", "what", "hint"),
    [
        ("y = 3", "neither that it is a parameter", "y: float = ..."),
        ("y: bytes = b'a'", "kind that parameters cannot have", "gt.Vertex"),
        ("y: str = 3", "no default for a text", "of type str"),
        ("y: gt.Date = 'soon'", "no default for a date", "of type date"),
        ("y = gt.VertexProperty(list)", "vertices have no such type", "gt.Timestamp"),
        ("y = gt.VertexProperty(int, missing=0.5)", "no default for an int", "fractions"),
        ("y = gt.VertexProperty(str, missing=3)", "no default for a text", "of type str"),
        ("y = gt.VertexProperty(int)", "nothing reads the vertex property 'y'", "use v.y"),
        ("y: list[int]", "kind that parameters cannot have", "gt.Vertex"),
        ("y: float", "nothing uses the parameter 'y'", "assign v.y"),
        ("y: int = inf", "no default for an int", "no infinity"),
        ("y: bool = 3", "no default for a bool", "constant of type bool"),
        ("y: float = float('nan')", "no default for a float", "constant"),
        ("y: gt.Vertices = 3", "no default", "in the call"),
        ("y: gt.Pairs = 3", "a list of pairs has no default", "in the call"),
        ("y: gt.Pairs\n    z: gt.Pairs", "one list of pairs", "one list"),
        ("y = gt.State(str)", "no such type", "int, float or bool"),
        ("y = gt.State([])", "no such type", "int, float or bool"),
        ("y = gt.State(float, size=0)", "cannot have size 0", "1 or more"),
        ("y = gt.State(float, size=True)", "cannot have size True", "1 or more"),
        ("y = gt.State(float, size='k')", "'k' is no int parameter", "k: int"),
        ("y = gt.State(int, default=0.5)", "no default for an int", "float"),
        ("y = gt.Min(bool)", "Min holds numbers", "gt.Or()"),
        ("y = gt.Or(int)", "Or holds truth values", "gt.Or()"),
        ("y = gt.Count(float)", "Count holds ints", "gt.Count()"),
        ("y = gt.Min(float)", "nothing sends to the accumulator 'y'", "remove it"),
        ("id: float", "'id' has a meaning", "another name"),
        ("iteration: int", "'iteration' has a meaning", "another name"),
        ("x = gt.State(float)", "'x' is declared twice", "different names"),
        ("direction = 'up'", "traversed 'up'", '"both"'),
        ("iterations = -1", "-1 is no number of iterations", "None"),
        ("iterations = 'k'", "'k' is no int parameter", "k: int"),
        ("iterations: float = 2", "'iterations' is no int parameter", "iterations: int"),
        ("kind: str", "nothing uses the parameter 'kind'", "if it is state"),
        ("tolerance = -0.5", "-0.5 is no tolerance", "0 or more"),
        ("tolerance = 'k'", "'k' is no float parameter", "k: float"),
        ("def other(self): pass", "no function 'other'", "initialize(self, v)"),
        ("for k in range(3): pass", "cannot stand in the body", "gt.Min(float)"),
        ("y, z = 1, 2", "cannot stand in the body", "gt.Min(float)"),
        ("def initialize(self): pass", "initialize takes 2", "def initialize(self, v)"),
        ("def initialize(self, v=1): pass", "initialize takes 2", "def initialize(self, v)"),
        ("def initialize(self, *v): pass", "initialize takes 2", "def initialize(self, v)"),
        ("@keep\n    def initialize(self, v): pass", "no decorators", "remove"),
        ("initialize = 3", "neither that it is a parameter", ""),
        ("async def initialize(self, v): pass", "cannot stand in the body", ""),
    ],
)
def test_mistakes_in_the_class(lines: str, what: str, hint: str) -> None:
    with pytest.raises(LanguageError) as caught:
        read(f"def keep(f): return f\n@gt.program\nclass Wrong:{BODY}    {lines}\n")
    assert what in caught.value.what
    assert hint in (caught.value.hint or "")
    assert caught.value.where is not None


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("@gt.program\nclass W(Base):" + BODY, "cannot build on another class"),
        ("@gt.program\nclass W:\n    x: float\n    def update(self, v): v.x = 1", "no `traverse`"),
        (
            "@gt.program\nclass W:\n    a = gt.Count()\n    def traverse(self, u, e, v): v.a()",
            "no `update`",
        ),
        (
            "@gt.program\nclass W:\n    a = gt.Count()\n    def traverse(self, u, e, v): v.a()"
            "\n    def update(self, v): pass",
            "no state",
        ),
        (
            "@gt.program\nclass W:\n    x: int\n    a = gt.Count()\n"
            "    def traverse(self, u, e, v): v.a()\n    def update(self, v): v.x = 1",
            "nothing reads the accumulator 'a'",
        ),
    ],
)
def test_classes_that_are_no_programs(text: str, what: str) -> None:
    with pytest.raises(LanguageError, match=what) as caught:
        define("class Base: pass\n" + text)
    assert caught.value.where is not None


def test_a_class_without_functions() -> None:
    with pytest.raises(LanguageError, match="has no functions"):
        define("@gt.program\nclass W:\n    x: float")


def test_a_function_is_no_program() -> None:
    with pytest.raises(LanguageError, match="a program is a class"):
        gt.program(len)  # type: ignore[arg-type]


def test_without_source_the_error_says_so() -> None:
    module = {"gt": gt}
    with pytest.raises(LanguageError) as caught:
        exec("@gt.program\nclass W:" + BODY, module)
    assert "the source of W cannot be found" in caught.value.what
    assert "a cell of a notebook" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("written", "kind"),
    [("10", "an int"), ("self.root", "an int"), ("'ann'", "a text"), ("2.5", "a float")],
)
@pytest.mark.parametrize("form", ["u == {}", "{} != v"])
def test_a_vertex_is_not_its_number_beside_what_looks_like_an_id(
    written: str, kind: str, form: str
) -> None:
    text = f"""
    @gt.program
    class Spread:
        root: int
        n: int
        got = gt.Sum(int)

        def traverse(self, u, e, v):
            if {form.format(written)}:
                v.got(self.root)

        def update(self, v):
            v.n = v.got
    """
    with pytest.raises(LanguageError, match=f"is a vertex, and it is compared with {kind}") as bad:
        read(text)
    assert "`source: gt.Vertex`, which is given its id" in (bad.value.hint or "")


@pytest.mark.parametrize("kind", ["int", "float"])
def test_a_parameter_that_was_meant_as_a_property_of_edges(kind: str) -> None:
    text = f"""
    @gt.program
    class Sent:
        toll: {kind} = 0
        x: float
        got = gt.Sum(float)
        def traverse(self, u, e, v): v.got(e.toll)
        def update(self, v): v.x = v.got
    """
    with pytest.raises(LanguageError, match="nothing uses the parameter 'toll'") as caught:
        read(text)
    assert f"`toll = gt.Property({kind})`, or not at all if it is a float" in (
        caught.value.hint or ""
    )
