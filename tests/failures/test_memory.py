"""Memory that ends where it once left half a batch behind (see `tests.failures.memory`)."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphtide as gt
from graphtide.engine.growing import GrowingArray
from graphtide.engine.resident import ResidentGraph
from graphtide.model.errors import SetupError, UnusableError
from graphtide.run.live import versions
from graphtide.run.live.vertex_ids import VertexIds
from graphtide.run.memory_graph import MemoryGraph
from tests.failures.memory import campaign
from tests.failures.processes import forked

START = [(0, 1), (1, 2), (2, 0)]
MANY = [(at % 7, at % 5) for at in range(300)]
FRESH = [(at, at + 1) for at in range(3, 200)]


def ends(graph: gt.Graph) -> Counter[tuple[int, int]]:
    table = graph.edges()
    return Counter(zip(table["src"].to_pylist(), table["dst"].to_pylist(), strict=True))


def begun(folder: Path, *, live: bool = False) -> Any:
    graph = gt.Graph(*(np.array(column) for column in zip(*START, strict=True)), weight=[1.0] * 3)
    return gt.live(folder / "graph", graph) if live else graph


def rows(pairs: list[tuple[int, int]]) -> list[tuple[int, int, float]]:
    return [(*pair, 2.0) for pair in pairs]


@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize("batch", [MANY, FRESH], ids=["edges", "vertices"])
def test_a_graph_that_finds_no_room_to_grow_is_as_before_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, live: bool, batch: list[tuple[int, int]]
) -> None:
    """Whichever array cannot grow: the first, or one behind those that have."""
    reserve = GrowingArray.reserve
    for failing in range(1, 20):
        graph = begun(tmp_path / f"{failing}", live=live)
        paths = graph.maintain(gt.algorithms.ShortestPaths(source=0))
        asked = 0

        def limited(self: GrowingArray, room: int) -> None:
            nonlocal asked
            grows = room > len(self.room) and self is not graph._known.ids._whole  # noqa: B023
            asked += grows
            if grows and asked == failing:  # noqa: B023
                raise MemoryError
            reserve(self, room)

        with monkeypatch.context() as patched:
            patched.setattr(GrowingArray, "reserve", limited)
            try:
                graph.advance(insert=rows(batch), delete=[(0, 1)])
            except SetupError:
                assert not graph._turns.unusable
        if asked < failing:
            break
        assert ends(graph) == Counter(START)
        for _ in range(3):  # What was replaced and what was not must not part later.
            graph.advance(insert=rows(batch))
        graph.advance(delete=[(0, 1)])
        paths.verify()
        expected = Counter(START + 3 * batch)
        expected[0, 1] -= 1
        assert ends(graph) == +expected
        graph.compact()
        assert ends(graph) == +expected
        if live:
            graph.verify()
            graph.close()
    assert failing > 5


def stop(*_: Any, **__: Any) -> None:
    raise MemoryError


def test_a_graph_that_was_stopped_in_the_middle_refuses_every_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = begun(tmp_path, live=True)
    components = graph.register("components", gt.algorithms.WCC)
    changes = components.advance(insert=rows([(2, 7)]))
    append = VertexIds.append
    with monkeypatch.context() as patched:
        patched.setattr(VertexIds, "append", lambda self, ids: (append(self, ids), stop()))
        with pytest.raises(SetupError, match="no memory for this call"):
            graph.advance(insert=rows([(9, 10)]))
    calls = [graph.edges, graph.vertices, graph.compact, graph.checkpoint, graph.rollback]
    calls += [components.table, components.verify, changes.to_arrow, graph.verify]
    calls += [lambda: graph.version, lambda: graph.advance(insert=rows([(0, 1)]))]
    calls += [lambda: graph.advance_all([{"insert": rows([(0, 1)])}]), lambda: graph.queries]
    for call in calls:
        with pytest.raises(UnusableError, match=r"unusable(.|\n)*open it again"):
            call()
    graph.close()
    with gt.live(tmp_path / "graph") as again:
        assert ends(again) == Counter([*START, (2, 7)])
        again.verify()


@pytest.mark.parametrize("place", ["abandon", "rollback"])
def test_what_cannot_be_undone_is_not_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    graph = begun(tmp_path)
    components = graph.maintain(gt.algorithms.WCC)
    graph.advance(insert=rows([(2, 7)]))
    with monkeypatch.context() as patched:
        patched.setattr(versions, "take_out", stop)
        if place == "abandon":
            patched.setattr(components._kept.maintainer, "follow", stop)
        with pytest.raises(SetupError, match="no memory for this call"):
            graph.rollback() if place == "rollback" else graph.advance(insert=rows([(3, 4)]))
    with pytest.raises(UnusableError):
        graph.edges()


def test_a_table_of_ids_that_was_not_finished_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was kept empty: ids that were there came in a second time."""
    graph = gt.Graph([10, 20], [20, 30])
    graph._known.ids._table = None
    with monkeypatch.context() as patched:
        patched.setattr("graphtide.run.live.vertex_ids.enter_ids", stop)
        with pytest.raises(SetupError, match="no memory for this call"):
            graph.number(10)
    assert graph.number(10) == 0
    graph.advance(insert=[(10, 30)])
    assert graph.num_vertices == 3


@pytest.mark.parametrize("error", [MemoryError, SystemError])
def test_memory_that_ends_in_a_call_is_said_in_our_words(
    monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    """Machine code that meets with no memory may forget to say so: Python calls it SystemError."""
    graph = gt.Graph([0, 1], [1, 2])

    def ends(*_: Any) -> None:
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(MemoryGraph, "_snapshot", ends)
        with pytest.raises(SetupError, match=r"no memory for this call(.|\n)*the graph") as raised:
            graph.edges()
    assert type(raised.value.__cause__) is error
    assert graph.num_edges == 2


@pytest.mark.parametrize("whole", [False, True])
def test_ids_that_have_not_all_come_in_go_again(whole: bool) -> None:
    ids = VertexIds(np.array(["a", "b"], object))
    assert ids.numbers(np.array(["b"], object)).tolist() == [1]
    ids.append(("c", "d"))
    if not whole:
        del ids._places()["d"]  # As where memory ends in between.
    ids.truncate(2)
    assert ids._places() == {"a": 0, "b": 1}


@pytest.mark.compiled
def test_memory_may_end_at_any_allocation() -> None:
    """A short run of the campaign, in a process that nothing comes behind.

    Of arrays alone: where small objects find no memory, Arrow may end the process.
    """

    def run(say: Callable[[str], None]) -> None:
        signal.alarm(0)  # Kernels may have to be compiled.
        tally = campaign(60, 7, sizes=[300, 2000])
        assert tally["failures"] >= 60
        assert not tally["wrong"] + tally["died"], tally

    ended, said = forked(run)
    assert ended == 0, said


def test_verify_sees_that_memory_is_not_what_is_on_disk(tmp_path: Path) -> None:
    graph = begun(tmp_path, live=True)
    graph.advance(insert=rows([(0, 5)]), delete=[(0, 1)])
    graph.verify()
    resident: ResidentGraph = graph._resident
    resident.flip(inserted=np.array([0], np.int32), deleted=np.array([1], np.int32))
    with pytest.raises(AssertionError, match="edge 0 is there in memory or on disk"):
        graph.verify()
    resident.flip(inserted=np.array([1], np.int32), deleted=np.array([0], np.int32))
    resident._columns["weight"].room[2] = 9.0
    with pytest.raises(AssertionError, match=r"edge 2 has weight = 9\.0 in memory"):
        graph.verify()
    graph.close()
