"""A file sink as Spark writes it, by plain Python; and batches that a test hands over itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq


class PlainSink:
    """Parquet files, and lists of them in `_spark_metadata`, a batch after the other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._metadata = folder / "_spark_metadata"
        self._metadata.mkdir(parents=True)
        self.batch = 0
        self._entries: list[dict[str, Any]] = []

    def commit(self, *tables: pa.Table, compact: bool = False) -> None:
        """The files of one batch; with `compact`, the lists of all batches as one."""
        entries = [self._file(table) for table in tables]
        self._entries += entries
        name = f"{self.batch}.compact" if compact else str(self.batch)
        lines = [json.dumps(item) for item in (self._entries if compact else entries)]
        (self._metadata / f".{name}.crc").write_bytes(b"")
        unfinished = self._metadata / f".{name}.tmp"
        unfinished.write_text("\n".join(["v1", *lines]))
        unfinished.rename(self._metadata / name)  # As Spark does: nobody reads half a list.
        self.batch += 1

    def forget_lists(self, before: int) -> None:
        """Remove the single lists of earlier batches, as Spark does behind a compact one."""
        for batch in range(before):
            (self._metadata / str(batch)).unlink(missing_ok=True)

    def list_of(self, batch: int) -> Path:
        return self._metadata / str(batch)

    def _file(self, table: pa.Table) -> dict[str, Any]:
        path = self.folder / f"part-00000-{uuid4()}-c000.snappy.parquet"
        pq.write_table(table, path)
        # A server may know the folder by another path.
        return {
            "path": f"file:///elsewhere/{path.name}", "size": path.stat().st_size, "isDir": False,
            "modificationTime": 0, "blockReplication": 1, "blockSize": 1, "action": "add",
        }  # fmt: skip
