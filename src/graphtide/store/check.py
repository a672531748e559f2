"""The check of whole stores: it reads and compares every file, and says what can be saved.

The check trusts no earlier comparison: it reads every file again. It reports an item that it
cannot even open as damaged, and goes on with the others. What follows from other items, lean
graphs and shards, is checked as well, under the names of those. The answer is a table with a row
for each whole item and for each damaged file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pyarrow as pa

from graphtide.model.errors import StoreError
from graphtide.model.progress import ProgressReport
from graphtide.store.catalog import Catalog, not_found
from graphtide.store.collection import collection_kind, stored_collection
from graphtide.store.commit import open_committed, saved_generations
from graphtide.store.files import Damage, find_damage, find_strays
from graphtide.store.generation import MANIFEST, Generation
from graphtide.store.graph import open_graph, stored_graph
from graphtide.store.results import stored_run
from graphtide.store.shards import damaged_supersteps

ItemKind = Literal["graph", "lean graph", "collection", "shards", "run"]

# So many files are read between two reports.
_BATCH = 16

_AGAIN = {
    "lean graph": "all of it is in the graph: the next run on it makes it again",
    "shards": "all of them are in the collection: the next run on shards makes them again",
}

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
        """The name of the item in errors."""
        return f"the {self.kind} {'of ' * self.follows}'{self.name}'"

    @property
    def follows(self) -> bool:
        """True if the item can be made again from the graph or collection of that name."""
        return self.kind in ("lean graph", "shards")


@dataclass(frozen=True)
class CheckedItem:
    """An item, what is wrong with it, and what can be saved of it; whole without damages."""

    item: Item
    damages: tuple[Damage, ...] = ()
    saved: str = ""


def all_items(catalog: Catalog) -> list[Item]:
    """Everything in a catalog: graphs, collections and views, runs, lean graphs and shards."""
    kinds: tuple[tuple[ItemKind, list[str], Callable[[str], Path]], ...] = (
        ("graph", catalog.graphs(), catalog.graph_folder),
        ("collection", catalog.collections(), catalog.collection_folder),
        ("run", catalog.runs(), catalog.run_folder),
        ("lean graph", catalog.lean_graphs(), catalog.lean_folder),
        ("shards", catalog.sharded(), catalog.shards_folder),
    )
    return [Item(kind, name, folder(name)) for kind, names, folder in kinds for name in names]


def stored_bytes(item: Item) -> int:
    """How many bytes a check of the item reads; 0 if it cannot be opened."""
    try:
        return sum(facts.size for part in _generations(item) for facts in part.files.values())
    except StoreError:
        return 0


def check_item(catalog: Catalog, item: Item, read: Read) -> CheckedItem:
    try:
        generations = _generations(item)
        damages = [damage for part in generations for damage in _check(part, read)]
        if item.kind == "run":
            damages += damaged_supersteps(generations[0].path)
        if not damages:
            _open(item, generations[0])
            return CheckedItem(item)
    except StoreError as error:
        problem_text = error.what.removeprefix(f"{item.what} is damaged: ")
        problem = Damage(Path(error.where or item.folder), problem_text)
        return CheckedItem(
            item, (problem,), _AGAIN[item.kind] if item.follows else error.hint or ""
        )
    return CheckedItem(item, tuple(damages), _saved(catalog, item, generations, damages))


def _generations(item: Item) -> list[Generation]:
    committed = open_committed(item.folder, item.what)
    if item.kind != "run":
        return [committed]
    return [committed, *stored_run(item.name, committed).parts.generations]


def _open(item: Item, generation: Generation) -> None:
    """Open the item, which checks that its files fit each other."""
    match item.kind:
        case "graph":
            stored_graph(item.name, generation)
        case "collection":
            stored_collection(item.name, generation)
        case "run":
            stored_run(item.name, generation).steps()
        case "lean graph" | "shards":
            if generation.manifest.get("kind") != item.kind:
                raise generation.damaged(Damage(generation.path / MANIFEST, "is of something else"))


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
        case "lean graph" | "shards":
            return _AGAIN[item.kind]


def _saved_graph(item: Item, generation: Generation, damages: list[Damage]) -> str:
    bad = {damage.file for damage in damages}
    counts = []
    for table in ("vertices", "edges"):
        parts = generation.parts(table)
        whole = sum(rows for name, rows in parts if generation.path / name not in bad)
        counts.append(f"{whole:,} of {sum(rows for _, rows in parts):,} {table}")
    older = saved_generations(item.folder, but=generation.path.name)
    source = generation.manifest.get("source")
    again = f"load it again with replace=True (it came from {source})"
    back = f"; or {older}" if older else ""
    return f"{' and '.join(counts)} are in whole files; {again}{back}"


def _saved_collection(catalog: Catalog, generation: Generation) -> str:
    facts = generation.manifest.get("facts", {})
    graph, statement = str(facts.get("graph")), str(facts.get("statement"))
    first = "" if _is_whole(catalog, graph) else f"load the graph '{graph}' again, then "
    whole = "" if first else f"its graph '{graph}' is whole: "
    return f"{whole}{first}create it again: {statement}"


def _is_whole(catalog: Catalog, graph: str) -> bool:
    try:
        stored = open_graph(catalog, graph)
        return not find_damage(stored.path, stored.generation.files)
    except StoreError:
        return False


def _saved_run(generations: list[Generation], damages: list[Damage]) -> str:
    folders = {damage.file.parent for damage in damages}
    parts = generations[1:]
    whole = sum(part.path not in folders for part in parts)
    if generations[0].path not in folders and whole == len(parts):
        return "what is finished is whole: resume it, and what is damaged is computed again"
    collection = generations[0].manifest.get("run", {}).get("collection")
    text = f"{whole:,} of {len(parts):,} parts of its results are whole"
    return f"{text}; run it again on '{collection}'"


_COLUMNS = ("kind", "name", "state", "file", "problem", "saved")


def check_catalog(catalog: Catalog, names: Sequence[str], report: ProgressReport) -> pa.Table:
    """Compare every file of some items, or of all, with what was written.

    A row an item that is whole, and a row a damaged file of one that is not.
    """
    items = _chosen(catalog, names)
    total, done = sum(stored_bytes(item) for item in items), 0

    def read(size: int) -> None:
        nonlocal done
        done += size
        report(f"{item.kind} {item.name}", done / total if total else None)

    rows: list[tuple[str | None, ...]] = []
    for item in items:
        report(f"{item.kind} {item.name}", done / total if total else None)
        rows += _rows(catalog, check_item(catalog, item, read))
    columns = zip(*rows, strict=True) if rows else [()] * len(_COLUMNS)
    arrays = [pa.array(list(column), pa.string()) for column in columns]
    return pa.table(dict(zip(_COLUMNS, arrays, strict=True)))


def _chosen(catalog: Catalog, names: Sequence[str]) -> list[Item]:
    items = all_items(catalog)
    known = [item.name for item in items]
    for name in names:
        if name not in known:
            raise not_found("graph, view, collection or run", name, known, catalog.root)
    return [item for item in items if not names or item.name in names]


def _rows(catalog: Catalog, found: CheckedItem) -> list[tuple[str | None, ...]]:
    item = found.item
    kind = item.kind if item.kind != "collection" else collection_kind(catalog, item.name)
    known = kind or "collection", item.name
    if not found.damages:
        return [(*known, "ok", None, None, None)]
    return [
        (*known, "damaged", str(damage.file), damage.problem, found.saved)
        for damage in found.damages
    ]
