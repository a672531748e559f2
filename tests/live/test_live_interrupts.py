"""Live graphs that somebody interrupts: whenever it comes, memory and disk hold the same version.

A real signal is raised at one call after the other of the product's own functions, so that it falls
where a user's may. Kernels, which no signal stops, are left out.
"""

from __future__ import annotations

import random
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import graphtide as gt
from graphtide.algorithms import WCC
from graphtide.api.live_registered import RecentChanges
from graphtide.model.errors import GraphtideError, InputError, SetupError
from graphtide.run.durable import batch
from graphtide.run.durable.writer import LiveWriter

pytestmark = pytest.mark.interpreted
STRIDE = 500
BATCH = {
    "insert": [(2, 3, 12, "n")],
    "delete": [(1, 2)],
    "update": [{"src": 2, "dst": 0, "kind": "u"}],
    "remove": [1],
    "vertices": {"id": [7], "limit": [9]},
}
ACTS: dict[str, Callable[[gt.LiveGraph, gt.LiveGraph], Any]] = {
    "advance": lambda graph, _: graph.advance(**BATCH),
    "advance_all": lambda graph, _: graph.advance_all([BATCH, {"insert": [(4, 5, 13, "m")]}]),
    "rollback": lambda graph, _: graph.rollback(),
    "compact": lambda graph, _: graph.compact(),
    "set_budget": lambda graph, _: graph.set_budget("1 MB"),
    "query": lambda graph, _: graph.query("near", gt.queries.Hops(0, 2)),
    "drop_query": lambda graph, _: graph.drop_query("other"),
    "register": lambda graph, _: graph.register("more", WCC),
    "unregister": lambda graph, _: graph.unregister("other components"),
    "refresh": lambda _, reader: reader.refresh(),
}


@pytest.fixture(autouse=True)
def _interrupts() -> Iterator[None]:
    """Have Python's own handler: processes that share tests may ignore interrupts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def small(folder: Path) -> gt.LiveGraph:
    limits = {"id": [0, 1, 2], "limit": [1, 2, 3]}
    start = gt.Graph([0, 1, 2], [1, 2, 0], at=[0, 5, 6], kind=["a", "b", "c"], vertices=limits)
    graph = gt.live(folder, start, keep=10, time="at")
    graph.register("components", WCC)
    graph.register("other components", WCC)
    graph.query("reached", gt.queries.Reach(0))
    graph.query("other", gt.queries.Reach(1))
    return graph


def interrupted_at(call: int, act: Callable[[], Any]) -> bool:
    """Do something, and interrupt it at a call; False where it has fewer."""
    left, raised = call, False

    def count(frame: FrameType, event: str, _: Any) -> None:
        nonlocal left, raised
        place = frame.f_code.co_filename
        if event in ("call", "return") and "/graphtide/" in place and "/kernels/" not in place:
            left -= 1
            if left <= 0 and not raised and not is_within_finalizer(frame):
                raised = True
                signal.raise_signal(signal.SIGINT)

    sys.setprofile(count)
    try:
        act()
    except KeyboardInterrupt:
        return True
    finally:
        sys.setprofile(None)
    return left <= 0


def is_within_finalizer(frame: FrameType | None) -> bool:
    """Whether Python would swallow what is raised here, and warn."""
    while frame is not None and frame.f_code.co_name != "__del__":
        frame = frame.f_back
    return frame is not None


def seen(graph: gt.LiveGraph) -> tuple[Any, ...]:
    rows = graph.edges().drop_columns(["edge"]).to_pylist()
    asked = sorted(graph.queries), sorted(graph.registered()), graph.budget
    return graph.version, sorted(map(str, rows)), *asked


def check(graph: gt.LiveGraph, folder: Path) -> None:
    """Memory, disk and answers agree; a program that could not begin anew says so."""
    assert seen(gt.live(folder, readonly=True)) == seen(graph)
    graph.queries["reached"].verify()
    try:
        graph.program("components").verify()
    except GraphtideError as error:
        assert "could not begin anew" in str(error)  # noqa: PT017 (it need not be raised)


@pytest.mark.parametrize("act", ACTS)
def test_an_interrupt_leaves_one_version_in_memory_and_on_disk(tmp_path: Path, act: str) -> None:
    pick, call = random.Random(act), 0
    while True:
        call += pick.randrange(1, 2 * STRIDE)
        folder = tmp_path / str(call)
        graph = small(folder)
        reader = gt.live(folder, readonly=True)
        graph.advance(insert=[(1, 0, 7, "z")])
        if not interrupted_at(call, lambda: ACTS[act](graph, reader)):  # noqa: B023
            break
        check(graph, folder)
        graph.advance(insert=[(0, 9, 18, "k")])
        assert min(row["at"] for row in graph.edges().to_pylist()) >= 8
        reader.refresh()
        check(reader, folder)
        graph.checkpoint()
        now = seen(graph)
        graph.close()
        with gt.live(folder) as again:
            assert seen(again) == now


@pytest.mark.parametrize("act", ["advance", "advance_all", "advance_all, refused", "rollback"])
def test_an_interrupt_behind_memory_and_before_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    def stop(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    acts = {**ACTS, "advance_all, refused": lambda graph, _: graph.advance_all([BATCH, BATCH])}
    graph = small(tmp_path / "g")
    graph.advance(insert=[(1, 0, 7, "z")])
    with monkeypatch.context() as patched:
        patched.setattr(LiveWriter, "_commit", stop)
        with pytest.raises(KeyboardInterrupt):
            acts[act](graph, graph)
    assert graph.version == 1
    check(graph, tmp_path / "g")


def test_what_stops_the_telling_of_changes_stops_the_advance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = small(tmp_path / "g")

    def stop(*_: Any) -> None:
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr(RecentChanges, "put", stop)
        with pytest.raises(SetupError, match="no memory"):
            graph.advance(**BATCH)
    check(graph, tmp_path / "g")
    assert graph.version == 0
    graph.advance(**BATCH)
    check(graph, tmp_path / "g")


def test_edges_whose_time_has_come_go_with_the_batch_after_a_refused_one(tmp_path: Path) -> None:
    graph = gt.live(tmp_path / "g", gt.Graph([0, 1], [1, 2], at=[0, 5]), keep=10, time="at")
    with pytest.raises(InputError, match="not there"):
        graph.advance(insert=[(2, 3, 12)], delete=[(1, 0)])
    graph.advance(insert=[(2, 3, 12)])
    assert [row["at"] for row in graph.edges().to_pylist()] == [5, 12]


def test_looking_edges_up_is_not_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, bring_in = small(tmp_path / "g"), batch.bring_in

    def interrupted(*given: Any) -> Any:
        found = bring_in(*given)
        signal.raise_signal(signal.SIGINT)
        return found

    monkeypatch.setattr(batch, "bring_in", interrupted)
    with pytest.raises(KeyboardInterrupt):
        graph.advance(update=[{"src": 2, "dst": 0, "kind": "u"}])
    check(graph, tmp_path / "g")
