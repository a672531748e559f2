"""What tasks have written together of a run: files of its parts, and what they tell of them.

The first part has the results of the empty version (`FIELD.base`), each its differences from it
(`FIELD.field`), and the last one perhaps the states that a later run goes on from (`states`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from graphtide.model.checksums import Checksums
from graphtide.store.files import FileFacts
from graphtide.store.generation import Manifest
from graphtide.store.part_chain import TOLD
from graphtide.store.parts_on_disk import PartsOnDisk
from graphtide.store.read_edges import READ_VERTICES

PAGE = 1 << 20
"""A reader that only looks through rows reads this many at a time."""


def base_table(parts: PartsOnDisk, field: str) -> pa.Table:
    """The results of the empty version: `vertex` and `value`."""
    return parts.tables(0, parts.several(0, f"{field}.base-"))


def pages(parts: PartsOnDisk, part: int, stem: str, columns: Sequence[str]) -> Iterator[pa.Table]:
    """The rows of some files, some at a time."""
    for name in parts.several(part, f"{stem}-"):
        for page in parts.generations[part].pages(name, columns, PAGE):
            READ_VERTICES.add(page.num_rows)
            yield page


def paths(parts: PartsOnDisk, part: int, stem: str, checksums: Checksums) -> list[Path]:
    """The paths of some files of a part, after comparing them with the manifest."""
    names = parts.several(part, f"{stem}-")
    parts.generations[part].compare(names, checksums)
    return [parts.generations[part].path / name for name in names]


def listed(parts: PartsOnDisk, part: int, stem: str) -> list[tuple[Path, FileFacts]]:
    """Some files of a part as its manifest lists them, to be linked."""
    generation = parts.generations[part]
    return [
        (generation.path / name, generation.files[name]) for name in parts.several(part, f"{stem}-")
    ]


def told(parts: PartsOnDisk, part: int) -> Manifest:
    """The facts that the tasks which made a part noted in its manifest."""
    manifest: Manifest = parts.generations[part].manifest.get(TOLD) or {}
    return manifest
