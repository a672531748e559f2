"""What a page may ask, by path: the answers of `types.d.ts`, as values that JSON has.

A path is parts between slashes, where `*` stands for a name. The answers about graphs, collections
and runs stand here; other modules of answers define tables of theirs by their patterns:

- `ROUTES`: functions of the shelf, the names and the options. One that returns an Arrow table is
  paged, and can be downloaded whole.
- `POSTS`: functions of the shelf, the names and the body, each with whether it changes something:
  then it is refused unless the shelf allows changes.
- `EVENTS`: functions of the shelf and the names that return an iterator of what to report, each
  item the whole state. It may block, and yields None at least once a second where there is nothing
  to report, so that it ends soon after nobody listens.

What is read of a run moves its cursor, so whoever reads holds the lock of what was opened.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphtide.model.errors import GraphtideError, InputError, NotFoundError
from graphtide.model.text import visible
from graphtide.run.catalog.items import CatalogItem
from graphtide.version import __version__
from graphtide.web import drawings, gvdl, jobs, live
from graphtide.web.jobs import job_of_run
from graphtide.web.json_values import (
    NotAllowedError,
    Options,
    asked,
    entire,
    json_table,
    ordered,
    searched,
    table_page,
    whole_number,
)
from graphtide.web.shelf import Shelf

_FIRST = 20


def catalog(shelf: Shelf, options: Options) -> dict[str, Any]:
    """Everything there is, objects in memory first."""
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
    opened = shelf.opened("graph", name)
    return opened.once("edges", lambda: opened.thing.edges().to_arrow())


def vertices(shelf: Shelf, name: str, options: Options) -> pa.Table:
    opened = shelf.opened("graph", name)
    return opened.once("vertices", lambda: opened.thing.vertices().to_arrow())


def _json_item(item: CatalogItem) -> dict[str, Any]:
    made_from = None
    if item.made_from is not None:
        made_from = {"kind": item.made_from[0], "name": item.made_from[1]}
    answer: dict[str, Any] = {"kind": item.kind, "name": item.name, "state": item.state}
    answer |= {"made_from": made_from, "facts": item.facts}
    return answer if item.note is None else answer | {"note": item.note}


def _held_item(kind: str, name: str, thing: Any) -> dict[str, Any]:
    """An object in memory as an item of the catalog."""
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


def collection(shelf: Shelf, name: str, options: Options) -> dict[str, Any]:
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
    """The steps of the plan, as columns."""
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
    """How similar views are, in the given order or in that of the plan."""
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


_OTHER = "other_"
Truths = Any
"""An array of truth values."""


def compare(shelf: Shelf, options: Options) -> pa.Table:
    """The vertices of both views with both results; with `differs`, those whose results differ.

    A vertex that only one of them has is there, too: what it lacks is missing.
    """
    (one, keys), (other, other_keys) = (
        _results(shelf, asked(options, run), asked(options, view))
        for run, view in (("run", "view"), ("other", "other_view"))
    )
    if keys != other_keys:
        raise InputError(
            "the results of one are those of vertices, the results of the other those of pairs",
            hint="compare runs of one kind",
        )
    one, other = _by_key(one, other, keys)
    fields = [name for name in one.column_names if name not in keys]
    columns = {name: one.column(name) for name in one.column_names}
    columns |= {
        _free(_OTHER + name, columns): other.column(name)
        for name in other.column_names
        if name not in keys
    }
    if options.get("differs") != "1":
        return pa.table(columns)
    common = [name for name in fields if name in other.column_names]
    return pa.table(columns).filter(_differ(one, other, common))


def _results(shelf: Shelf, name: str, view: str) -> tuple[pa.Table, list[str]]:
    """The results of a view, and the columns that identify its rows."""
    opened = shelf.opened("run", name)
    with opened.lock:
        return opened.thing.table(view).to_arrow(), shelf.key_columns(opened.thing)


def _by_key(one: pa.Table, other: pa.Table, keys: list[str]) -> tuple[pa.Table, pa.Table]:
    """Both tables with one row for each key of either, in the order of the first."""
    if one.select(keys).equals(other.select(keys)):
        return one, other
    if any(one.column(key).type != other.column(key).type for key in keys):
        one, other = (_with_texts(table, keys) for table in (one, other))
    left, right = (_one_key(table, keys) for table in (one, other))
    further = pc.invert(pc.is_in(right, value_set=left))
    place = pc.index_in(left, value_set=right)
    more = other.filter(further)
    matched = pa.concat_tables([other.take(place), more])
    missing = pa.table(
        {
            name: more.column(name) if name in keys else pa.nulls(len(more), one.column(name).type)
            for name in one.column_names
        }
    )
    return pa.concat_tables([one, missing]), matched


def _one_key(table: pa.Table, keys: list[str]) -> pa.Array:
    if len(keys) == 1:
        return table.column(keys[0]).combine_chunks()
    texts = [pc.cast(table.column(key), pa.string()) for key in keys]
    return pc.binary_join_element_wise(*texts, "\0").combine_chunks()


def _with_texts(table: pa.Table, keys: list[str]) -> pa.Table:
    for key in keys:
        at = table.column_names.index(key)
        table = table.set_column(at, key, pc.cast(table.column(key), pa.string()))
    return table


def _differ(one: pa.Table, other: pa.Table, names: list[str]) -> Truths:
    """For each row, whether a result that both have differs."""
    differs = pa.chunked_array([pa.repeat(pa.scalar(not names), len(one))])
    for name in names:
        differs = pc.or_(differs, _unlike(one.column(name), other.column(name)))
    return differs


def _unlike(left: pa.ChunkedArray, right: pa.ChunkedArray) -> Truths:
    """Where two columns differ. Missing equals missing, and NaN equals NaN."""
    numbers = all(
        pa.types.is_integer(side.type) or pa.types.is_floating(side.type) for side in (left, right)
    )
    if not numbers and (left.type != right.type or pa.types.is_nested(left.type)):
        pairs = zip(left.to_pylist(), right.to_pylist(), strict=True)
        return pa.chunked_array([pa.array([str(a) != str(b) for a, b in pairs], pa.bool_())])
    unlike = pc.fill_null(pc.not_equal(left, right), False)
    if pa.types.is_floating(left.type) and pa.types.is_floating(right.type):
        both = pc.and_(pc.is_nan(left), pc.is_nan(right))
        unlike = pc.and_(unlike, pc.invert(pc.fill_null(both, False)))
    return pc.or_(unlike, pc.xor(pc.is_null(left), pc.is_null(right)))


def _free(name: str, taken: dict[str, Any]) -> str:
    while name in taken:
        name += "_"
    return name


def run(shelf: Shelf, name: str, options: Options) -> dict[str, Any]:
    opened = shelf.opened("run", name)
    with opened.lock:
        held = opened.thing
        facts = shelf.run_facts(held)
        return {
            "name": name,
            "program": held.program,
            "collection": held.collection,
            "fields": list(held.fields),
            "kept": held.kept,
            "finished": held.finished,
            "done": len(held),
            "views": held.views,
            "mode": held.mode,
            "strategy": held.strategy,
            "seconds": held.seconds,
            "of_pairs": held.of_pairs,
            "matches": [item.name for item in facts.matches],
            "globals": bool(facts.globals),
            "drawable": shelf.drawable(name),
            "naming": [field for field in held.fields if field in facts.naming],
            "explain": opened.once("explain", held.explain),
            "job": job_of_run(shelf, name),
            "resumable": shelf.resumable(name),
        }


def summary(shelf: Shelf, name: str, options: Options) -> pa.Table:
    """One row for each view."""
    opened = shelf.opened("run", name)
    return opened.once("summary", lambda: entire(shelf.summary(opened.apart())))


def table(shelf: Shelf, name: str, options: Options) -> pa.Table:
    view = asked(options, "view")
    return _read(shelf, name, lambda held: held.table(view))


def changes(shelf: Shelf, name: str, options: Options) -> pa.Table:
    """What differs between two views; `old` is the value in `against`."""
    view, against = asked(options, "view"), asked(options, "against")
    return _read(shelf, name, lambda held: held.changes(against, view))


def history(shelf: Shelf, name: str, options: Options) -> pa.Table:
    """The results of one vertex or pair in every view."""
    text, to = asked(options, "vertex"), options.get("to")
    return entire(_read(shelf, name, lambda held: shelf.history(held, text, to)))


def top(shelf: Shelf, name: str, options: Options) -> pa.Table:
    """The greatest values of each view."""
    count, field = max(1, whole_number(options, "count", 10, 1000)), options.get("field")
    made = _whole(shelf, name, ("top", count, field), lambda held: held.top(count, field))
    return entire(made, counted=True)


def losses(shelf: Shelf, name: str, options: Options) -> pa.Table:
    """What each view lost in comparison with another."""
    against, field = asked(options, "against"), options.get("field")
    key = ("losses", against, field)
    return _whole(shelf, name, key, lambda held: held.losses(against, field=field))


def components(shelf: Shelf, name: str, options: Options) -> pa.Table:
    """The components of a view."""
    view = asked(options, "view")
    return _read(shelf, name, lambda held: held.components(view))


def matches(shelf: Shelf, name: str, options: Options) -> pa.Table:
    """The rows that walks report in a view."""
    view, kind = asked(options, "view"), options.get("name")
    return _read(shelf, name, lambda held: held.matches(view, kind))


def _whole(shelf: Shelf, name: str, key: Any, read: Callable[[Any], Any]) -> pa.Table:
    """A table with rows for views or steps, made once, without keeping others waiting."""
    opened = shelf.opened("run", name)
    return opened.once(key, lambda: entire(read(opened.apart()).to_arrow()))


def _read(shelf: Shelf, name: str, read: Callable[[Any], Any]) -> pa.Table:
    """A table of one view; reading it moves the cursor of the run."""
    opened = shelf.opened("run", name)
    with opened.lock:
        return read(opened.thing).to_arrow()


def _steps_table(shelf: Shelf, name: str, options: Options, *, method: str) -> pa.Table:
    """A table of a run with a row for each view, step, superstep or worker."""
    return _whole(shelf, name, method, lambda held: getattr(held, method)())


_STORED: dict[str, Callable[..., Any]] = {
    "catalog": catalog,
    "graph/*": graph,
    "graph/*/edges": edges,
    "graph/*/vertices": vertices,
    "collection/*": collection,
    "collection/*/plan": plan,
    "collection/*/similarity": similarity,
    "compare": compare,
    "run/*": run,
    "run/*/summary": summary,
    **{
        f"run/*/{method}": partial(_steps_table, method=method)
        for method in ("record", "workers", "supersteps", "globals")
    },
    "run/*/table": table,
    "run/*/changes": changes,
    "run/*/history": history,
    "run/*/top": top,
    "run/*/losses": losses,
    "run/*/components": components,
    "run/*/matches": matches,
}


Route = Callable[..., Any]


def _merged(name: str) -> dict[str, Any]:
    modules: tuple[Any, ...] = (drawings, gvdl, jobs, live)
    return {
        pattern: target
        for module in modules
        for pattern, target in getattr(module, name, {}).items()
    }


ROUTES: dict[str, Route] = _STORED | _merged("ROUTES")
"""The function of each path; called with the shelf, a name for each `*`, and the options."""

POSTS: dict[str, tuple[Route, bool]] = _merged("POSTS")
"""The function of each path that is posted to, and whether it changes something that stays."""

EVENTS: dict[str, Route] = _merged("EVENTS")
"""The function of each path that reports as it goes."""


class Answers:
    """Answers from one shelf."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf

    def get(self, path: str, options: Options) -> Any:
        """The answer to a path, as values that JSON has."""
        answer = self.asked(path, options)
        return table_page(answer, options) if isinstance(answer, pa.Table) else answer

    def table(self, path: str, options: Options) -> pa.Table:
        """The whole table behind a path, searched and sorted, for a download."""
        answer = self.asked(path, options)
        if not isinstance(answer, pa.Table):
            raise NotFoundError(f"'{path}' is no table", hint="save one of the page's tables")
        return ordered(searched(answer, options.get("search", "")), options)

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """Carry something out. Changes are refused unless the shelf allows them."""
        (carry_out, changes), names = _found(POSTS, path)
        if changes and not self.shelf.changes:
            raise NotAllowedError(
                "this page is for reading only",
                hint="open it for changes: graphtide open --allow-changes, or "
                ".open(allow_changes=True)",
            )
        return carry_out(self.shelf, *names, body)

    def events(self, path: str) -> Iterator[Any]:
        """The events of a path as they come; None where there is nothing new."""
        route, names = _found(EVENTS, path)
        return iter(route(self.shelf, *names))

    def asked(self, path: str, options: Options) -> Any:
        """The answer to a path; a table is returned whole."""
        route, names = _found(ROUTES, path)
        return route(self.shelf, *names, options)


def _found(table: dict[str, Any], path: str) -> tuple[Any, list[str]]:
    """The target of a path, and what stands for the stars of its pattern."""
    parts = [unquote(part) for part in path.split("/")]
    for pattern, target in table.items():
        names = _names(pattern.split("/"), parts)
        if names is not None:
            return target, names
    raise NotFoundError(f"the page knows no '{visible(path[:80])}'", hint="begin at the catalog")


def _names(pattern: list[str], parts: list[str]) -> list[str] | None:
    """What stands for the stars of a pattern; None if the path does not fit."""
    if len(pattern) != len(parts):
        return None
    names = []
    for wanted, part in zip(pattern, parts, strict=True):
        if wanted == "*":
            names.append(part)
        elif wanted != part:
            return None
    return names
