"""Inputs: where records come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphtide.engine.dataflow.records import Int64, encode
from graphtide.model.errors import InputError
from graphtide.run.dataflow.collection import Collection
from graphtide.run.dataflow.times import Time

Times = Time | Sequence[Time] | Int64
"""One version for all records, or a list or an array with one a record."""


class InputCollection(Collection):
    """A collection that users change. Records are tuples; columns may be given as arrays too.

    `at` says at which version: the open one where it is left out, one that is still to come, or a
    list or array with a version a record. Very many versions may be closed in one go.
    """

    def insert(self, rows: Any, *, at: Times | None = None) -> None:
        """Add each record once, at the open version or at one that is still to come."""
        self._change(rows, 1, at)

    def remove(self, rows: Any, *, at: Times | None = None) -> None:
        """Take each record away once. Nothing checks that it was there: see multiplicities."""
        self._change(rows, -1, at)

    def update(self, rows: Any, diffs: Any, *, at: Times | None = None) -> None:
        """Change the multiplicity of each record by a number of its own."""
        self._change(rows, np.asarray(diffs), at)

    def _change(self, rows: Any, diff: Any, at: Times | None) -> None:
        turns = self.flow.clock.turns
        with turns.lock:
            turns.check()
            self._put(rows, diff, at)

    def _put(self, rows: Any, diff: Any, at: Any) -> None:
        self.flow.check_open()
        one = at is None or isinstance(at, int | tuple)
        version = self.flow.clock.open_word(at) if one else None
        words = encode(rows, self.schema, self.flow.host.texts)
        if np.ndim(diff) and (np.shape(diff) != (len(words),) or diff.dtype.kind not in "iu"):
            raise InputError(
                f"{np.size(diff)} diffs of type {np.asarray(diff).dtype} for {len(words)} records",
                hint="give one int a record",
            )
        versions = self.flow.clock.open_words(at, len(words)) if version is None else version
        self.put_words(words, diff, versions)

    def put_words(self, words: Int64, diff: Any, version: int | Int64) -> None:
        """Let records that are words already wait for a version, or each for its own.

        Writes into their last two words.
        """
        words[:, -2] = version
        words[:, -1] = diff
        if self.flow.host.once:
            self._check_once(words)
        one = version if isinstance(version, int) else None
        self.flow.waiting.append((self.number, one, words))

    def _check_once(self, words: Int64) -> None:
        """Refuse what a dataflow that runs once cannot take."""
        if (words[:, -1] < 0).any() or (words[:, -2] != self.flow.host.frontier[0]).any():
            raise InputError(
                f"{self.flow.name} runs once: it takes insertions alone, at one version",
                hint="make it without `once`, or leave out what is not there",
            )
