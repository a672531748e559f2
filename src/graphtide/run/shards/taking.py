"""Results that tasks have kept, on their way to become parts of a run; and how far tasks are.

Nothing of the results is read: files are linked as they are, and what tasks tell of their vertices
is put together for all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from graphtide.engine.shards.placement import Placement
from graphtide.optimize.strategy import Move
from graphtide.run.collection.buffer import RECORD_SCHEMA
from graphtide.run.collection.kept_figures import FIGURES, LEADERS
from graphtide.run.collection.partial_figures import joined
from graphtide.run.collection.ranking import joined_leaders
from graphtide.run.collection.steps import RunSteps
from graphtide.run.shards.tasks import row_bounds
from graphtide.store.files import FileFacts
from graphtide.store.part_chain import Written
from graphtide.store.parts import Made
from graphtide.store.parts_on_disk import PartsOnDisk
from graphtide.store.seal import well_formed
from graphtide.store.shards import StoredShards
from graphtide.store.supersteps import EMPTY, STATES, KeptSupersteps, Note


class Taking:
    """Results that tasks have kept, on their way to become parts of the run."""

    def __init__(
        self, steps: RunSteps, parts: PartsOnDisk, shards: StoredShards, program: str = ""
    ) -> None:
        self._program, self._shards = program, shards
        placement = Placement(shards.vertices, shards.shards, 1)
        self._parts = parts
        self._steps = steps
        self.kept = KeptSupersteps(parts, row_bounds(placement))
        record = parts.record()
        self.finished = 0 if record is None else int(record.num_rows)

    def take_in(self) -> None:
        """Make the finished views parts, as far as there are no gaps."""
        results = self.kept.results()
        while self.finished in results and (self.finished or EMPTY in results):
            base, notes = [] if self.finished else results[EMPTY], results[self.finished]
            with well_formed("what tasks have kept of a run", notes[0].path):
                record, files, made, told = self._part(self.finished, notes)
                more = _written(base), _kept_states(notes)
            self._parts.take_in(record, files, made, told, base=more[0], states=more[1])
            self.finished += 1

    def _part(self, step: int, notes: list[Note]) -> tuple[Any, ...]:
        """The record of a step, its files, who made it, and what is told of it."""
        told = [note.told for note in notes]
        began, ended = min(item["began"] for item in told), max(item["ended"] for item in told)
        edges, changed = (sum(item[name] for item in told) for name in ("edges", "changed"))
        seconds = ended - began
        move = int(Move.FOLLOW if told[0]["follows"] else Move.PASS)
        row: tuple[Any, ...] = step, move, seconds, np.nan, np.nan, edges, changed
        columns = [
            pa.array([item], kind.type) for item, kind in zip(row, RECORD_SCHEMA, strict=True)
        ]
        record = pa.table(columns, schema=RECORD_SCHEMA)
        made = [
            Made(
                item["worker"],
                0,
                item["began"],
                item["ended"],
                item["processor"],
                item.get("spans", ()),
                item.get("sent", 0),
            )
            for item in told
        ]
        return record, _written(notes), made, _told(told) | self._states(notes)

    def _states(self, notes: list[Note]) -> dict[str, Any]:
        """What is told of the states that a later run may go on from, if all tasks kept them."""
        if not _kept_states(notes):
            return {}
        sizes = {"shards": self._shards.shards, "vertices": self._shards.vertices}
        spans = [[note.first, note.behind] for note in notes]
        return {STATES: {"program": self._program, "spans": spans, **sizes}}


def _kept_states(notes: list[Note]) -> Written:
    """The files of the states that all tasks have kept; nothing where one has not."""
    if not all(STATES in note.told for note in notes):
        return ()
    return [_file(note, note.told[STATES]) for note in notes]


def _told(told: list[dict[str, Any]]) -> dict[str, Any]:
    """What all tasks together tell of the results of a view."""
    joins = {FIGURES: joined, LEADERS: joined_leaders}
    return {
        what: {field: join([item[what][field] for item in told]) for field in told[0][what]}
        for what, join in joins.items()
    }


def _written(notes: list[Note]) -> dict[str, Written]:
    """The files of each field that tasks have written together."""
    names = notes[0].told["fields"] if notes else ()
    return {name: [_file(note, note.told["fields"][name]) for note in notes] for name in names}


def _file(note: Note, name: str) -> tuple[Path, FileFacts]:
    return note.path.parent / name, note.files[name]


def progress_of(taking: Taking, steps: int) -> Callable[[], tuple[str, float]]:
    """What tells how far all tasks together are."""

    def look() -> tuple[str, float]:
        done, superstep = taking.kept.reached()
        progress = f", superstep {superstep:,} kept of the next" if superstep else ""
        return f"{done:,} of {steps:,} views on shards{progress}", done / max(1, steps)

    return look
