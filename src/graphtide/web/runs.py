"""The answers about runs: what was run, its summary, the results of a view, what changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from graphtide.model.errors import InputError
from graphtide.web.jobs import job_of_run
from graphtide.web.shelf import Opened, Shelf
from graphtide.web.tables import Options, whole_number


def run(shelf: Shelf, name: str, options: Options) -> dict[str, Any]:
    """What was run."""
    opened = shelf.opened("run", name)
    with opened.lock:
        held = opened.thing
        facts = held._contents.facts
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
    """A row for each view."""
    opened = shelf.opened("run", name)
    return opened.once("summary", lambda: shelf.summary(name))


def record(shelf: Shelf, name: str, options: Options) -> pa.Table:
    """A row for each step of the plan."""
    return _once(shelf, name, "record")


def workers(shelf: Shelf, name: str, options: Options) -> pa.Table:
    """Who did what, and when."""
    return _once(shelf, name, "workers")


def supersteps(shelf: Shelf, name: str, options: Options) -> pa.Table:
    """Of a run on shards, what supersteps took."""
    return _once(shelf, name, "supersteps")


def globals_(shelf: Shelf, name: str, options: Options) -> pa.Table:
    """The results of the whole graph, a row for each view."""
    return _once(shelf, name, "globals")


def table(shelf: Shelf, name: str, options: Options) -> pa.Table:
    """The results of one view."""
    view = _option(options, "view")
    return _read(shelf, name, ("table", view), lambda held: held.table(view))


def changes(shelf: Shelf, name: str, options: Options) -> pa.Table:
    """What differs between two views: `old` is that of `against`."""
    view, against = _option(options, "view"), _option(options, "against")
    return _read(shelf, name, ("changes", view, against), lambda held: held.changes(against, view))


def history(shelf: Shelf, name: str, options: Options) -> pa.Table:
    """The results of one vertex, or of a pair, in every view."""
    text, to = _option(options, "vertex"), options.get("to")
    return _read(shelf, name, None, lambda held: shelf.history(held, text, to))


def top(shelf: Shelf, name: str, options: Options) -> pa.Table:
    """Who leads in each view."""
    count, field = max(1, whole_number(options, "count", 10, 10_000)), options.get("field")
    opened = shelf.opened("run", name)
    made = lambda: opened.thing.top(count, field).to_arrow()  # noqa: E731
    return opened.once(("top", count, field), made)


def losses(shelf: Shelf, name: str, options: Options) -> pa.Table:
    """What was lost in each view beside another."""
    against, field = _option(options, "against"), options.get("field")
    opened = shelf.opened("run", name)
    made = lambda: opened.thing.losses(against, field=field).to_arrow()  # noqa: E731
    return opened.once(("losses", against, field), made)


def components(shelf: Shelf, name: str, options: Options) -> pa.Table:
    """The components of a view."""
    view = _option(options, "view")
    return _read(shelf, name, ("components", view), lambda held: held.components(view))


def matches(shelf: Shelf, name: str, options: Options) -> pa.Table:
    """What walks report in a view."""
    view, kind = _option(options, "view"), options.get("name")
    return _read(shelf, name, ("matches", view, kind), lambda held: held.matches(view, kind))


ROUTES: dict[str, Callable[..., Any]] = {
    "run/*": run,
    "run/*/summary": summary,
    "run/*/record": record,
    "run/*/workers": workers,
    "run/*/supersteps": supersteps,
    "run/*/globals": globals_,
    "run/*/table": table,
    "run/*/changes": changes,
    "run/*/history": history,
    "run/*/top": top,
    "run/*/losses": losses,
    "run/*/components": components,
    "run/*/matches": matches,
}


def _once(shelf: Shelf, name: str, what: str) -> pa.Table:
    opened = shelf.opened("run", name)
    return opened.once(what, lambda: getattr(opened.thing, what)().to_arrow())


def _read(shelf: Shelf, name: str, key: Any, read: Callable[[Any], Any]) -> pa.Table:
    opened: Opened = shelf.opened("run", name)
    with opened.lock:
        return read(opened.thing).to_arrow()


def _option(options: Options, name: str) -> str:
    text = options.get(name)
    if text is None:
        raise InputError(f"the page did not say which {name}", hint=f"give {name}=...")
    return text
