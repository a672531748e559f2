"""Exports are packed by the ending of their name."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from tests.unit.pictures.made_runs import components


@pytest.mark.parametrize(
    ("ending", "packing"),
    [("csv", None), ("csv.gz", "gzip"), ("csv.bz2", "bz2"), ("CSV.ZST", "zstd")],
)
def test_a_csv_is_packed_by_its_name(tmp_path: Path, ending: str, packing: str | None) -> None:
    run = components(3).run()
    written = run.to_csv(tmp_path / f"found.{ending}")
    with pa.input_stream(written, compression=packing) as stream:
        text = stream.read().decode()
    assert text.splitlines()[0] == '"view","id","component"'
    assert len(text.splitlines()) == 1 + run.to_arrow().num_rows
    assert list(tmp_path.iterdir()) == [written]
