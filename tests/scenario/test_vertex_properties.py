"""Programs that read vertex properties, on graphs as users make them: in memory and stored."""

from __future__ import annotations

import datetime as dt
import pickle
from pathlib import Path
from textwrap import indent
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import graphtide as gt
from graphtide.model.errors import InputError
from graphtide.plan.expressions import TEXT, VertexProperty
from graphtide.plan.program_reads import default_starts
from graphtide.run.live.named_graph import TextCodes, property_arrays
from graphtide.run.views.typed_columns import typed_column
from tests.scenario.stored import write_catalog
from tests.unit.programs.sources import read

pytestmark = pytest.mark.interpreted
INF = float("inf")


@gt.program
class OpenPaths:
    """Distance from a source on ways that pass through no vertex that is closed."""

    source: gt.Vertex
    closed: str = "closed"
    dist: float = gt.inf
    best = gt.Min(float)
    kind = gt.VertexProperty(str)

    def initialize(self, v):
        v.dist = 0.0 if v == self.source else gt.inf

    def traverse(self, u, e, v):
        if u.kind != self.closed:
            v.best(u.dist + e.weight)

    def update(self, v):
        v.dist = min(v.dist, v.best)


@gt.program
class Towns:
    """Connected components of vertices of the same town."""

    label: int
    least = gt.Min(int)
    town = gt.VertexProperty(str)
    direction = "both"

    def initialize(self, v):
        v.label = v.id

    def traverse(self, u, e, v):
        if u.town == v.town:
            v.least(u.label)

    def update(self, v):
        v.label = min(v.label, v.least)


@gt.program
class Older:
    """How many in-neighbours joined before v, and how many of them by a day."""

    until: gt.Date = "2021-01-01"
    older: int
    early: int
    days: int
    before = gt.Count()
    until_day = gt.Count()
    apart = gt.Sum(int)
    iterations = 1
    joined = gt.VertexProperty(gt.Date)

    def traverse(self, u, e, v):
        if u.joined < v.joined:
            v.before()
            v.apart(v.joined - u.joined)
        if u.joined <= self.until:
            v.until_day()

    def update(self, v):
        v.older = v.before
        v.early = v.until_day
        v.days = v.apart


@gt.program
class Tolls:
    """The least sum of what vertices take on the way."""

    source: gt.Vertex
    paid: float = gt.inf
    best = gt.Min(float)
    toll = gt.VertexProperty(float)

    def initialize(self, v):
        v.paid = 0.0 if v == self.source else gt.inf

    def traverse(self, u, e, v):
        v.best(u.paid + v.toll)

    def update(self, v):
        v.paid = min(v.paid, v.best)


def day(number: int) -> dt.date:
    return dt.date(2020, 12, 30) + dt.timedelta(days=number)


VERTICES: dict[str, list[Any]] = {
    "id": ["a", "b", "c", "d"],
    "kind": ["open", None, "closed", "open"],
    "town": ["X", "X", None, None],
    "joined": [day(0), day(1), day(5), day(9)],
    "toll": [1.0, 2.0, 4.0, 0.0],
}


def graph(**other: Any) -> gt.Graph:
    """Five edges of four vertices, some of whose columns are others, or left out (None)."""
    vertices = {name: column for name, column in {**VERTICES, **other}.items() if column}
    src, dst = ["a", "b", "c", "c", "d"], ["b", "c", "d", "c", "a"]
    return gt.Graph(src, dst, weight=[1.0, 2.0, 3.0, 1.0, 4.0], vertices=vertices)


def test_a_way_through_no_closed_vertex() -> None:
    live = graph().maintain(OpenPaths(source="a"))
    assert live.mode == "fixpoint"
    assert live["dist"].tolist() == [0.0, 1.0, 3.0, INF]
    live.advance(insert=[("b", "d", 10.0)])
    assert live["dist"].tolist() == [0.0, 1.0, 3.0, 11.0]
    live.verify()
    other = graph().maintain(OpenPaths(source="a", closed="open"))
    assert other["dist"].tolist() == [0.0, INF, INF, INF]


def test_texts_that_are_missing_equal_nothing() -> None:
    made = graph()
    live = made.maintain(Towns)
    assert live.mode == "fixpoint"
    assert live["label"].tolist() == list("aacd")  # c and d have no town
    live.verify()
    assert made.maintain(Towns, mode="exact")["label"].tolist() == list("aacd")


def test_dates_compare_and_have_differences_in_days() -> None:
    live = graph().maintain(Older)
    assert live["older"].tolist() == [0, 1, 1, 1]
    assert live["early"].tolist() == [0, 1, 1, 0]
    assert live["days"].tolist() == [0, 1, 4, 4]
    later = graph().maintain(Older(until=dt.date(2021, 6, 1)))
    assert later["early"].tolist() == [1, 1, 2, 1]


@gt.program
class Seen:
    """A timestamp as its microseconds, from a moment on."""

    start: gt.Timestamp
    age: int
    got = gt.Count()
    seen = gt.VertexProperty(gt.Timestamp)
    iterations = 1

    def traverse(self, u, e, v):
        v.got()

    def update(self, v):
        v.age = int(v.seen) if v.seen < self.start else v.seen - self.start + 0 * v.got


def test_timestamps_are_microseconds_in_utc() -> None:
    east = dt.timezone(dt.timedelta(hours=2))
    moments = [
        dt.datetime(1970, 1, 1, 2, 0, 1, tzinfo=east),
        dt.datetime(2020, 1, 1, tzinfo=dt.UTC),
    ]
    made = gt.Graph([0], [1], vertices={"id": [0, 1], "seen": moments})
    live = made.maintain(Seen(start="2019-12-31 23:00"))
    assert live["age"].tolist() == [1_000_000, 3_600_000_000]
    live.verify()


@pytest.mark.parametrize(
    ("changed", "program", "what", "hint"),
    [
        ({"kind": None}, OpenPaths(source="a"), "which the vertices do not have", "they have:"),
        ({"kind": [1, 2, 3, 4]}, OpenPaths(source="a"), "as str, and it holds", "convert"),
        ({"toll": ["x", "y", "z", "w"]}, Tolls(source="a"), "as float, and it holds", "convert"),
        ({"toll": [1.0, None, 2.0, None]}, Tolls(source="a"), "2 of 4 vertices lack", "missing=0"),
        ({"toll": [1.0, 2.0, -3.0, 1.0]}, Tolls(source="a"), "only where v.toll >= 0", "iterat"),
        ({"joined": ["x"] * 4}, Older(), "as date, and it holds", "convert"),
    ],
)
def test_vertices_that_a_program_cannot_take(
    changed: dict[str, Any], program: Any, what: str, hint: str
) -> None:
    made = graph(**changed)
    with pytest.raises(InputError) as caught:
        made.maintain(program)
    assert what in caught.value.what
    assert hint in (caught.value.hint or "")
    assert made.num_vertices == 4


def test_the_vertices_in_the_way_are_named() -> None:
    with pytest.raises(InputError) as caught:
        graph(toll=[1.0, None, 2.0, None]).maintain(Tolls(source="a"))
    assert caught.value.where == "vertex 'b', vertex 'd'"


def test_vertices_enter_with_their_properties() -> None:
    made = graph()
    lives = [made.maintain(item) for item in (OpenPaths(source="a"), Towns, Older)]
    tolls = made.maintain(Tolls(source="a"))
    new = {"id": ["e", "f"], "town": ["X", "Z"], "joined": [day(0), day(40)], "toll": [8, 16]}
    made.advance(insert=[("b", "e", 1.0), ("e", "f", 1.0)], vertices=new)
    assert lives[0]["dist"].tolist() == [0.0, 1.0, 3.0, INF, 2.0, 3.0]
    assert lives[1]["label"].tolist() == list("aacdaf")
    assert lives[2]["days"].tolist() == [0, 1, 4, 4, 0, 40]
    assert tolls["paid"].tolist() == [0.0, 2.0, 6.0, 6.0, 10.0, 26.0]
    assert made.vertices().column("town").to_pylist() == ["X", "X", None, None, "X", "Z"]
    for live in (*lives, tolls):
        live.verify()
    made.rollback()
    assert made.vertices().num_rows == 4
    other = {"id": ["g"], "joined": [day(1)], "toll": [1.0]}
    made.advance(insert=[("b", "g", 1.0)], vertices=other)
    assert lives[1]["label"].tolist() == list("aacdg")
    assert tolls["paid"].tolist() == [0.0, 2.0, 6.0, 6.0, 3.0]
    for live in (*lives, tolls):
        live.verify()


def test_vertices_may_enter_without_edges() -> None:
    made = graph()
    live = made.maintain(Towns)
    made.advance(vertices={"id": ["e"], "town": ["X"]})
    made.advance(vertices=["f"])
    assert live["label"].tolist() == list("aacdef")
    made.advance(insert=[("e", "a", 1.0), ("f", "a", 1.0)])
    assert live["label"].tolist() == list("aacdaf")


@pytest.mark.parametrize(
    ("insert", "vertices", "what", "hint"),
    [
        ([("a", "e", 1.0)], None, "1 of 1 vertices that enter lacks", "missing=0.0"),
        ([("a", "e", 1.0)], {"id": ["e"], "toll": [-1.0]}, "only where v.toll >= 0", "other"),
        (None, {"id": ["a"], "toll": [1.0]}, "already there", "properties of a vertex never"),
        (None, {"id": ["e", "e"], "toll": [1.0, 1.0]}, "lists a vertex twice", "once"),
        (None, {"id": ["e"], "tol": [1.0]}, "have no property 'tol'", "`toll`"),
        (None, {"id": ["e"], "toll": ["much"]}, "of type float", "the same type"),
        (None, 3, "cannot be 3", "list their ids"),
        (None, {"toll": [1.0]}, "no column 'id'", "rename"),
        ([("a", "zzz", 1.0)], {"id": ["e"], "toll": [1.0]}, "1 of 2 vertices that enter", "miss"),
    ],
)
def test_an_advance_that_cannot_be_leaves_all_as_it_was(
    insert: Any, vertices: Any, what: str, hint: str
) -> None:
    made = graph()
    live = made.maintain(Tolls(source="a"))
    before = live["paid"].tolist(), made.vertices().to_pydict()
    with pytest.raises(InputError) as caught:
        made.advance(insert=insert, vertices=vertices)
    assert what in caught.value.what
    assert hint in (caught.value.hint or "")
    assert (live["paid"].tolist(), made.vertices().to_pydict()) == before
    live.verify()
    made.advance(insert=[("a", "e", 1.0)], vertices={"id": ["e"], "toll": [3.0]})
    assert live["paid"].tolist()[-1] == 3.0


def test_the_first_values_of_an_empty_column_give_it_its_type() -> None:
    made = gt.Graph([0], [1], vertices={"id": [0, 1], "level": [None, None]})
    made.advance(vertices={"id": [2], "level": [7]})
    assert made.vertices().column("level").to_pylist() == [None, None, 7]


def test_a_copy_of_a_graph_has_the_properties_too() -> None:
    made = graph()
    made.advance(vertices={"id": ["e"], "town": ["X"], "toll": [2.0]})
    again: gt.Graph = pickle.loads(pickle.dumps(made))
    assert again.vertices().to_pydict() == made.vertices().to_pydict()
    again.advance(insert=[("a", "e", 1.0)])
    assert again.maintain(Tolls(source="a"))["paid"].tolist()[-1] == 2.0


def test_views_and_their_collections_carry_the_properties() -> None:
    made = graph()
    views = made.collection({"light": "weight < 3.5", "all": "weight > 0", "none": "weight > 9"})
    for strategy in ("scratch", "differential", "adaptive"):
        run = views.run(OpenPaths(source="a"), strategy=strategy, verify=1)
        assert run.values("light").tolist() == [0.0, 1.0, 3.0, INF]
        assert run.values("none").tolist() == [0.0, INF, INF, INF]
        assert views.run(Older, verify=1).values("light", "older").tolist() == [0, 1, 1, 1]
    part = made.view("src.town = 'X'").to_graph()
    assert part.vertices().column("id").to_pylist() == ["a", "b", "c"]
    assert part.maintain(Towns)["label"].tolist() == list("aac")


def test_texts_of_all_properties_share_a_dictionary() -> None:
    table = pa.table({"one": typed_column(["x", "y", None]), "two": typed_column(["y", "z", "x"])})
    declared = [VertexProperty("v", name, TEXT) for name in ("one", "two")]
    codes = TextCodes()
    found = property_arrays(table, declared, codes, 4)
    assert found["one"].tolist() == [0, 1, -1, -1]
    assert found["two"].tolist() == [1, 2, 0, -1]
    assert codes.code("z") == 2
    assert codes.code("new") == 3


@gt.program
class Leaders:
    """The least number of a connected vertex that is not in New York."""

    leader: int
    least = gt.Min(int)
    state = gt.VertexProperty(str)
    direction = "both"

    def initialize(self, v):
        v.leader = v.id if v.state != "NY" else 100

    def traverse(self, u, e, v):
        v.least(u.leader)

    def update(self, v):
        v.leader = min(v.leader, v.least)


OWN_FILE = """
import graphtide as gt

@gt.program
class Leaders:
    other: str
    leader: int
    least = gt.Min(int)
    state = gt.VertexProperty(str)
    direction = "both"

    def initialize(self, v):
        v.leader = v.id if v.state != self.other else 100

    def traverse(self, u, e, v):
        v.least(u.leader)

    def update(self, v):
        v.leader = min(v.leader, v.least)
"""


def test_a_stored_collection_reads_its_vertex_table(tmp_path: Path) -> None:
    write_catalog(tmp_path)
    session = gt.session(tmp_path, progress=False)
    run = session.collection("years").run(Leaders, verify=4)
    assert run.values("upto-2010").tolist() == [0, 0, 2]
    assert run.values("upto-2039").tolist() == [0, 0, 0]
    with pytest.raises(InputError, match="reads the vertex property 'town'"):
        session.collection("years").run(Towns)


def test_a_file_of_programs_runs_in_a_statement(tmp_path: Path) -> None:
    write_catalog(tmp_path / "data")
    file = tmp_path / "own.py"
    file.write_text(OWN_FILE, "utf-8")
    session = gt.session(tmp_path / "data", progress=False)
    (answer,) = session.execute(f"run leaders(other='NY') from '{file}' on years;")
    assert answer.value.values("upto-2010").tolist() == [0, 0, 2]
    assert np.array_equal(answer.value.values("upto-2039"), [0, 0, 0])


def _of_zero(zero: float) -> gt.Program:
    """One over a property that is missing, and over a state that has its default."""

    @gt.program
    class Inverse:
        start = gt.State(float, default=zero)
        of_property: float
        of_state: float
        got = gt.Count()
        worth = gt.VertexProperty(float, missing=zero)
        iterations = 1

        def traverse(self, u, e, v):
            v.got()

        def update(self, v):
            v.of_property = v.got + 1.0 / v.worth
            v.of_state = v.got + 1.0 / v.start
            v.start = v.start

    return Inverse


def test_programs_that_differ_in_the_sign_of_a_zero_alone_are_two_programs() -> None:
    graph = gt.Graph([0], [1], vertices={"id": [0, 1], "worth": [None, 0.5]})
    for zero, infinity in ((0.0, INF), (-0.0, -INF), (0.0, INF)):
        live = graph.maintain(_of_zero(zero))
        assert live["of_property"].tolist() == [infinity, 3.0]
        assert live["of_state"].tolist() == [infinity, infinity]
        live.verify()


@gt.program
class Ages:
    """The sum of the ages of in-neighbours that were born in time and live in a city."""

    total: int
    got = gt.Sum(int)
    since: gt.Date
    age = gt.VertexProperty(int, missing=7)
    born = gt.VertexProperty(gt.Date, missing="2020-01-01")
    city = gt.VertexProperty(str, missing="Oslo")

    def traverse(self, u, e, v):  # type: ignore[no-untyped-def]
        if u.born >= self.since and u.city == "Oslo":
            v.got(u.age)

    def update(self, v):  # type: ignore[no-untyped-def]
        v.total = v.got


@pytest.mark.parametrize(
    ("name", "value", "is_told"),
    [
        ("age", "x", "as int, and it holds values of type string"),
        ("age", dt.date(2020, 1, 1), "as int, and it holds values of type date"),
        ("born", "2020-01-01", "as date, and it holds values of type string"),
        ("born", 5, "as date, and it holds values of type int"),
        ("city", 5, "as str, and it holds values of type int"),
    ],
)
def test_the_first_values_of_a_column_in_another_type_than_a_program_reads(
    name: str, value: object, is_told: str
) -> None:
    columns: dict[str, list[object]] = {"id": [], "age": [], "born": [], "city": []}
    graph = gt.Graph([], [], vertices=columns)
    live = graph.maintain(Ages(since="2019-01-01"))
    for _ in range(2):
        with pytest.raises(gt.GraphtideError, match=is_told):
            graph.advance(insert=[(0, 1)], vertices={"id": [0], name: [value]})
        assert (graph.num_vertices, graph.version) == (0, 0)
    live.advance(insert=[(0, 1), (2, 1)], vertices={"id": [0], "age": [30], "city": ["Oslo"]})
    assert live["total"].tolist() == [0, 37, 0]
    live.verify()


STATE = """
state: int = 0
best = gt.Max(int)
def traverse(self, u, e, v): v.best(u.state)
def update(self, v): v.state = max(v.state, v.best)
"""


def state_program(initialize: str = "", default: str = "0") -> gt.Program:
    body = STATE.replace("int = 0", f"int = {default}")
    if initialize:
        body += f"def initialize(self, v): {initialize}\n"
    return read(f"@gt.program\nclass Highest:\n{indent(body, '    ')}")


def test_state_that_hides_a_property_is_refused(tmp_path: Path) -> None:
    people = {"id": [0, 1, 2], "state": [3, 5, 7]}
    graph = gt.Graph([0, 1], [1, 2], vertices=people)
    stored = gt.session(write_catalog(tmp_path).root, progress=False).graph("Calls")
    for refused in (state_program(), state_program("v.state = v.state + 1")):
        for run in (graph.maintain, graph.run, stored.run):
            with pytest.raises(InputError) as caught:
                run(refused)
            assert "the vertices have a property 'state'" in caught.value.what
            assert "which begins with 0 and hides it" in caught.value.what
            assert "`state = gt.VertexProperty(int)`" in (caught.value.hint or "")
    for taken in (state_program("v.state = v.id"), state_program(default="-1")):
        assert graph.maintain(taken).table().num_rows == 3
        assert stored.run(taken).table().num_rows == 3
    assert gt.Graph([0, 1], [1, 2]).maintain(state_program()).table().num_rows == 3


def test_the_library_begins_with_what_it_says() -> None:
    programs = [getattr(gt.algorithms, name) for name in gt.algorithms.__all__]
    plans = [item.plan for item in programs if isinstance(item, gt.Program)]
    assert [plan.name for plan in plans if default_starts(plan)] == []


def test_triangles_by_age_read_the_age() -> None:
    text = """
    Vertex (nbrs, age: int)
    GlobalVariable (total: Accm<long, SUM>)
    Traverse (u):
      For v in u.nbrs Where (u < v)
        For w in v.nbrs Where (v < w And w in u.nbrs)
          total.Accumulate(u.age + v.age + w.age);
    """
    people = {"id": ["a", "b", "c", "d"], "age": [3, 5, 7, 11]}
    ends = ["a", "b", "c", "c"], ["b", "c", "a", "d"]
    live = gt.Graph(*ends, vertices=people).maintain(gt.nga(text))
    assert live.globals["total"] == 15
    with pytest.raises(InputError, match="reads the vertex property 'age', which the vertices do"):
        gt.Graph(*ends).maintain(gt.nga(text))
