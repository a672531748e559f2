"""Vertex properties in programs: what is read, written back, refused and proved."""

from __future__ import annotations

import datetime as dt

import pytest

import graphtide.lang.python as gt
from graphtide.model.errors import InputError, LanguageError
from graphtide.plan import expressions as x
from graphtide.plan.program_analysis import explain_analysis, selection
from graphtide.plan.program_reads import text_constants, vertex_properties
from graphtide.plan.settling_sums import settling_sum, why_not_settling_sum
from tests.unit.programs.sources import read

EVERYTHING = """
LIMIT = "gate"

@gt.program
class Everything:
    word: str = "it's"
    since: gt.Date = "2020-02-29"
    until: gt.Timestamp
    label: int
    least = gt.Min(int)
    age = gt.VertexProperty(int, missing=-1)
    worth = gt.VertexProperty(float)
    open = gt.VertexProperty(bool, missing=True)
    kind = gt.VertexProperty(str)
    town = gt.VertexProperty(str, missing="no \\"town\\"")
    born = gt.VertexProperty(gt.Date, missing="1999-12-31")
    seen = gt.VertexProperty(gt.Timestamp, missing="1999-12-31 12:00")

    def initialize(self, v):
        here = v.kind
        v.label = v.age if v.open and here == self.word else int(v.worth)

    def traverse(self, u, e, v):
        if u.kind != v.town and u.kind not in ("a", LIMIT) and u.born >= self.since:
            v.least(u.label + (u.born - v.born) + int(v.seen < self.until))

    def update(self, v):
        v.label = min(v.label, v.least) if v.town == "x" else v.age
"""


def test_a_program_reads_every_type_and_says_so() -> None:
    program = read(EVERYTHING)
    told = program.explain()
    section = told.split("vertex properties\n")[1].split("direction")[0]
    assert section == (
        "    v.age: int, -1 where missing\n"
        "    v.born: date, '1999-12-31' where missing\n"
        "    v.kind: str\n"
        "    v.open: bool, True where missing\n"
        "    v.seen: timestamp, '1999-12-31T12:00:00+00:00' where missing\n"
        "    v.town: str, 'no \"town\"' where missing\n"
        "    v.worth: float\n"
    )
    assert "u.label + (int(u.born) - int(v.born)) + int(v.seen < self.until)" in told
    assert "not (u.kind == 'a' or u.kind == 'gate')" in told
    assert text_constants(program.plan) == ("a", "gate", "x")
    assert vertex_properties(program.plan)["age"] == x.VertexProperty("v", "age", x.INT, -1)


def test_it_is_written_back_as_a_class() -> None:
    plan = read(EVERYTHING).plan
    text = gt.unparse(plan)
    assert read(text).plan == plan, text
    assert "since: gt.Date = '2020-02-29'" in text


def test_parameters_take_texts_and_moments() -> None:
    program = read(EVERYTHING)
    given = program(until="2021-01-01 06:00+02:00")
    assert given.value("until") == dt.datetime(2021, 1, 1, 4, tzinfo=dt.UTC)
    assert given.value("since") == dt.date(2020, 2, 29)
    assert given.value("word") == "it's"
    naive = program(until=dt.datetime(2021, 1, 1), since=dt.date(2000, 1, 1), word="w")
    assert naive.value("until") == dt.datetime(2021, 1, 1, tzinfo=dt.UTC)
    for name, value in (("word", 3), ("since", "soon"), ("since", dt.datetime(2020, 1, 1))):
        with pytest.raises(InputError, match=f"'{name}' cannot be"):
            program(until="2021-01-01", **{name: value})


PLAIN = """
    label: int
    least = gt.Min(int)
    age = gt.VertexProperty(int)
    kind = gt.VertexProperty(str)
    born = gt.VertexProperty(gt.Date)
    seen = gt.VertexProperty(gt.Timestamp)
    hops = gt.Property(int)
"""


def _with(function: str, statement: str) -> str:
    uses = "x = v.age + int(v.born) + int(v.seen) + int(v.kind == 'a')"
    bodies = {
        "initialize(self, v)": ["v.label = v.age"],
        "traverse(self, u, e, v)": ["v.least(u.label + e.hops)"],
        "update(self, v)": ["v.label = min(v.label, v.least)", uses],
    }
    lines = ["@gt.program", f"class Wrong:{PLAIN}"]
    for head, body in bodies.items():
        lines += [f"    def {head}:", *(f"        {line}" for line in body)]
        if head.startswith(function):
            lines.append(f"        {statement}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("function", "statement", "what", "hint"),
    [
        ("update", "v.age = 3", "'age' is a property of the data", "declare state"),
        ("initialize", "v.age += 1", "'age' is a property of the data", "declare state"),
        ("update", "x = v.agee", "a vertex has no 'agee'", "`age`"),
        ("update", "x = v.zzz", "a vertex has no 'zzz'", "gt.VertexProperty(float)"),
        ("update", "x = v.age[0]", "a vertex has no 'age'", "one value and no array"),
        ("update", "x = v.hops", "a vertex has no 'hops'", "property of edges"),
        ("update", "x = self.age", "no parameter 'age'", "v.age"),
        ("traverse", "v.least(e.age)", "'age' is declared as a property of vertices", "u.age"),
        ("update", "v.label = v.kind", "v.label is an int, and this is a text", "== and !="),
        ("update", "x = v.kind + 'a'", "texts have no arithmetic", "== and !="),
        ("update", "x = v.kind < 'a'", "texts have no order", "== and !="),
        ("update", "x = v.kind == 1", "a text and an int", "== and !="),
        ("update", "x = v.kind in ('a', 1)", "this is an int", "join them by `or`"),
        ("update", "x = min(v.kind, 'a')", "a number is expected", "== and !="),
        ("update", "x = -v.kind", "texts have no arithmetic", "== and !="),
        ("update", "x = v.born + 1", "a date has a difference", "days since 1970-01-01"),
        ("update", "x = v.born - v.seen", "a date has a difference", "int(...)"),
        ("update", "x = v.seen * 2", "a timestamp has a difference", "microseconds"),
        ("update", "x = v.born < v.seen", "a date and a timestamp", "int(...)"),
        ("update", "x = v.born < 3", "a date and an int", "int(...)"),
        ("update", "v.label = v.born", "this is a date", "int(...)"),
        ("update", "x = float(v.born)", "cannot be made a float", "float(int(...))"),
    ],
)
def test_mistakes(function: str, statement: str, what: str, hint: str) -> None:
    with pytest.raises(LanguageError) as caught:
        read(_with(function, statement))
    assert what in caught.value.what
    assert hint in (caught.value.hint or "")


def test_names_are_declared_once() -> None:
    again = _with("update", "pass").replace("hops =", "age =", 1)
    with pytest.raises(LanguageError, match="'age' is declared twice"):
        read(again)


PATHS = """
@gt.program
class Paths:
    source: gt.Vertex
    dist: {kind} = {far}
    best = gt.Min({kind})
    cost = gt.VertexProperty({kind})

    def initialize(self, v):
        v.dist = {near} if v == self.source else {far}

    def traverse(self, u, e, v):
        v.best({message})

    def update(self, v):
        v.dist = min(v.dist, v.best)
"""


@pytest.mark.parametrize(
    ("kind", "message", "conditions"),
    [
        ("float", "u.dist + u.cost", "where u.cost >= 0"),
        ("float", "u.dist + v.cost", "where v.cost >= 0"),
        ("float", "u.dist + abs(v.cost)", ""),
        ("float", "max(u.dist, v.cost)", ""),
        ("float", "u.dist if u.cost == v.cost else inf", ""),
        ("int", "u.dist + v.cost", "where v.cost <= 1073741824 and v.cost >= 0"),
    ],
)
def test_a_property_is_a_constant_of_its_vertex_in_proofs(
    kind: str, message: str, conditions: str
) -> None:
    far, near = ("inf", "0.0") if kind == "float" else ("1000", "0")
    plan = read(PATHS.format(kind=kind, far=far, near=near, message=message)).plan
    found = selection(plan)
    assert found is not None
    assert found.settles
    line = next(item for item in explain_analysis(plan) if item.startswith("never overtakes"))
    assert line.endswith(conditions or "u.dist")


def test_no_proof_where_a_property_decides_against_it() -> None:
    text = PATHS.format(kind="float", far="inf", near="0.0", message="u.dist - u.cost")
    found = selection(read(text).plan)
    assert found is not None
    assert str(found.never_overtakes.reason).endswith("where u.cost <= 0")
    text = PATHS.format(kind="float", far="inf", near="0.0", message="u.dist * u.cost")
    found = selection(read(text).plan)
    assert found is not None
    assert {str(item) for item in found.obligations} >= {"u.cost >= 1", "u.cost > 0"}


def test_a_message_that_reads_more_of_v_than_its_properties_is_no_selection() -> None:
    message = "u.dist + v.cost + float(v.id)"
    text = PATHS.format(kind="float", far="inf", near="0.0", message=message)
    assert selection(read(text).plan) is None


RANKS = """
@gt.program
class Ranks:
    tolerance = 1e-6
    rank: float = 1.0
    got = gt.Sum(float)
    worth = gt.VertexProperty(float)

    def traverse(self, u, e, v):
        v.got({message})

    def update(self, v):
        v.rank = {base} + {factor} * v.got
"""


@pytest.mark.parametrize(
    ("message", "base", "factor", "reason"),
    [
        ("u.rank / max(u.out_degree, 1)", "min(max(v.worth, 0.1), 9.0)", "0.85", None),
        (
            "u.rank / max(u.out_degree, 1) / min(max(u.worth, 1.0), 9.0)",
            *("0.15", "0.85"),
            None,
        ),
        ("u.rank / max(u.out_degree, 1)", "v.worth", "0.85", "may be below 0"),
        ("u.rank / max(u.out_degree, 1)", "0.15", "v.worth", "not in proportion"),
        ("u.rank * u.worth / max(u.out_degree, 1)", "0.15", "0.85", "weighed by u.worth"),
        ("u.rank / max(u.out_degree, 1) * v.worth", "0.15", "0.85", "depends on v"),
        ("u.rank / max(u.out_degree, 1) / u.worth", "0.15", "0.85", "may be below 1"),
    ],
)
def test_sums_settle_only_where_properties_are_bounded(
    message: str, base: str, factor: str, reason: str | None
) -> None:
    bound = read(RANKS.format(message=message, base=base, factor=factor))()
    assert (settling_sum(bound) is not None) is (reason is None)
    if reason is not None:
        assert reason in (why_not_settling_sum(bound) or "")
