"""Shards in the catalog: those of a collection as it is, without what was left beside them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from graphtide.model.errors import DamagedError
from graphtide.store.arrays import map_arrays, write_arrays
from graphtide.store.catalog import Catalog
from graphtide.store.commit import begin
from graphtide.store.files import FileFacts
from graphtide.store.shards import open_shards, write_shards

TOLD = "into-00002-abc.arrays"


def fill(folder: Path) -> dict[str, FileFacts]:
    """A task tells of a file; another one was tried twice, and killed once."""
    (folder / "into-00002-killed.arrays").write_bytes(b"half")
    return {TOLD: write_arrays(folder / TOLD, {"ends": np.arange(3)})}


def test_shards_are_those_of_the_collection_as_it_is(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path)
    with begin(catalog.collection_folder("c"), replace=False, what="c") as commit:
        commit.finish({"kind": "collection"})
    assert open_shards(catalog, "c", "of now") is None
    made = write_shards(catalog, "c", "of now", (4, 9), fill)
    assert (made.shards, made.vertices) == (4, 9)
    found = open_shards(catalog, "c", "of now")
    assert found is not None
    path = found.file("into", 2)
    assert path is not None
    assert map_arrays(path)["ends"].tolist() == [0, 1, 2]
    assert found.file("out", 2) is None
    assert [item.name for item in path.parent.glob("*.arrays")] == [TOLD]
    assert open_shards(catalog, "c", "made anew") is None
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DamagedError, match="the shards of 'c' is damaged"):
        found.file("into", 2)
    catalog.delete_collection("c")
    assert not catalog.shards_folder("c").exists()
