"""Runs over more pairs than fit: some sources at a time, and the results put together.

A program on pairs keeps one state for each distinct source, of the size of the vertices. Where all
of them would not fit, the sources are divided, the whole plan is walked once a piece, and what the
pieces changed at a step becomes what the step changed. Sources have nothing to do with each other,
so the results are those of one walk; only the way to a step may differ from piece to piece, and the
record tells that of the first.

Each piece has parts of its own: an interrupted run goes on within the piece it was in. Its views
are finished when the pieces have been put together, all at the end.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Change, Changes, Values
from graphtide.model.memory import available_bytes
from graphtide.model.progress import Report
from graphtide.optimize.strategy import Chooser, Move
from graphtide.run.collection.buffer import PartBuffer
from graphtide.run.collection.reading import Differences
from graphtide.run.live.programs import Compiled
from graphtide.run.live.result_rows import Pairs
from graphtide.run.live.source_memory import bytes_a_source
from graphtide.store.parts import Parts

if TYPE_CHECKING:
    from graphtide.run.collection.settings import RunSettings

STATES = 3
"""States of all sources that a run holds: two along a tree, and one for runs from scratch."""

_ROWS_A_PART = 1 << 20

Places = NDArray[np.int64]
"""Where the pairs of a piece stand among all."""

EVERYTHING: Places = np.empty(0, np.int64)
"""Stands for all results, where there is one piece."""


def count_pieces(compiled: Compiled, vertices: int) -> int:
    """How many pieces a run must be done in for its states to fit into half of the memory."""
    sources = compiled.sources
    if not sources:
        return 1
    needed = STATES * sources * bytes_a_source(compiled, vertices)
    return max(1, min(sources, -(-2 * needed // max(1, available_bytes()))))


def divide_pairs(pairs: Pairs, count: int) -> list[Places]:
    """The pairs in so many pieces, those with one source always in the same."""
    numbers: dict[int, int] = {}
    source = np.array([numbers.setdefault(one, len(numbers)) for one, _ in pairs], np.int64)
    piece = source * count // len(numbers)
    return [np.flatnonzero(piece == number) for number in range(count)]


def run_pieces(
    divided: Sequence[Places],
    run_piece: Callable[[Places, Parts, Chooser, RunSettings], None],
    parts: Parts,
    chooser: Chooser,
    settings: RunSettings,
) -> None:
    """Walk the plan once a piece, each into parts of its own."""
    for number, (places, own) in enumerate(zip(divided, parts.pieces(len(divided)), strict=True)):
        report = _PieceReport(settings.report, number, len(divided))
        how = replace(settings, report=report, kept=lambda finished: None)
        run_piece(places, own, copy.deepcopy(chooser), how)


class _PieceReport:
    """Says which piece a run is in."""

    def __init__(self, report: Report, number: int, count: int) -> None:
        self._report, self._number, self._count = report, number, count

    def __call__(self, stage: str, done: float | None = None) -> None:
        share = None if done is None else (self._number + done) / self._count
        self._report(f"piece {self._number + 1} of {self._count}, {stage}", share)


def join_pieces(
    divided: Sequence[Places], parts: Parts, fields: tuple[str, ...], first: int
) -> None:
    """The steps from `first` on, with what all pieces changed at each, in parts."""
    pieces = [Differences(own, fields) for own in parts.pieces(len(divided))]
    rows = _joined_records(pieces)
    buffer = PartBuffer(fields)
    for step in range(first, len(rows)):
        buffer.add(rows[step], _joined_changes(divided, [piece.of(step) for piece in pieces]))
        if buffer.rows > _ROWS_A_PART:
            parts.append(buffer.take())
    if len(buffer):
        parts.append(buffer.take())


def join_values(divided: Sequence[Places], values: Sequence[Values]) -> Values:
    """The results of all pairs from those of the pieces."""
    if len(values) == 1:
        return values[0]
    order = np.argsort(np.concatenate(divided))
    return {name: np.concatenate([piece[name] for piece in values])[order] for name in values[0]}


def _joined_records(pieces: Sequence[Differences]) -> list[Any]:
    """A row of the record for each step: the first piece's way, and what all pieces took."""
    columns: list[list[Any]] = []
    records = [piece.record for piece in pieces]
    for at in range(records[0].num_columns):  # type: ignore[union-attr]
        each = [record.column(at).to_numpy() for record in records]  # type: ignore[union-attr]
        columns.append((each[0] if at < 2 else np.sum(each, axis=0)).tolist())
    columns[1] = [Move(code) for code in columns[1]]
    return list(zip(*columns, strict=True))


def _joined_changes(divided: Sequence[Places], found: Sequence[dict[str, Change]]) -> Changes:
    """The changes of one step, in the order of all pairs."""
    joined: dict[str, Change] = {}
    for name in found[0]:
        each = [changes[name] for changes in found]
        rows = [places[change.vertices] for places, change in zip(divided, each, strict=True)]
        order = np.argsort(np.concatenate(rows))
        joined[name] = Change(
            np.concatenate(rows)[order].astype(np.int32),
            np.concatenate([change.old for change in each])[order],
            np.concatenate([change.new for change in each])[order],
        )
    return joined
