"""Inputs: where records come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphtide.engine.dataflow.records import InputBatch, InputColumns, Int64
from graphtide.model.errors import InputError
from graphtide.run.dataflow.collection import Collection
from graphtide.run.dataflow.flow_builder import Time

MOST_DIFF = 1 << 31
"""Sums are added up by halves of 32 bits: a larger diff could carry one over the edge."""
Times = Time | Sequence[Time] | Int64
"""One version for all records, or a list or an array with one a record."""


class InputCollection(Collection):
    """A collection that users change. Records are tuples; columns may be given as arrays too.

    `at` says at which version: the open one where it is left out, one that is still to come, or a
    list or array with a version a record. Very many versions may be closed in one go.

    Columns that nothing in the dataflow reads are checked and then left out. What is given counts
    as it is at the call: arrays may be written to afterwards.
    """

    def insert(self, rows: Any, *, at: Times | None = None) -> None:
        """Add each record once, at the open version or at one that is still to come."""
        self._change(rows, 1, at)

    def remove(self, rows: Any, *, at: Times | None = None) -> None:
        """Take each record away once. Nothing checks that it was there: see multiplicities."""
        self._change(rows, -1, at)

    def update(self, rows: Any, diffs: Any, *, at: Times | None = None) -> None:
        """Change the multiplicity of each record by a number of its own, or by one for all.

        A multiplicity may change by less than 2^31 at once.
        """
        self._change(rows, np.array(diffs), at)

    def _change(self, rows: Any, diff: Any, at: Times | None) -> None:
        turns = self.flow.clock.turns
        with turns.lock:
            turns.check()
            self._put(rows, diff, at)

    def _put(self, rows: Any, diff: Any, at: Any) -> None:
        flow = self.flow
        flow.check_open()
        one = at is None or isinstance(at, int | tuple)
        version = flow.clock.open_word(at) if one else None
        columns = InputColumns(rows, self.schema, flow.host.texts)
        _check_diffs(diff, columns.count)
        versions = flow.clock.open_words(at, columns.count) if version is None else version
        if flow.host.once:
            self._check_once(diff, versions)
        flow.feed(self.number, InputBatch(columns, diff, versions))

    def put_words(self, words: Int64, diff: Any, version: int, *, lasting: bool = False) -> None:
        """Let records that are words already wait for a version. Writes into their last words."""
        if self.flow.host.once:
            self._check_once(diff, version)
        self.flow.feed(self.number, InputBatch(words, diff, version, lasting))

    def insert_for_good(self, rows: Any) -> None:
        """Add records to the open version that no failed advance takes away; before the first."""
        version = self.flow.clock.open_word(None)
        self.flow.feed(
            self.number,
            InputBatch(
                InputColumns(rows, self.schema, self.flow.host.texts), 1, version, lasting=True
            ),
        )

    def _check_once(self, diff: Any, version: int | Int64) -> None:
        """Refuse what a dataflow that runs once cannot take."""
        if np.any(np.less(diff, 0)) or np.any(np.not_equal(version, self.flow.host.frontier[0])):
            raise InputError(
                f"{self.flow.name} runs once: it takes insertions alone, at one version",
                hint="make it without `once`, or leave out what is not there",
            )


def _check_diffs(diff: Any, count: int) -> None:
    """Refuse what is no int for each record, or one that is too large to be added up."""
    if isinstance(diff, int):
        return
    given = np.asarray(diff)
    if given.shape not in ((), (count,)) or (given.dtype.kind not in "iu" and given.size):
        raise InputError(
            f"{given.size} diffs of type {given.dtype} for {count} records",
            hint="give one int a record, or one for all",
        )
    for most in (given.max(), given.min()) if given.size else ():
        if abs(int(most)) >= MOST_DIFF:
            raise InputError(
                f"A multiplicity cannot change by {most} at once",
                hint=f"give diffs below {MOST_DIFF:,}",
            )
