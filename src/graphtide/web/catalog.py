"""The answers about the catalog and its graphs."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from graphtide.model.errors import GraphtideError
from graphtide.run.catalog.items import CatalogItem
from graphtide.version import __version__
from graphtide.web.json_values import Options, json_table
from graphtide.web.shelf import Shelf

_FIRST = 20


def catalog(shelf: Shelf, options: Options) -> dict[str, Any]:
    """Everything there is, what is in memory first."""
    items = [_held_item(kind, name, thing) for kind, name, thing in shelf.held()]
    root = None
    if shelf.session is not None and shelf.stored is not None:
        root = str(shelf.session.catalog.root)
        items += [_json_item(item) for item in shelf.stored.all()]
    return {
        "root": root,
        "version": __version__,
        "changes": shelf.changes,
        "store": shelf.session is not None,
        "items": items,
    }


def graph(shelf: Shelf, name: str, options: Options) -> dict[str, Any]:
    """A stored graph: its sizes, its schema, its first edges."""
    held = shelf.graph(name)
    assert shelf.stored is not None
    made = [
        item.name
        for item in shelf.stored.all()
        if item.kind in ("collection", "view") and ("graph", name) in item.behind
    ]
    return {
        "name": name,
        "vertices": held.num_vertices,
        "edges": held.num_edges,
        "directed": held.directed,
        "schema": json_table(shelf.schema(name)),
        "head": json_table(held.head(_FIRST).to_arrow()),
        "collections": made,
    }


def edges(shelf: Shelf, name: str, options: Options) -> pa.Table:
    """The edges of a stored graph."""
    opened = shelf.opened("graph", name)
    return opened.once("edges", lambda: opened.thing.edges().to_arrow())


def vertices(shelf: Shelf, name: str, options: Options) -> pa.Table:
    """The vertices of a stored graph."""
    opened = shelf.opened("graph", name)
    return opened.once("vertices", lambda: opened.thing.vertices().to_arrow())


ROUTES = {
    "catalog": catalog,
    "graph/*": graph,
    "graph/*/edges": edges,
    "graph/*/vertices": vertices,
}


def _json_item(item: CatalogItem) -> dict[str, Any]:
    made_from = None
    if item.made_from is not None:
        made_from = {"kind": item.made_from[0], "name": item.made_from[1]}
    answer: dict[str, Any] = {"kind": item.kind, "name": item.name, "state": item.state}
    answer |= {"made_from": made_from, "facts": item.facts}
    return answer if item.note is None else answer | {"note": item.note}


def _held_item(kind: str, name: str, thing: Any) -> dict[str, Any]:
    """Something in memory."""
    facts: dict[str, Any] = {}
    made_from, state = None, "ok"
    try:
        if kind == "collection":
            facts = {"views": len(thing), "plan": thing.plan.kind}
            facts |= {"differences": thing.differences, "given order": thing.plan.totals.given}
        elif kind == "run":
            facts = {"program": thing.program, "views": len(thing.views), "finished": len(thing)}
            facts |= {"strategy": thing.strategy, "seconds": round(thing.seconds, 3)}
            made_from = {"kind": "collection", "name": thing.collection}
            state = "ok" if thing.finished else "left off"
        else:
            facts = {"vertices": thing.num_vertices, "edges": thing.num_edges}
            facts |= {"programs": len(thing.programs)} if hasattr(thing, "programs") else {}
    except GraphtideError as error:
        return _json_item(CatalogItem(kind, name, "damaged", None, {}, error.what))  # type: ignore[arg-type]
    return {
        "kind": kind,
        "name": name,
        "state": state,
        "made_from": made_from,
        "facts": facts,
        "note": "in memory",
    }
