"""The catalog: folders of graphs, of collections and their shards, and of runs, by name.

The catalog knows which things exist and where they are; it neither reads nor writes them. It lists
damaged things with the rest, so that users can delete and replace them. A single view is a
collection of one.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from graphtide.model import disk
from graphtide.model.disk import reason_of
from graphtide.model.errors import NotFoundError, StoreError
from graphtide.model.names import check_name, folder_name, name_of_folder
from graphtide.model.schema import name_hint
from graphtide.store.commit import is_committed, remove


@dataclass(frozen=True)
class Catalog:
    """All that is stored under one root folder, by sorted names and the folders for them.

    A folder is where something is, or would be. The first writer makes the root folder.
    """

    root: Path

    def graphs(self) -> list[str]:
        return _committed_names(self.root / "graphs")

    def collections(self) -> list[str]:
        return _committed_names(self.root / "collections")

    def runs(self) -> list[str]:
        return _committed_names(self.root / "runs")

    def lean_graphs(self) -> list[str]:
        """The names of the graphs that have a lean graph."""
        return _committed_names(self.root / "lean")

    def sharded(self) -> list[str]:
        """The names of the collections that have shards."""
        return _committed_names(self.root / "shards")

    def graph_folder(self, name: str) -> Path:
        return self._folder("graphs", check_name(name, "graph"))

    def collection_folder(self, name: str) -> Path:
        return self._folder("collections", check_name(name, "collection"))

    def run_folder(self, name: str) -> Path:
        return self._folder("runs", check_name(name, "run"))

    def lean_folder(self, name: str) -> Path:
        """The folder of the lean graph of a graph."""
        return self._folder("lean", check_name(name, "graph"))

    def shards_folder(self, collection: str) -> Path:
        return self._folder("shards", check_name(collection, "collection"))

    def _folder(self, kind: str, name: str) -> Path:
        return disk.below(self.root, f"{kind}/{folder_name(name)}")

    def has_graph(self, name: str) -> bool:
        return is_committed(self.graph_folder(name))

    def has_collection(self, name: str) -> bool:
        return is_committed(self.collection_folder(name))

    def existing_graph(self, name: str) -> Path:
        """The folder of a graph; NotFoundError with the most similar name if it is not there."""
        if self.has_graph(name):
            return self.graph_folder(name)
        raise not_found("graph", name, self.graphs(), self.root)

    def existing_collection(self, name: str) -> Path:
        """The folder of a collection; NotFoundError if it is not there."""
        if self.has_collection(name):
            return self.collection_folder(name)
        failure = not_found("collection", name, self.collections(), self.root)
        if self.has_graph(name):
            failure.hint = f"'{name}' is a graph; programs run on views: create view NAME on {name}"
        raise failure

    def existing_run(self, name: str) -> Path:
        """The folder of a run; NotFoundError if it is not there."""
        if is_committed(self.run_folder(name)):
            return self.run_folder(name)
        raise not_found("run", name, self.runs(), self.root)

    def delete_graph(self, name: str) -> None:
        """Delete a graph. Its collections stay, and raise an error on use."""
        remove(self.existing_graph(name), f"the graph '{name}'")
        if is_committed(self.lean_folder(name)):
            remove(self.lean_folder(name), f"the lean graph of '{name}'")

    def delete_collection(self, name: str) -> None:
        """Delete a collection, with its shards."""
        remove(self.existing_collection(name), f"the collection '{name}'")
        if is_committed(self.shards_folder(name)):
            remove(self.shards_folder(name), f"the shards of '{name}'")

    def delete_run(self, name: str) -> None:
        remove(self.existing_run(name), f"the run '{name}'")


def _committed_names(folder: Path) -> list[str]:
    if not folder.is_dir():
        return []
    try:
        named = [(name_of_folder(name), folder / name) for name in disk.names_in(folder)]
    except OSError as error:
        raise StoreError(
            f"what is stored cannot be listed: {reason_of(error)}", where=str(folder)
        ) from None
    return sorted(name for name, item in named if name is not None and is_committed(item))


def not_found(
    what: str, name: str, known: list[str], root: Path, nothing: str = "there is: none yet"
) -> NotFoundError:
    """The error for a name that is not stored; its hint has the most similar name, or all names."""
    listed = ", ".join(known[:10]) + (", ..." if len(known) > 10 else "")
    hint = name_hint(name, known, f"there is: {listed}" if known else nothing, "'")
    return NotFoundError(f"there is no {what} named '{name}'", where=str(root), hint=hint)
