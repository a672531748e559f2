"""Inputs: where records come from."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtide.engine.dataflow.records import Int64, encode
from graphtide.model.errors import InputError
from graphtide.run.dataflow.collection import Collection
from graphtide.run.dataflow.times import Time


class InputCollection(Collection):
    """A collection that users change. Records are tuples; columns may be given as arrays too."""

    def insert(self, rows: Any, *, at: Time | None = None) -> None:
        """Add each record once, at the open version or at one that is still to come."""
        self._change(rows, 1, at)

    def remove(self, rows: Any, *, at: Time | None = None) -> None:
        """Take each record away once. Nothing checks that it was there: see multiplicities."""
        self._change(rows, -1, at)

    def update(self, rows: Any, diffs: Any, *, at: Time | None = None) -> None:
        """Change the multiplicity of each record by a number of its own."""
        self._change(rows, np.asarray(diffs), at)

    def _change(self, rows: Any, diff: Any, at: Time | None) -> None:
        turns = self.flow.clock.turns
        with turns.lock:
            turns.check()
            self._put(rows, diff, at)

    def _put(self, rows: Any, diff: Any, at: Time | None) -> None:
        self.flow.check_open()
        version = self.flow.clock.open_word(at)
        words = encode(rows, self.schema, self.flow.host.texts)
        if np.ndim(diff) and (np.shape(diff) != (len(words),) or diff.dtype.kind not in "iu"):
            raise InputError(
                f"{np.size(diff)} diffs of type {np.asarray(diff).dtype} for {len(words)} records",
                hint="give one int a record",
            )
        self.put_words(words, diff, version)

    def put_words(self, words: Int64, diff: Any, version: int) -> None:
        """Let records that are words already wait for a version; writes into their last two."""
        words[:, -2] = version
        words[:, -1] = diff
        self.flow.waiting.append((self.number, version, words))
