"""The facts of a relation that users give: a set, whatever is inserted twice or was never there.

A dataflow counts how often a record was inserted; a relation holds a fact or does not. So what is
there is remembered, about a hundred bytes a fact, and only what makes a difference is fed. What the
dataflow refuses has made none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtide.engine.dataflow.records import Int64, Texts, encode
from graphtide.plan.rules import Relation
from graphtide.run.dataflow.inputs import InputCollection


class FactSet:
    """The facts of one relation, and the input of a dataflow that holds the same."""

    def __init__(self, relation: Relation, texts: Texts) -> None:
        self.relation = relation
        self._schema = relation.columns
        self._texts = texts
        self._there: set[bytes] = set()
        self._waiting: list[tuple[Int64, int, bool]] = []
        self._pending: list[tuple[list[bytes], int]] = []
        self._input: InputCollection | None = None

    def __len__(self) -> int:
        return len(self._there)

    @property
    def is_settled(self) -> bool:
        """Whether nothing has changed since the last advance."""
        return not self._pending

    def insert(self, rows: Any) -> int:
        """Facts that are there from now on; how many were not before."""
        return self._change(rows, 1)

    def insert_for_good(self, rows: Any) -> None:
        """Facts of the text, which no failed advance takes away; before there is an input."""
        self._change(rows, 1, lasting=True)

    def delete(self, rows: Any) -> int:
        """Facts that are not there any more; how many were before."""
        return self._change(rows, -1)

    def connect(self, source: InputCollection) -> None:
        """Feed an input with what there is and with all that comes."""
        self._input = source
        for words, diff, lasting in self._waiting:
            self._feed(words, diff, lasting)
        self._waiting.clear()

    def settle(self) -> None:
        """All that has changed has gone into the dataflow."""
        self._pending.clear()

    def undo(self) -> None:
        """Nothing that has changed since the last advance has."""
        for keys, diff in reversed(self._pending):
            if diff > 0:
                self._there.difference_update(keys)
            else:
                self._there.update(keys)
        self._pending.clear()

    def _change(self, rows: Any, diff: int, *, lasting: bool = False) -> int:
        words = encode(_checked(rows, self.relation), self._schema, self._texts)
        kept = self._effective(words, diff, lasting)
        chosen = words if len(kept) == len(words) else words[kept]
        if not len(chosen):
            return 0
        if self._input is None:
            self._waiting.append((chosen, diff, lasting))
        else:
            self._feed(chosen, diff, lasting)
        return len(chosen)

    def _effective(self, words: Int64, diff: int, lasting: bool) -> list[int]:
        """Which rows make a difference, each once."""
        width = len(self._schema)
        keys = np.ascontiguousarray(words[:, :width])
        listed = keys.view(f"V{8 * width}").ravel().tolist() if width else [b""] * len(words)
        there, kept = self._there, []
        for at, key in enumerate(listed):
            if (key in there) == (diff < 0):
                kept.append(at)
                if diff > 0:
                    there.add(key)
                else:
                    there.remove(key)
        if kept and not lasting:
            self._pending.append(([listed[at] for at in kept], diff))
        return kept

    def _feed(self, words: Int64, diff: int, lasting: bool) -> None:
        assert self._input is not None
        if not self._schema:
            words = np.zeros((len(words), 3), np.int64)
        version = self._input.flow.clock.open_word(None)
        self._input.put_words(words, diff, version, lasting=lasting)


def _checked(rows: Any, relation: Relation) -> Any:
    """Rows as they come; one bare value is a row where there is one column."""
    if len(relation.columns) != 1 or not isinstance(rows, list | tuple | set | range):
        return list(rows) if isinstance(rows, set) else rows
    return [row if isinstance(row, tuple | list) else (row,) for row in rows]
