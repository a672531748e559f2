"""Rows of an append that cannot be used: refused together, or set aside with their reasons."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from graphtide.model.errors import InputError
from graphtide.run.append.given import GivenRows
from graphtide.spark.ingest.options import IngestOptions
from graphtide.store.graph import QUARANTINE_SCHEMA

_SHOWN = 5


@dataclass
class BadRows:
    """Collects the bad rows of all tables; those that the load set aside come first."""

    options: IngestOptions
    _aside: list[pa.Table] = field(default_factory=list)
    _rows: list[dict[str, Any]] = field(default_factory=list)

    def set_aside(self, rows: pa.Table) -> None:
        """Rows that the load has found to be bad."""
        self._aside.append(rows)

    def add(self, kind: str, given: GivenRows, at: int, reason: str) -> None:
        """One more bad row, by its place in its table."""
        place = {"kind": kind, "file": given.source, "line": at + 1}
        self._rows.append({**place, "reason": reason, "text": given.text(at)})

    def table(self) -> pa.Table:
        """What is to be set aside; InputError if that is not wanted and there is any."""
        if self._rows and self.options.on_bad_rows == "refuse":
            raise self._refusal()
        own = pa.Table.from_pylist(self._rows, schema=QUARANTINE_SCHEMA)
        return pa.concat_tables([*self._aside, own])

    def _refusal(self) -> InputError:
        reasons = Counter(row["reason"] for row in self._rows).most_common()
        counts = "; ".join(f"{count:,} × {reason}" for reason, count in reasons)
        shown = [
            f"{row['file']}, row {row['line']}: {row['reason']}: {row['text'][:200]}"
            for row in self._rows[:_SHOWN]
        ]
        if len(self._rows) > _SHOWN:
            shown.append(f"... and {len(self._rows) - _SHOWN:,} more")
        rows = "row" if len(self._rows) == 1 else "rows"
        aside = self.options.said("on_bad_rows", "quarantine")
        return InputError(
            f"{len(self._rows):,} bad {rows}, nothing was appended: {counts}",
            where="\n      ".join(shown),
            hint=f"correct them, or append the rest and keep these aside with {aside}",
        )
