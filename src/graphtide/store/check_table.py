"""The check of what is stored, as a table: what is whole, what is damaged, what can be saved."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from graphtide.model.errors import NotFoundError
from graphtide.model.progress import Report
from graphtide.model.schema import name_hint
from graphtide.store.catalog import Catalog
from graphtide.store.check import Checked, Item, all_items, check_item, stored_bytes
from graphtide.store.collection import collection_kind

_COLUMNS = ("kind", "name", "state", "file", "problem", "saved")


def check_catalog(catalog: Catalog, names: Sequence[str], report: Report) -> pa.Table:
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
            raise NotFoundError(
                f"there is no graph, view, collection or run named '{name}'",
                where=str(catalog.root),
                hint=name_hint(name, known, f"there is: {', '.join(known[:10])}", "'"),
            )
    return [item for item in items if not names or item.name in names]


def _rows(catalog: Catalog, found: Checked) -> list[tuple[str | None, ...]]:
    item = found.item
    kind = item.kind if item.kind != "collection" else collection_kind(catalog, item.name)
    known = kind or "collection", item.name
    if not found.damages:
        return [(*known, "ok", None, None, None)]
    return [
        (*known, "damaged", str(damage.file), damage.problem, found.saved)
        for damage in found.damages
    ]
