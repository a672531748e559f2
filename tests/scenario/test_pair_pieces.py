"""Runs over more pairs than fit: the answers of pieces are those of one walk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import graphtide as gt
from graphtide.algorithms import PairHops
from graphtide.model.errors import LimitError
from graphtide.run.collection import start
from graphtide.run.collection.differences import RunDifferences
from graphtide.run.collection.facts import RunRequest, RunSettings
from graphtide.run.collection.runs_in_memory import arranged
from graphtide.run.collection.start import PreparedRun
from graphtide.run.live.programs import bytes_a_source, compiled_program
from graphtide.store.catalog import Catalog
from graphtide.store.parts import Parts, PartsInMemory
from graphtide.store.results import EmptyVersionTables, begin_run, open_run

pytestmark = pytest.mark.interpreted

VERTICES = 12
PAIRS = [(one, other) for other in (3, 7, 0) for one in range(0, VERTICES, 2)]


@pytest.fixture
def graph() -> gt.Graph:
    random = np.random.default_rng(5)
    return gt.Graph(*random.integers(0, VERTICES, (2, 40)).tolist(), vertices=VERTICES)


@pytest.fixture
def versions() -> list[Any]:
    random = np.random.default_rng(6)
    return [random.random(40) < 0.6 for _ in range(9)]


def in_pieces(patch: pytest.MonkeyPatch, count: int) -> None:
    """Leave memory for so many pieces."""
    each = bytes_a_source(compiled_program(PairHops(pairs=PAIRS), "auto"), VERTICES)
    there = 2 * start.STATES * each * (VERTICES // 2) // count
    patch.setattr(start, "available_bytes", lambda: there)


@pytest.mark.parametrize("count", [2, 3, 6])
def test_pieces_have_the_results_of_one_walk(
    graph: gt.Graph, versions: list[Any], monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    whole = graph.run(PairHops(pairs=PAIRS), versions, order="tree")
    in_pieces(monkeypatch, count)
    assert start.count_pieces(compiled_program(PairHops(pairs=PAIRS), "auto"), VERTICES) == count
    divided = graph.run(PairHops(pairs=PAIRS), versions, order="tree", verify=1)
    assert divided.to_arrow().equals(whole.to_arrow())
    assert divided.finished
    assert divided.record().num_rows == whole.record().num_rows


def hand(graph: gt.Graph, versions: list[Any]) -> PreparedRun:
    compiled = compiled_program(PairHops(pairs=PAIRS), "auto")
    return PreparedRun(
        arranged(graph._snapshot(), versions, "chain", compiled.needed),
        RunRequest("", compiled, workers=1),
    )


@pytest.mark.parametrize("stored", [False, True])
def test_an_interrupted_piece_goes_on(
    graph: gt.Graph,
    versions: list[Any],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    stored: bool,
) -> None:
    one, whole = hand(graph, versions), PartsInMemory()
    one.run(one.base(), whole, one.chooser("differential"), RunSettings())
    in_pieces(monkeypatch, 3)
    parts: Parts = PartsInMemory()
    if stored:
        table = pa.table({"nothing": [0]})
        with begin_run(
            Catalog(tmp_path), "pairs", {}, EmptyVersionTables(table, None, {}), table
        ) as run:
            parts = run.parts
    made: list[str] = []

    def stop(stage: str, share: float | None = None) -> None:
        made.append(stage)
        if stage.startswith("piece 2"):
            raise KeyboardInterrupt

    first = hand(graph, versions)
    monkeypatch.setattr("graphtide.run.collection.runner._TELL_EVERY", 0.0)
    settings = RunSettings(report=stop, keep_every=0.0)
    with pytest.raises(KeyboardInterrupt):
        first.run(first.base(), parts, first.chooser("differential"), settings)
    assert len(parts) == 0
    monkeypatch.undo()
    again = hand(graph, versions)
    again._pieces = 2
    if stored:
        parts = open_run(Catalog(tmp_path), "pairs").parts
    made.clear()
    settings = RunSettings(report=lambda stage, share=None: made.append(stage))
    again.run(again.base(), parts, again.chooser("differential"), settings)
    assert not any(stage.startswith("piece 1") for stage in made)
    found, wanted = (RunDifferences(each, ("distance",)) for each in (parts, whole))
    assert found.finished == wanted.finished
    for step in range(wanted.finished):
        ours, theirs = found.of(step)["distance"], wanted.of(step)["distance"]
        assert ours.vertices.tolist() == theirs.vertices.tolist()
        assert ours.new.tolist() == theirs.new.tolist()
    assert not list(tmp_path.rglob("pieces*"))


def test_maintaining_more_pairs_than_fit_is_refused(
    graph: gt.Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHTIDE_MEMORY", "100K")
    with pytest.raises(LimitError, match=r"from 6 sources needs about .* 100,000 bytes are"):
        graph.maintain(PairHops(pairs=PAIRS))
    monkeypatch.setenv("GRAPHTIDE_MEMORY", "1G")
    graph.maintain(PairHops(pairs=PAIRS))
