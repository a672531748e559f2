"""Files of a stream beside the graph: a batch in parts while it is applied, and rows set aside.

A batch that takes several advances is written here before the first. Whoever dies between two of
them finds the parts again as they were cut, whatever order Spark would hand out the rows in the
second time, and whatever is late by then.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from graphtide.model import disk
from graphtide.model.disk import disk_errors
from graphtide.model.errors import DamagedError
from graphtide.model.names import folder_name
from graphtide.run.streams.operations import UNKNOWN, Codes
from graphtide.store.files import within
from graphtide.store.live_folders import STREAMS

_CODE, _PART = "_code", "_part"


class Spooled(NamedTuple):
    """The rows of a batch, what they ask for, and the part of each; parts are in their order."""

    rows: pa.Table
    codes: Codes
    parts: NDArray[np.int64]
    facts: dict[str, Any]


class StreamFolder:
    """What one stream has on the disk, beside the log."""

    def __init__(self, graph: Path, stream: str) -> None:
        self.path = disk.below(graph, f"{STREAMS}/{folder_name(stream)}")
        self._what = f"the stream '{stream}'"

    @property
    def checkpoint(self) -> Path:
        """Where Spark keeps how far it is, unless a user says otherwise."""
        return self.path / "checkpoint"

    @property
    def sink(self) -> Path:
        """Where Spark writes rows that it cannot hand over."""
        return self.path / "sink"

    @property
    def set_aside(self) -> Path:
        """Where rows are that were not applied."""
        return self.path / "set-aside"

    def write_aside(self, rows: pa.Table, batch: int, part: int | None = None) -> None:
        """Rows that are not applied; the same batch, once more, has the same file."""
        name = f"batch-{batch:012d}" + ("" if part is None else f"-{part:06d}")
        with disk_errors(self._what, self.set_aside):
            disk.make_folders_below(self.path.parent.parent, self.set_aside)
            with disk.whole_new_file(self.set_aside / f"{name}.parquet") as file:
                pq.write_table(rows, file)

    def write_spool(self, batch: int, spooled: Spooled) -> None:
        """A batch in parts, on the disk when this returns."""
        table = spooled.rows.append_column(_CODE, pa.array(spooled.codes))
        table = table.append_column(_PART, pa.array(spooled.parts))
        table = table.replace_schema_metadata({b"facts": json.dumps(spooled.facts).encode()})
        with disk_errors(self._what, self.path):
            disk.make_folders_below(self.path.parent.parent, self.path)
            with (
                disk.whole_new_file(self._spool(batch)) as file,
                pa.ipc.new_file(file, table.schema) as writer,
            ):
                writer.write_table(table)

    def read_spool(self, batch: int) -> Spooled:
        """The batch that was begun."""
        path = self._spool(batch)
        try:
            table = pa.ipc.open_file(pa.py_buffer(disk.read_file(path))).read_all()
            table.validate(full=True)
            return _spooled(table)
        except (OSError, pa.ArrowException, KeyError, ValueError, TypeError) as error:
            raise DamagedError(
                f"{self._what} was left within its batch {batch:,}, and the rest of that cannot "
                f"be read: {error}",
                where=str(path),
                hint="put the file back from a copy",
            ) from None

    def remove_spools(self, besides: int | None = None) -> None:
        """Forget the parts of batches, but for one that is not done."""
        for path in self.path.glob("batch-*.arrow"):
            if besides is None or path != self._spool(besides):
                disk.remove(path)

    def _spool(self, batch: int) -> Path:
        return self.path / f"batch-{batch:012d}.arrow"


def _spooled(table: pa.Table) -> Spooled:
    """A batch as a spool has it; ValueError where none was written so."""
    facts = json.loads(table.schema.metadata[b"facts"])
    codes, parts = (table.column(name).to_numpy() for name in (_CODE, _PART))
    if not (
        codes.dtype == np.int8
        and parts.dtype == np.int64
        and within(codes, UNKNOWN)
        and within(parts, len(parts))
        and bool((parts[:-1] <= parts[1:]).all())
    ):
        raise ValueError("its rows are not those of parts")
    if type(facts["late"]) is not int or not all(isinstance(item, str) for item in facts["match"]):
        raise TypeError(f"it says {facts!r:.80}")
    return Spooled(table.drop_columns([_CODE, _PART]), codes, parts, facts)
