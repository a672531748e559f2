"""Registered programs after a start, and changes out: all of them, in order, none left out."""

from __future__ import annotations

import random
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import graphtide as gt
from graphtide.algorithms import BFS, SCC, Triangles
from graphtide.api import live_registered as live_graphs
from graphtide.model.errors import InputError, NotFoundError, StoreError
from tests.live.graphs import begun, leave
from tests.oracle.live_graph import EdgeList, given, random_batch


@gt.program
class Followers:
    """How many edges end at a vertex."""

    followers: int = 0
    came = gt.Count()

    def traverse(self, u, e, v):
        v.came()

    def update(self, v):
        v.followers = v.came


@gt.dataflow.program("into", int, missing=0)
def Into(edges: Any) -> Any:
    """The same as a dataflow."""
    return edges.count(by="dst")


@gt.program
class Returns:
    """Neighbours that are so both ways, as rows, and how many there are."""

    total = gt.Global(gt.Count())
    pairs = gt.Matches(one=gt.Vertex, other=gt.Vertex)

    def traverse(self, u):
        for v in u.out_neighbours:
            for w in v.out_neighbours:
                if w == u:
                    self.pairs(u, v)
                    self.total()


@gt.program
class Degrees:
    """How many pairs of neighbours there are: a result of the whole graph alone."""

    total = gt.Global(gt.Count())

    def traverse(self, u):
        for _v in u.out_neighbours:
            self.total()


def put(values: dict[Any, Any], table: pa.Table) -> None:
    """Follow a table of changes."""
    for row in table.to_pylist():
        values[row["id"]] = row["new"]


def values_of(live: gt.Live) -> dict[Any, Any]:
    (field,) = live.fields
    table = live.table()
    return dict(zip(table["id"].to_pylist(), table[field].to_pylist(), strict=True))


def run(graph: gt.LiveGraph, known: EdgeList, pick: random.Random, times: int) -> None:
    for _ in range(times):
        batch = random_batch(pick, known)
        graph.advance(**given(batch))
        known.advance(**batch)


@pytest.mark.interpreted
def test_programs_of_every_kind_are_found_again(tmp_path: Path) -> None:
    graph, known = begun(tmp_path / "g")
    programs = {
        "hops": BFS(source=0),
        "own": Followers,
        "into": Into,
        "parts": SCC,
        "triangles": Triangles,
    }
    for name, program in programs.items():
        graph.register(name, program)
    pick = random.Random(1)
    for stored in (False, True):
        run(graph, known, pick, 4)
        expected = {name: graph.program(name).table().to_pylist() for name in programs}
        if stored:
            graph.checkpoint()
        leave(graph)
        graph = gt.live(tmp_path / "g", trust=[Into] if stored else __name__)
        assert graph.registered() == list(programs)
        for name in programs:
            assert graph.program(name).table().to_pylist() == expected[name]
            graph.program(name).verify()
    graph.unregister("own")
    with pytest.raises(NotFoundError, match="no program is registered as 'own'"):
        graph.program("own")
    with pytest.raises(InputError, match="registered as 'hops' already"):
        graph.register("hops", BFS(source=1))


@pytest.mark.interpreted
def test_walks_are_registered_and_tell_of_rows(tmp_path: Path) -> None:
    graph, known = begun(tmp_path / "g")
    graph.register("returns", Returns)
    graph.register("degrees", Degrees)
    rows = Counter(map(tuple, map(dict.values, graph.program("returns").matches().to_pylist())))
    assert rows == returns(known)
    pick = random.Random(4)
    for step in range(12):
        run(graph, known, pick, 1)
        ((_, table),) = graph.changes("returns", graph.version - 1)
        for row in table.to_pylist():
            rows[row["one"], row["other"]] += 1 if row["change"] == "appeared" else -1
        assert +rows == returns(known)
        for _, table in graph.changes("degrees", graph.version - 1):
            for row in table.to_pylist():
                count = len({row[:2] for row in known.rows})
                assert (row["name"], row["new"]) == ("total", count)
        if step % 4 == 3:
            leave(graph)
            graph = gt.live(tmp_path / "g")
            graph.program("returns").verify()
    assert [version for version, _ in graph.changes("returns", 0)] == list(range(1, 13))


def returns(known: EdgeList) -> Counter[tuple[Any, ...]]:
    """Neighbours that are so both ways, each once, by plain loops."""
    pairs = {row[:2] for row in known.rows}
    return Counter((one, other) for one, other in pairs if (other, one) in pairs)


@pytest.mark.interpreted
def test_a_dataflow_is_found_again_by_those_alone_who_trust_it(tmp_path: Path) -> None:
    folder = tmp_path / "g"
    graph, _ = begun(folder)
    graph.register("into", Into)
    graph.register("hops", BFS(source=0))
    graph.advance(insert=[(1, 2, 1.0, "b")])
    graph.changes("into", 0)
    graph.close()
    wanted = f"the dataflow Into is a function of the module '{__name__}', which is not trusted"
    with pytest.raises(InputError, match=re.escape(wanted)):
        gt.live(folder)
    left_out = re.escape(f"open without its program 'into': {wanted}")
    with pytest.warns(RuntimeWarning, match=left_out):
        readonly = gt.live(folder, readonly=True)
    readonly.program("hops").verify()
    for use in (lambda: readonly.program("into"), lambda: readonly.changes("into", 0)):
        with pytest.raises(InputError, match=re.escape(wanted)):
            use()
    with pytest.warns(RuntimeWarning, match=left_out):
        graph = gt.live(folder, trust=False)
    graph.advance(insert=[(1, 3, 1.0, "b")])
    readonly.refresh()  # It has warned once.
    graph.close()
    graph = gt.live(folder, trust=Into)
    graph.program("into").verify()
    assert len(list(graph.changes("into", 0))) == 2
    graph.close()
    with pytest.warns(RuntimeWarning, match=left_out):
        graph = gt.live(folder, trust=False)
    graph.unregister("into")
    graph.close()
    gt.live(folder).close()


@pytest.mark.interpreted
def test_a_dataflow_that_is_gone_from_a_trusted_module_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, _ = begun(tmp_path / "g")
    graph.register("into", Into)
    graph.close()
    monkeypatch.delattr(f"{__name__}.Into")
    with pytest.raises(InputError, match=f"the module '{__name__}' has no 'Into'"):
        gt.live(tmp_path / "g", trust=[__name__])
    file = tmp_path / "flows.py"
    file.write_text(
        "import graphtide as gt\n\n"
        "@gt.dataflow.program('into', int, missing=0)\n"
        "def Into(edges):\n    return edges.count(by='dst')\n"
    )
    gt.live(tmp_path / "g", trust=[str(file)]).program("into").verify()
    with pytest.raises(InputError, match="3 is nothing that can be trusted"):
        gt.live(tmp_path / "g", trust=[3])  # type: ignore[list-item]


@pytest.mark.parametrize("seed", range(3))
def test_changes_since_any_version_lead_to_the_results(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_graphs, "_MOST_VERSIONS", 3)
    pick = random.Random(seed)
    graph, known = begun(tmp_path / "g")
    graph.register("hops", BFS(source=0))
    seen = {0: values_of(graph.program("hops"))}
    for step in range(30):
        run(graph, known, pick, 1)
        seen[graph.version] = values_of(graph.program("hops"))
        if step in (9, 18):
            graph.compact()
        elif step in (14, 20):
            graph.checkpoint()
        elif step == 25:
            leave(graph)
            graph = gt.live(tmp_path / "g")
    oldest = 19
    for since in range(oldest, 31):
        values, last = dict(seen[since]), since
        for version, table in graph.changes("hops", since):
            put(values, table)
            assert version == last + 1
            assert values == seen[version]
            last = version
        assert last == 30
    with pytest.raises(StoreError, match="are gone: they are known since version 19"):
        graph.changes("hops", oldest - 1)


def test_changes_at_hand_are_few_whoever_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every batch changes nearly all results; those that are not at hand are computed again."""
    monkeypatch.setattr(live_graphs, "_MOST_ROWS", 100)
    count = 30
    start = gt.Graph([*range(count), count + 1], [*range(1, count + 1), 0])
    graph = gt.live(tmp_path / "g", start)
    graph.register("hops", BFS(source=count + 1))
    graph.query("reach", gt.queries.Reach(count + 1))
    list(graph.changes("reach", 0))
    for _ in range(10):
        graph.advance(delete=[(0, 1)])
        graph.advance(insert=[(0, 1)])
        for told in graph._told.values():
            assert 1 <= len(told) <= 100 // count + 1
    for name in ("hops", "reach"):
        found = list(graph.changes(name, 0))
        assert [version for version, _ in found] == list(range(1, 21))
        assert {table.num_rows for _, table in found} == {count}


def test_consumers_are_told_of_every_version_at_least_once(tmp_path: Path) -> None:
    pick = random.Random(2)
    graph, known = begun(tmp_path / "g")
    graph.register("hops", BFS(source=0))
    values = values_of(graph.program("hops"))
    versions: list[int] = []

    def take(version: int, table: pa.Table) -> None:
        if pick.random() < 0.2:
            raise RuntimeError("the consumer is away")
        put(values, table)
        versions.append(version)

    graph.deliver("hops", tmp_path / "files", consumer="files")
    graph.deliver("hops", take, consumer="page")
    for _ in range(25):
        batch = random_batch(pick, known)
        known.advance(**batch)
        try:
            graph.advance(**given(batch))
        except RuntimeError:
            if pick.random() < 0.5:
                leave(graph)
                graph = gt.live(tmp_path / "g")
                graph.deliver("hops", tmp_path / "files", consumer="files")
                graph._consumers["page"] = "hops", take
    pick.random = lambda: 1.0  # type: ignore[method-assign]
    graph.advance()
    assert versions == list(range(1, 27))
    assert values == values_of(graph.program("hops"))
    files = sorted((tmp_path / "files").glob("*.parquet"))
    assert [path.name for path in files] == [f"changes-{at:012d}.parquet" for at in versions]
    again = values_of(gt.live(tmp_path / "g", readonly=True).program("hops"))
    assert again == values
    assert sum(pq.read_metadata(path).num_rows for path in files) > 0


def delivered(folder: Path) -> list[int]:
    return sorted(int(path.stem.split("-")[1]) for path in folder.glob("changes-*.parquet"))


def test_a_folder_is_told_after_a_start_without_a_call(tmp_path: Path) -> None:
    with gt.live(tmp_path / "g", gt.Graph([0], [1])) as graph:
        graph.query("near", gt.queries.Hops(0, 9))
        graph.deliver("near", tmp_path / "out", consumer="files")
        graph.advance(insert=[(1, 2)])
    with gt.live(tmp_path / "g") as graph:
        graph.advance(insert=[(2, 3)])
        assert delivered(tmp_path / "out") == [1, 2]
        graph._consumers.clear()  # As if it died between an advance and its delivery.
        graph.advance(insert=[(3, 4)])
    with gt.live(tmp_path / "g") as graph:
        assert delivered(tmp_path / "out") == [1, 2, 3]
        assert graph.consumers().select(["consumer", "name", "version"]).to_pylist() == [
            {"consumer": "files", "name": "near", "version": 3}
        ]
        graph.drop_consumer("files")
        graph.advance(insert=[(4, 5)])
    with gt.live(tmp_path / "g") as graph:
        graph.advance(insert=[(5, 6)])
        with pytest.raises(NotFoundError, match="there is no consumer 'files'"):
            graph.drop_consumer("files")
    assert delivered(tmp_path / "out") == [1, 2, 3]
    assert not [path for path in (tmp_path / "out").iterdir() if path.name.startswith(".")]


def test_a_function_that_is_not_handed_over_again_is_missed_aloud(tmp_path: Path) -> None:
    told: list[int] = []

    def take(version: int, table: pa.Table) -> None:
        told.append(version)

    with gt.live(tmp_path / "g", gt.Graph([0], [1])) as graph:
        graph.query("near", gt.queries.Hops(0, 9))
        graph.deliver("near", take, consumer="page")
    with gt.live(tmp_path / "g") as graph:
        assert "not delivered to page" in repr(graph)
        with pytest.warns(
            RuntimeWarning, match=r"live.deliver\('near', to, consumer='page'\) goes on"
        ):
            graph.advance(insert=[(1, 2)])
        graph.advance(insert=[(2, 3)])  # Said once.
        assert graph.consumers()["waiting"].to_pylist() == ["its function is not stored"]
        graph.deliver("near", take, consumer="page")
        assert "not delivered" not in repr(graph)
    with gt.live(tmp_path / "g") as graph:
        graph.deliver("near", take, consumer="page")
        graph.advance(insert=[(3, 4)])  # Handed over in time: nothing to say.
        graph.drop_query("near")
    with gt.live(tmp_path / "g") as graph:
        graph.advance(insert=[(4, 5)])  # There is nothing that it could be told of.
    assert told == [1, 2, 3]


def test_a_copy_of_a_graph_tells_nobody(tmp_path: Path) -> None:
    """Nor does a graph of somebody else, whose file names a folder of ours."""
    with gt.live(tmp_path / "g", gt.Graph([0], [1])) as graph:
        graph.query("near", gt.queries.Hops(0, 9))
        graph.deliver("near", tmp_path / "out", consumer="files")
    shutil.copytree(tmp_path / "g", tmp_path / "copy")
    with (
        gt.live(tmp_path / "copy") as graph,
        pytest.warns(RuntimeWarning, match="was not handed over by the graph here"),
    ):
        graph.advance(insert=[(1, 2)])
    assert delivered(tmp_path / "out") == []


@pytest.mark.parametrize("kind", ["query", "program"])
def test_a_consumer_of_what_is_dropped_leaves_advances_alone(tmp_path: Path, kind: str) -> None:
    graph = gt.live(tmp_path / "g", gt.Graph([0], [1]))

    def begin() -> None:
        if kind == "query":
            graph.query("hops", gt.queries.Hops(0, 3))
        else:
            graph.register("hops", BFS(source=0))

    begin()
    told: list[tuple[int, list[Any]]] = []
    graph.deliver(
        "hops", lambda version, table: told.append((version, table["id"].to_pylist())), consumer="c"
    )
    graph.advance(insert=[(1, 2)])
    (graph.drop_query if kind == "query" else graph.unregister)("hops")
    graph.advance(insert=[(2, 3)])
    assert (graph.version, graph.num_edges) == (2, 3)
    begin()
    graph.advance(insert=[(1, 4)])
    assert told == [(1, [2]), (3, [4])]
