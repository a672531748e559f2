"""Texts, dates and timestamps of edges in programs and walks, on graphs in memory."""

from __future__ import annotations

import datetime as dt
import itertools
import pickle
import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import graphtide as gt
from graphtide.lang.nga import unparse
from graphtide.model.errors import InputError, LanguageError
from tests.equivalence.algorithm_cases import CASES
from tests.scenario.stored import CALLS, write_catalog

pytestmark = pytest.mark.interpreted
DAY, HOUR = dt.date(2024, 1, 1), dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
KINDS = ("pay", "gift", "fee", None)
Edge = tuple[int, int, str | None, dt.date, dt.datetime, bool]


@gt.program
class Gifts:
    """Hops over edges of a kind, from a day on."""

    source: gt.Vertex
    only: str = "gift"
    since: gt.Date = dt.date(2024, 1, 5)
    kind = gt.Property(str)
    day = gt.Property(gt.Date)
    hops: float = gt.inf
    best = gt.Min(float)

    def initialize(self, v: Any) -> None:
        v.hops = 0.0 if v == self.source else gt.inf

    def traverse(self, u: Any, e: Any, v: Any) -> None:
        if (e.kind == self.only or e.kind == "fee") and e.day >= self.since:
            v.best(u.hops + 1.0)

    def update(self, v: Any) -> None:
        v.hops = min(v.hops, v.best)


@gt.program
class Amounts:
    """A sum in which texts and moments decide, one of them compared with the vertex."""

    kind = gt.Property(str)
    day = gt.Property(gt.Date)
    at = gt.Property(gt.Timestamp)
    checked = gt.Property(bool)
    town = gt.VertexProperty(str)
    total: int = 0
    sent = gt.Sum(int)

    def traverse(self, u: Any, e: Any, v: Any) -> None:
        if e.kind != "pay":
            v.sent(2 if e.checked else 1)
        if e.kind == u.town:
            v.sent(int(e.day) + int(e.at) // 3_600_000_000)

    def update(self, v: Any) -> None:
        v.total = v.sent


@gt.program
class Chains:
    """Ways of two edges of one kind, the second after the first, and back."""

    total = gt.Global(gt.Count())
    rows = gt.Matches(first=gt.Vertex, second=gt.Vertex, third=gt.Vertex)
    kind = gt.Property(str)
    day = gt.Property(gt.Date)
    at = gt.Property(gt.Timestamp)
    chains: int = 0
    found = gt.Count()

    def traverse(self, u: Any) -> None:
        for v, e in u.out_edges:
            for w, f in v.out_edges:
                if e.kind == f.kind and e.day < f.day:
                    self.total()
                    if f.at >= e.at and e.kind != "fee":
                        u.found()
                        self.rows(u, v, w)

    def update(self, v: Any) -> None:
        v.chains = v.found


TOWNS = ("pay", "gift", None, "fee", "rome", "gift")


def random_edge(pick: random.Random) -> Edge:
    return (
        pick.randrange(6),
        pick.randrange(6),
        pick.choice(KINDS),
        DAY + dt.timedelta(days=pick.randrange(10)),
        HOUR + dt.timedelta(hours=pick.randrange(20)),
        pick.random() < 0.5,
    )


def columns(edges: list[Edge]) -> dict[str, Any]:
    names = ("src", "dst", "kind", "day", "at", "checked")
    found = list(zip(*edges, strict=True)) if edges else [()] * 6
    return {name: list(column) for name, column in zip(names, found, strict=True)}


def graph_of(edges: list[Edge]) -> gt.Graph:
    vertices = pa.table({"id": list(range(6)), "town": list(TOWNS)})
    return gt.Graph(**columns(edges), vertices=vertices)


def gifts(edges: list[Edge], source: int) -> list[float]:
    """Round by round, as the words say it."""
    hops = [0.0 if vertex == source else np.inf for vertex in range(6)]
    for _ in range(6):
        for src, dst, kind, day, _, _ in edges:
            if kind in ("gift", "fee") and day >= dt.date(2024, 1, 5):
                hops[dst] = min(hops[dst], hops[src] + 1)
    return hops


def amounts(edges: list[Edge]) -> list[int]:
    found = [0] * 6
    for src, dst, kind, day, at, checked in edges:
        if kind != "pay":
            found[dst] += 2 if checked else 1
        if kind is not None and kind == TOWNS[src]:
            days = (day - dt.date(1970, 1, 1)).days
            found[dst] += days + int(at.timestamp()) // 3600
    return found


def chains(edges: list[Edge]) -> tuple[int, list[tuple[int, int, int]]]:
    total, rows = 0, []
    for e, f in itertools.product(edges, edges):
        if e[1] == f[0] and e[2] is not None and e[2] == f[2] and e[3] < f[3]:
            total += 1
            if f[4] >= e[4] and e[2] != "fee":
                rows.append((e[0], e[1], f[1]))
    return total, sorted(rows)


def check(edges: list[Edge], near: Any, sums: Any, walks: Any) -> None:
    assert near["hops"].tolist() == gifts(edges, 0)
    assert sums["total"].tolist() == amounts(edges)
    total, rows = chains(edges)
    assert walks["total"] == total
    assert sorted(tuple(row.values()) for row in walks.matches("rows").to_pylist()) == rows
    assert walks["chains"].tolist() == [sum(row[0] == at for row in rows) for at in range(6)]


def given_as(form: int, edges: list[Edge]) -> Any:
    """Inserted rows in each of the forms that they may have."""
    if form == 0:
        return list(edges)
    if form == 1:
        return pa.table(columns(edges))
    if form == 2:
        return columns(edges)
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(columns(edges))


ORDER = ("src", "dst", "checked", "kind", "day", "at")


def as_row(edge: Edge) -> tuple[Any, ...]:
    """A tuple has numbers first, and then what the graph keeps beside them."""
    return (edge[0], edge[1], edge[5], edge[2], edge[3], edge[4])


@pytest.mark.parametrize("number", range(12))
def test_every_step_of_a_history_with_many_deletions(number: int) -> None:
    pick = random.Random(number)
    edges = [random_edge(pick) for _ in range(25)]
    graph = graph_of(edges)
    lives = [graph.maintain(item) for item in (Gifts(source=0), Amounts, Chains)]
    live = dict(enumerate(edges))
    check(list(live.values()), *lives)
    states = []
    for _ in range(10):
        states.append(dict(live))
        gone = pick.sample(sorted(live), k=min(len(live), pick.randrange(1, 12)))
        come = [random_edge(pick) for _ in range(pick.randrange(1, 9))]
        first = max(itertools.chain(live, *states)) + 1
        form = pick.randrange(4)
        told = [as_row(item) for item in come] if form == 0 else given_as(form, come)
        graph.advance(insert=told, delete=gone)
        live = {at: item for at, item in live.items() if at not in gone}
        live |= dict(enumerate(come, first))
        check(list(live.values()), *lives)
        if pick.random() < 0.3:
            graph.rollback()
            live = states.pop()
            check(list(live.values()), *lives)
    for item in lives:
        item.verify()
    while states:
        graph.rollback()
        live = states.pop()
        check(list(live.values()), *lives)


def test_edges_that_return_by_their_number_have_their_values() -> None:
    pick = random.Random(5)
    edges = [random_edge(pick) for _ in range(20)]
    graph = graph_of(edges)
    lives = [graph.maintain(item) for item in (Gifts(source=0), Amounts, Chains)]
    graph.advance(delete=[3, 4, 5, 6, 7])
    check([item for at, item in enumerate(edges) if not 3 <= at <= 7], *lives)
    graph.advance(insert=[4, 6])
    check([item for at, item in enumerate(edges) if at not in (3, 5, 7)], *lives)


def test_copies_and_parts_of_graphs_have_their_values() -> None:
    pick = random.Random(6)
    edges = [random_edge(pick) for _ in range(30)]
    graph = graph_of(edges)
    graph.advance(delete=[0, 1, 2], insert=[as_row(random_edge(pick)) for _ in range(2)])
    wanted = graph.maintain(Amounts)["total"].tolist()
    again = pickle.loads(pickle.dumps(graph))
    assert again.maintain(Amounts)["total"].tolist() == wanted
    part = graph.view("kind = 'gift'").to_graph()
    assert part.num_edges > 0
    only = part.maintain(Chains)
    only.verify()


@pytest.mark.parametrize("strategy", ["adaptive", "differential", "scratch"])
@pytest.mark.parametrize("number", range(3))
def test_views_and_collections(strategy: Any, number: int) -> None:
    pick = random.Random(100 + number)
    edges = [random_edge(pick) for _ in range(40)]
    graph = graph_of(edges)
    views = graph.collection("days", {f"d{at}": f"day < '2024-01-{at:02}'" for at in range(2, 11)})
    near = views.run(Gifts(source=0), strategy=strategy, verify=3)
    sums = views.run(Amounts, strategy=strategy, verify=3)
    walks = views.run(Chains, strategy=strategy, verify=3)
    totals = {row["view"]: row["total"] for row in walks.globals().to_pylist()}
    for at in range(2, 11):
        there = [item for item in edges if item[3] < dt.date(2024, 1, at)]
        assert near.values(f"d{at}").tolist() == gifts(there, 0)
        assert sums.values(f"d{at}").tolist() == amounts(there)
        total, rows = chains(there)
        assert totals[f"d{at}"] == total
        assert sorted(tuple(row.values()) for row in walks.matches(f"d{at}").to_pylist()) == rows


@pytest.mark.parametrize(
    ("kind", "day", "what", "hint"),
    [
        ([1.0, 2.0], [DAY, DAY], "'kind' as str, and it holds numbers with fractions", "float"),
        ([DAY, DAY], [DAY, DAY], "'kind' as str, and it holds dates", "gt.Property(gt.Date)"),
        (["a", "b"], ["x", "y"], "'day' as date, and it holds texts", "gt.Property(str)"),
        (["a", "b"], [HOUR, HOUR], "'day' as date, and it holds timestamps", "gt.Timestamp"),
        (["a", "b"], [DAY, None], "'day', which is missing", "give every edge a date"),
        (None, [DAY, DAY], "'kind', which the edges do not have", "they have: day"),
    ],
)
def test_what_is_refused(kind: Any, day: Any, what: str, hint: str) -> None:
    given = {"day": day} | ({} if kind is None else {"kind": kind})
    graph = gt.Graph([1, 2], [2, 1], **given)
    with pytest.raises(InputError) as caught:
        graph.maintain(Gifts(source=1))
    assert what in caught.value.what
    assert hint in (caught.value.hint or "")


def test_a_number_that_holds_texts_is_refused_with_the_declaration() -> None:
    graph = gt.Graph([1], [2], weight=["a"])
    with pytest.raises(InputError) as caught:
        graph.maintain(gt.algorithms.ShortestPaths(source=1))
    assert "'weight' as float, and it holds texts" in caught.value.what


def test_an_advance_without_a_date_is_refused_and_changes_nothing() -> None:
    graph = gt.Graph([1, 2], [2, 3], kind=["gift", None], day=[DAY, DAY])
    live = graph.maintain(Gifts(source=1, since=DAY))
    for rows in ([(1, 3, "gift", None)], {"src": [1], "dst": [3], "kind": ["gift"]}):
        with pytest.raises(InputError, match="'day', which is missing"):
            graph.advance(insert=rows)
        assert (graph.num_edges, live["hops"].tolist()) == (2, [0.0, 1.0, np.inf])
    graph.advance(insert=[(1, 3, None, DAY), (2, 3, "fee", DAY)])
    assert live["hops"].tolist() == [0.0, 1.0, 2.0]
    with pytest.raises(InputError, match="values of type string"):
        graph.advance(insert=[(1, 3, 5, DAY)])
    live.verify()


def test_the_same_in_l_nga() -> None:
    text = """
    Program Gifts
    Parameter (source: vertex, only: string, since: date)
    Edge (kind: string, day: date)
    Vertex (active, out_nbrs, hops: double = Infinity, best: Accm<double, MIN>)
    Initialize (u):
      u.hops = u == source ? 0 : Infinity;
      u.active = u == source;
    Traverse (u):
      For v in u.out_nbrs Via e Where ((e.kind == only Or e.kind == "fee") And e.day >= since)
        v.best.Accumulate(u.hops + 1);
    Update (u):
      If (u.best < u.hops)
        u.hops = u.best;
        u.active = true;
    """
    program = gt.nga(text)
    assert unparse(program.plan).count('"fee"') == 1
    pick = random.Random(8)
    edges = [random_edge(pick) for _ in range(40)]
    live = graph_of(edges).maintain(program(source=0, only="gift", since=dt.date(2024, 1, 5)))
    assert live["hops"].tolist() == gifts(edges, 0)
    live.verify()
    with pytest.raises(LanguageError, match="has no default here"):
        gt.nga(text.replace("since: date", "since: date = 3"))


@gt.program
class Noted:
    """Edges with a note, and ways of two with the same note."""

    notes = gt.Global(gt.Count())
    pairs = gt.Global(gt.Count())
    note = gt.Property(str)

    def traverse(self, u: Any) -> None:
        for v, e in u.out_edges:
            if e.note == "a & b":
                self.notes()
            for _w, f in v.out_edges:
                if e.note == f.note and e.year < f.year:
                    self.pairs()


@pytest.mark.parametrize("strategy", ["adaptive", "differential", "scratch"])
def test_a_stored_collection(tmp_path: Path, strategy: Any) -> None:
    write_catalog(tmp_path)
    session = gt.session(tmp_path, progress=False)
    run = session.collection("years").run(Noted, strategy=strategy, verify=4)
    for row in run.globals().to_pylist():
        last = int(row["view"].removeprefix("upto-"))
        there = [item for item in CALLS if item["year"] <= last]
        assert row["notes"] == sum(item["note"] == "a & b" for item in there)
        assert row["pairs"] == sum(
            e["dst"] == f["src"] and None is not e["note"] == f["note"] and e["year"] < f["year"]
            for e, f in itertools.product(there, there)
        )
    with pytest.raises(InputError, match="'note' as date, and it holds texts"):
        session.collection("years").run(Dated)


@gt.program
class Dated:
    """Reads a text as a date."""

    total = gt.Global(gt.Count())
    note = gt.Property(gt.Date)

    def traverse(self, u: Any) -> None:
        for _v, e in u.out_edges:
            for _w, f in u.out_edges:
                if e.note < f.note:
                    self.total()


def test_rows_to_delete_are_found_by_texts() -> None:
    graph = gt.Graph([1, 1], [2, 2], kind=["gift", "loan"])
    graph.advance(delete=[(1, 2, "loan")])
    assert graph.edges()["kind"].to_pylist() == ["gift"]


@pytest.mark.parametrize("name", ["ShortestPaths", "WidestPath", "CoTrainingEM", "PairDistances"])
def test_a_column_of_another_name_gives_the_same_results(name: str) -> None:
    pick = random.Random(name)
    case = next(item for item in CASES if item.name == name)
    program, parameters = case.program, case.parameters(pick, 12)
    src, dst = pick.choices(range(12), k=40), pick.choices(range(12), k=40)
    weights = [pick.randrange(1, 9) / 2 for _ in src]
    usual = gt.Graph(src, dst, vertices=range(12), weight=weights)
    other = gt.Graph(src, dst, vertices=range(12), km=weights, weight=[0.5] * 40)
    wanted = usual.maintain(program(**parameters))
    found = other.maintain(program(**parameters, weight="km"))
    assert found.table().equals(wanted.table())
    assert "e.km" in found.explain()
    assert "weight is the column km" in found.explain()
    assert "e.weight" not in found.explain()
    for graph, column in ((usual, "weight"), (other, "km")):
        rest = {"weight": [9.0]} if column == "km" else {}
        graph.advance(insert={"src": [0], "dst": [11], column: [0.5], **rest}, delete=[0, 7])
    assert found.table().equals(wanted.table())


def test_a_walk_reads_a_column_of_another_name() -> None:
    ends, at = ([1, 2, 3], [2, 3, 1]), [5, 7, 9]
    graph = gt.Graph(*ends, at=at, time=[9, 7, 5])
    by_time = graph.maintain(gt.algorithms.Rings(length=3))
    by_at = graph.maintain(gt.algorithms.Rings(length=3, time="at"))
    assert by_at.matches().to_pylist()[0]["first"] == 5.0
    assert (by_time.globals["total"], by_at.globals["total"]) == (0, 1)
    assert "time is the column at" in by_at.explain()
