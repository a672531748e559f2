"""Copies of stores outside the catalog, and back in.

A copy is a store of its own (the same generations and pointer), so that it too is complete or
absent, and it remembers the name it had. A copy keeps the identity of what it copies: a copied
collection still fits the copied graph. Every file is compared with its manifest before it is
copied, so that damage does not spread under a new checksum.
"""

from __future__ import annotations

from pathlib import Path

from graphtide.model import disk
from graphtide.model.disk import disk_errors
from graphtide.model.errors import NotFoundError, StoreError
from graphtide.model.names import name_of_folder
from graphtide.store.catalog import Catalog
from graphtide.store.commit import Commit, begin, open_committed
from graphtide.store.generation import Generation, own_entries


def copy_out(folder: Path, target: Path) -> Path:
    """Copy the generation in force to another folder, replacing an earlier copy there."""
    name = name_of_folder(folder.name) or folder.name
    source = open_committed(folder, f"'{name}'")
    with begin(target, replace=True, what=f"the copy in {target}") as commit:
        _copy(source, commit)
        commit.finish(own_entries(source.manifest) | {"name": name})
    return target


def copy_in(catalog: Catalog, source: Path, wanted: str) -> str:
    """Copy a store that `copy_out` made into the catalog under its old name, and return that.

    `wanted` is `graph` or `collection`. A store of that name is replaced.
    """
    try:
        copy = open_committed(source, f"the copy in {source}")
    except NotFoundError:
        raise NotFoundError(
            f"there is no serialized {wanted} in '{source}'",
            hint="give the folder that 'serialize' wrote",
        ) from None
    manifest = copy.manifest
    kind = "graph" if manifest.get("kind") == "graph" else "collection"
    if kind != wanted:
        raise StoreError(f"'{source}' holds a {kind}, not a {wanted}")
    name = str(manifest.get("name", source.name))
    folder = catalog.graph_folder(name) if kind == "graph" else catalog.collection_folder(name)
    with begin(folder, replace=True, what=f"the {kind} '{name}'") as commit:
        _copy(copy, commit)
        commit.finish(own_entries(manifest))
    return name


def _copy(source: Generation, commit: Commit) -> None:
    """The files that the manifest lists, and no others."""
    source.compare(source.files)
    with disk_errors(commit.what, commit.folder):
        for name in source.files:
            target = commit.path / name
            disk.make_folders_below(commit.path, target.parent)
            disk.copy_file(source.path / name, target)
