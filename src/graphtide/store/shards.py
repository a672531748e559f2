"""The shards of a collection on disk: the edges of each shard in files that tasks map.

A generation holds a file for each shard that has edges, for each of the two ways along them:

    into-00012-ID.arrays   edges by destination: start, ends, table, classes, a column a property
    out-00012-ID.arrays    the same edges by source

Tasks of Spark write them, each its own, under names that nobody else can have; the driver lists
those that it was told of in one manifest and removes all others. A collection that was made anew
since needs other shards: the manifest names the one that these are of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from graphtide.model import disk
from graphtide.model.checksums import checksums_by_threads
from graphtide.model.errors import DamagedError, NotFoundError, StoreError
from graphtide.store.catalog import Catalog
from graphtide.store.commit import begin, is_committed, open_committed, remove
from graphtide.store.files import Damage, FileFacts
from graphtide.store.generation import MANIFEST, Generation, files_below

SUFFIX = ".arrays"


@dataclass(frozen=True)
class StoredShards:
    """One generation of shards: so many, of so many vertices."""

    generation: Generation
    collection: str
    shards: int
    vertices: int

    def file(self, way: str, shard: int) -> Path | None:
        """The file of a shard, as it was written; None where it has no edges."""
        name = self._names.get((way, shard))
        return None if name is None else self.generation.file(name)

    @cached_property
    def _names(self) -> dict[tuple[str, int], str]:
        parted = ((name.split("-"), name) for name in self.generation.files)
        return {(parts[0], int(parts[1])): name for parts, name in parted if len(parts) == 3}

    @property
    def bytes(self) -> int:
        """What all files take."""
        return sum(facts.size for facts in self.generation.files.values())


def open_shards(catalog: Catalog, collection: str, identity: str) -> StoredShards | None:
    """The shards of a collection as it is now; None where there are none."""
    what = f"the shards of '{collection}'"
    try:
        generation = open_committed(catalog.shards_folder(collection), what)
    except NotFoundError:
        return None
    generation = generation.with_remedy("run it again: the shards are made again then")
    manifest = generation.manifest
    if manifest.get("kind") != "shards" or manifest.get("collection") != identity:
        return None
    shards, vertices = (manifest.get(name) for name in ("shards", "vertices"))
    if not type(shards) is type(vertices) is int or not 1 <= shards <= max(1, vertices) <= 1 << 31:
        raise generation.damaged(
            Damage(generation.path / MANIFEST, f"has {shards!r:.40} shards of {vertices!r:.40}")
        )
    return StoredShards(generation, identity, shards, vertices)


def last_count(catalog: Catalog, collection: str) -> int | None:
    """How many shards a collection had last, as it is now or as it was; None if not known."""
    try:
        manifest = open_committed(catalog.shards_folder(collection)).manifest
    except StoreError:
        return None
    shards = manifest.get("shards")
    return shards if manifest.get("kind") == "shards" and type(shards) is int else None


def discard_damaged(catalog: Catalog, collection: str, error: DamagedError) -> bool:
    """Remove the shards that an error is about, to be made again; False if it is about others."""
    folder = catalog.shards_folder(collection)
    if error.where is None or not Path(error.where).is_relative_to(folder):
        return False
    if is_committed(folder):
        remove(folder, f"the shards of '{collection}'")
    return True


def write_shards(
    catalog: Catalog,
    collection: str,
    identity: str,
    sizes: tuple[int, int],
    fill: Callable[[Path], Mapping[str, FileFacts]],
) -> StoredShards:
    """Shards of a collection: `sizes` are their number and that of vertices.

    `fill` has the files written into a folder, and returns those that count.
    """
    folder = catalog.shards_folder(collection)
    with begin(folder, replace=True, what=f"the shards of '{collection}'") as commit:
        written = fill(commit.path)
        for name in files_below(commit.path):
            if name not in written:
                disk.remove(commit.path / name)
        facts = {"collection": identity, "shards": sizes[0], "vertices": sizes[1]}
        manifest = {"kind": "shards", **facts}
        commit.finish(manifest, checksums=checksums_by_threads, carried=written)
    opened = open_shards(catalog, collection, identity)
    if opened is None:
        raise StoreError(f"somebody else has made the shards of '{collection}' anew")
    return opened
