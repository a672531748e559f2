"""Rows of an append that cannot be used: refused together, or set aside with their reasons."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from graphtide.model.errors import InputError
from graphtide.model.wording import counted
from graphtide.run.append.given import GivenRows
from graphtide.spark.ingest.options import IngestOptions, enough
from graphtide.spark.ingest.source import Kind
from graphtide.store.graph import QUARANTINE_SCHEMA

_SHOWN = 5
_KINDS: dict[Kind, str] = {"vertices": "vertex", "edges": "edge"}


@dataclass
class BadRows:
    """Collects the bad rows of all tables; those that the load set aside come first."""

    options: IngestOptions
    _read: Counter[str] = field(default_factory=Counter)
    _aside: list[pa.Table] = field(default_factory=list)
    _rows: list[dict[str, Any]] = field(default_factory=list)
    _counted_by: str = "row"

    def count(self, kind: Kind, rows: int) -> None:
        """So many rows were read, bad ones that the load has found not among them."""
        self._read[_KINDS[kind]] += rows

    def set_aside(self, rows: pa.Table) -> None:
        """Rows that the load has found to be bad."""
        self._aside.append(rows)
        self._counted_by = "line"
        self._read.update(rows.column("kind").to_pylist())

    def add(self, kind: str, given: GivenRows, at: int, reason: str) -> None:
        """One more bad row, by its place in its table."""
        file, line = given.place(at)
        place = {"kind": kind, "file": file, "line": line}
        self._rows.append({**place, "reason": reason, "text": given.text(at)})
        self._counted_by = self._counted_by if given.places is None else "line"

    def table(self) -> pa.Table:
        """What is to be set aside; InputError if that is not wanted, or not of so many rows."""
        own = pa.Table.from_pylist(self._rows, schema=QUARANTINE_SCHEMA)
        rows = pa.concat_tables([*self._aside, own])
        if self._rows and self.options.on_bad_rows == "refuse":
            raise self._refusal(rows, counted(rows.num_rows, "bad row"))
        for kind, count in Counter(rows.column("kind").to_pylist()).items():
            if count > self.options.bad_rows_allowed(self._read[kind]):
                what = self.options.too_many(count, self._read[kind], kind)
                share = enough(count, self._read[kind])
                raise self._refusal(rows.filter(pc.field("kind") == kind), what, share)
        return rows

    def _refusal(self, rows: pa.Table, what: str, share: str = "") -> InputError:
        reasons = Counter(rows.column("reason").to_pylist()).most_common()
        counts = "; ".join(f"{count:,} × {reason}" for reason, count in reasons)
        shown = [
            f"{row['file']}, {self._counted_by} {row['line']}: {row['reason']}: {row['text'][:200]}"
            for row in rows.slice(0, _SHOWN).to_pylist()
        ]
        if rows.num_rows > _SHOWN:
            shown.append(f"... and {rows.num_rows - _SHOWN:,} more")
        read = sum(self._read.values())
        rest = "append the rest and keep these aside with " + self.options.setting_aside(
            rows.num_rows, read
        )
        if share:
            rest = f"let more rows be set aside: {self.options.said('at_most', share)}"
        return InputError(
            f"{what}, nothing was appended: {counts}",
            where="\n      ".join(shown),
            hint=f"correct them, or {rest}",
        )
