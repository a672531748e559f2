"""Copies of stores outside the catalog, and back in.

A copy is a store of its own (the same generations and pointer), so that it too is complete or
absent, and it remembers the name it had. Identities are kept: a copied collection still fits
the copied graph.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from graphtide.model.errors import NotFoundError, StoreError
from graphtide.store.catalog import Catalog
from graphtide.store.commit import Manifest, begin, open_committed


def copy_out(folder: Path, target: Path) -> Path:
    """Copy the generation in force to another folder, replacing an earlier copy there."""
    path, manifest = open_committed(folder)
    with begin(target, replace=True, what=f"the copy in {target}") as commit:
        _copy(path, commit.path)
        commit.finish(_own(manifest) | {"name": folder.name})
    return target


def copy_in(catalog: Catalog, source: Path, wanted: str) -> str:
    """Copy a store that `copy_out` made into the catalog under its old name, and return that.

    `wanted` is `graph` or `collection`. A store of that name is replaced.
    """
    try:
        path, manifest = open_committed(source)
    except NotFoundError:
        raise NotFoundError(
            f"there is no serialized {wanted} in '{source}'",
            hint="give the folder that 'serialize' wrote",
        ) from None
    found = "graph" if manifest.get("kind") == "graph" else "collection"
    if found != wanted:
        raise StoreError(f"'{source}' holds a {found}, not a {wanted}")
    name = str(manifest.get("name", source.name))
    folder = catalog.graph_folder(name) if found == "graph" else catalog.collection_folder(name)
    with begin(folder, replace=True, what=f"the {found} '{name}'") as commit:
        _copy(path, commit.path)
        commit.finish(_own(manifest))
    return name


def _copy(source: Path, target: Path) -> None:
    for item in source.iterdir():
        if item.is_dir():
            shutil.copytree(item, target / item.name)
        elif item.name != "manifest.json":
            shutil.copy2(item, target / item.name)


def _own(manifest: Manifest) -> Manifest:
    """A manifest without what belongs to the generation that it described."""
    return {key: value for key, value in manifest.items() if key not in ("format", "generation")}
