"""The check of whole stores: it reads and compares every file, and says what can be saved.

The check trusts no earlier comparison: it reads every file again. It reports an item that it cannot
even open as damaged, and goes on with the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from graphtide.model.errors import StoreError
from graphtide.store.catalog import Catalog
from graphtide.store.collection import stored_collection
from graphtide.store.commit import open_committed, saved_generations
from graphtide.store.files import Damage, find_damage, find_strays
from graphtide.store.generation import Generation
from graphtide.store.graph import open_graph, stored_graph
from graphtide.store.results import stored_run

ItemKind = Literal["graph", "collection", "run"]

# So many files are read between two reports.
_BATCH = 16

Read = Callable[[int], None]
"""Called with the number of bytes that have been read."""


@dataclass(frozen=True)
class Item:
    """Something in the catalog by its name."""

    kind: ItemKind
    name: str
    folder: Path

    @property
    def what(self) -> str:
        """As errors call it."""
        return f"the {self.kind} '{self.name}'"


@dataclass(frozen=True)
class Checked:
    """An item, what is wrong with it, and what can be saved of it; whole without damages."""

    item: Item
    damages: tuple[Damage, ...] = ()
    saved: str = ""


def all_items(catalog: Catalog) -> list[Item]:
    """Everything in a catalog: graphs, then collections and views, then runs."""
    return [
        *(Item("graph", name, catalog.graph_folder(name)) for name in catalog.graphs()),
        *(
            Item("collection", name, catalog.collection_folder(name))
            for name in catalog.collections()
        ),
        *(Item("run", name, catalog.run_folder(name)) for name in catalog.runs()),
    ]


def stored_bytes(item: Item) -> int:
    """The bytes that a check of an item reads; nothing if it cannot be opened."""
    try:
        return sum(facts.size for part in _generations(item) for facts in part.files.values())
    except StoreError:
        return 0


def check_item(catalog: Catalog, item: Item, read: Read) -> Checked:
    """Read every file of an item and compare it with what was written."""
    try:
        generations = _generations(item)
        damages = [damage for part in generations for damage in _check(part, read)]
        if not damages:
            _open(item, generations[0])
            return Checked(item)
    except StoreError as error:
        told = error.what.removeprefix(f"{item.what} is damaged: ")
        problem = Damage(Path(error.where or item.folder), told)
        return Checked(item, (problem,), error.hint or "")
    return Checked(item, tuple(damages), _saved(catalog, item, generations, damages))


def _generations(item: Item) -> list[Generation]:
    """The generation in force, and behind it the parts of a run."""
    found = open_committed(item.folder, item.what)
    if item.kind != "run":
        return [found]
    return [found, *stored_run(item.name, found).parts.generations]


def _open(item: Item, generation: Generation) -> None:
    """What files say must also make sense together."""
    match item.kind:
        case "graph":
            stored_graph(item.name, generation)
        case "collection":
            stored_collection(item.name, generation)
        case "run":
            stored_run(item.name, generation).steps()


def _check(generation: Generation, read: Read) -> Iterator[Damage]:
    names = sorted(generation.files)
    for at in range(0, len(names), _BATCH):
        expected = {name: generation.files[name] for name in names[at : at + _BATCH]}
        yield from find_damage(generation.path, expected, again=True)
        read(sum(facts.size for facts in expected.values()))
    for folder in {Path(name).parent for name in generation.files} - {Path()}:
        known = [Path(name).name for name, _ in generation.parts(folder.as_posix())]
        if (generation.path / folder).is_dir():
            yield from find_strays(generation.path / folder, known)


def _saved(
    catalog: Catalog, item: Item, generations: list[Generation], damages: list[Damage]
) -> str:
    match item.kind:
        case "graph":
            return _saved_graph(item, generations[0], damages)
        case "collection":
            return _saved_collection(catalog, generations[0])
        case "run":
            return _saved_run(generations, damages)


def _saved_graph(item: Item, generation: Generation, damages: list[Damage]) -> str:
    bad = {damage.file for damage in damages}
    told = []
    for table in ("vertices", "edges"):
        parts = generation.parts(table)
        whole = sum(rows for name, rows in parts if generation.path / name not in bad)
        told.append(f"{whole:,} of {sum(rows for _, rows in parts):,} {table}")
    older = saved_generations(item.folder, but=generation.path.name)
    source = generation.manifest.get("source")
    again = f"load it again with replace=True (it came from {source})"
    back = f"; or {older}" if older else ""
    return f"{' and '.join(told)} are in whole files; {again}{back}"


def _saved_collection(catalog: Catalog, generation: Generation) -> str:
    facts = generation.manifest.get("facts", {})
    graph, statement = str(facts.get("graph")), str(facts.get("statement"))
    first = "" if _is_whole(catalog, graph) else f"load the graph '{graph}' again, then "
    whole = "" if first else f"its graph '{graph}' is whole: "
    return f"{whole}{first}create it again: {statement}"


def _is_whole(catalog: Catalog, graph: str) -> bool:
    try:
        found = open_graph(catalog, graph)
        return not find_damage(found.path, found.generation.files)
    except StoreError:
        return False


def _saved_run(generations: list[Generation], damages: list[Damage]) -> str:
    folders = {damage.file.parent for damage in damages}
    parts = generations[1:]
    whole = sum(part.path not in folders for part in parts)
    collection = generations[0].manifest.get("run", {}).get("collection")
    told = f"{whole:,} of {len(parts):,} parts of its results are whole"
    return f"{told}; run it again on '{collection}'"
