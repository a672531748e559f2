"""The answers about collections: their views, their plan, how like the views are."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from graphtide.model.errors import InputError
from graphtide.web.json_values import Options
from graphtide.web.shelf import Shelf


def collection(shelf: Shelf, name: str, options: Options) -> dict[str, Any]:
    """What a collection is."""
    opened = shelf.opened("collection", name)
    held = opened.thing
    totals = held.plan.totals
    stored = shelf.is_stored("collection", name)
    return {
        "name": name,
        "graph": held.graph,
        "statement": held.statement,
        "stored": stored,
        "stale": shelf.stale(name) if stored else 0,
        "kind": held.plan.kind,
        "differences": held.differences,
        "totals": {
            "given": totals.given,
            "chain": totals.chain,
            "tree": totals.tree,
            "chain_bound": totals.chain_bound,
            "tree_bound": totals.tree_bound,
        },
        "unviewed": held.unviewed,
        "views": {"names": held.names, "sizes": shelf.view_sizes(name)},
        "runs": shelf.runs_of(name),
        "explain": opened.once("explain", held.explain),
    }


def plan(shelf: Shelf, name: str, options: Options) -> dict[str, Any]:
    """The steps of the plan, a place each."""
    opened = shelf.opened("collection", name)

    def made() -> dict[str, Any]:
        table = opened.thing.to_arrow()
        names, steps = opened.thing.names, opened.thing.plan.steps
        return {
            "view": [None if step.view is None else names[step.view] for step in steps],
            "stone": [step.stone for step in steps],
            "parent": [step.parent for step in steps],
            **{key: table.column(key).to_pylist() for key in ("edges", "inserted", "deleted")},
        }

    return opened.once("plan", made)


def similarity(shelf: Shelf, name: str, options: Options) -> dict[str, Any]:
    """How like the views are, in the given order or in that of the plan."""
    order = options.get("order", "given")
    if order not in ("given", "planned"):
        raise InputError(f"views have no order '{order[:40]}'", hint="given or planned")
    opened = shelf.opened("collection", name)

    def made() -> dict[str, Any]:
        views, matrix = shelf.similarity(name, planned=order == "planned")
        cells = np.clip(np.rint(matrix * 255), 0, 255).astype(np.uint8)
        return {
            "size": len(views),
            "names": views,
            "cells": base64.b64encode(cells.tobytes()).decode(),
        }

    return opened.once(("similarity", order), made)


ROUTES = {
    "collection/*": collection,
    "collection/*/plan": plan,
    "collection/*/similarity": similarity,
}
