"""The answers about runs: what was run, its summary, the results of a view, what changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from graphtide.web.jobs import job_of_run
from graphtide.web.json_values import Options, asked, entire, whole_number
from graphtide.web.shelf import Shelf


def run(shelf: Shelf, name: str, options: Options) -> dict[str, Any]:
    """What was run."""
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
    """A row for each view."""
    opened = shelf.opened("run", name)
    return opened.once("summary", lambda: entire(shelf.summary(opened.apart())))


def record(shelf: Shelf, name: str, options: Options) -> pa.Table:
    """A row for each step of the plan."""
    return _whole(shelf, name, "record", lambda held: held.record())


def workers(shelf: Shelf, name: str, options: Options) -> pa.Table:
    """Who did what, and when."""
    return _whole(shelf, name, "workers", lambda held: held.workers())


def supersteps(shelf: Shelf, name: str, options: Options) -> pa.Table:
    """Of a run on shards, what supersteps took."""
    return _whole(shelf, name, "supersteps", lambda held: held.supersteps())


def globals_(shelf: Shelf, name: str, options: Options) -> pa.Table:
    """The results of the whole graph, a row for each view."""
    return _whole(shelf, name, "globals", lambda held: held.globals())


def table(shelf: Shelf, name: str, options: Options) -> pa.Table:
    """The results of one view."""
    view = asked(options, "view")
    return _read(shelf, name, lambda held: held.table(view))


def changes(shelf: Shelf, name: str, options: Options) -> pa.Table:
    """What differs between two views: `old` is that of `against`."""
    view, against = asked(options, "view"), asked(options, "against")
    return _read(shelf, name, lambda held: held.changes(against, view))


def history(shelf: Shelf, name: str, options: Options) -> pa.Table:
    """The results of one vertex, or of a pair, in every view."""
    text, to = asked(options, "vertex"), options.get("to")
    return entire(_read(shelf, name, lambda held: shelf.history(held, text, to)))


def top(shelf: Shelf, name: str, options: Options) -> pa.Table:
    """Who leads in each view."""
    count, field = max(1, whole_number(options, "count", 10, 1000)), options.get("field")
    made = _whole(shelf, name, ("top", count, field), lambda held: held.top(count, field))
    return entire(made, counted=True)


def losses(shelf: Shelf, name: str, options: Options) -> pa.Table:
    """What was lost in each view beside another."""
    against, field = asked(options, "against"), options.get("field")
    key = ("losses", against, field)
    return _whole(shelf, name, key, lambda held: held.losses(against, field=field))


def components(shelf: Shelf, name: str, options: Options) -> pa.Table:
    """The components of a view."""
    view = asked(options, "view")
    return _read(shelf, name, lambda held: held.components(view))


def matches(shelf: Shelf, name: str, options: Options) -> pa.Table:
    """What walks report in a view."""
    view, kind = asked(options, "view"), options.get("name")
    return _read(shelf, name, lambda held: held.matches(view, kind))


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


def _whole(shelf: Shelf, name: str, key: Any, read: Callable[[Any], Any]) -> pa.Table:
    """A table with rows for views or steps, made once, and without keeping others waiting."""
    opened = shelf.opened("run", name)
    return opened.once(key, lambda: entire(read(opened.apart()).to_arrow()))


def _read(shelf: Shelf, name: str, read: Callable[[Any], Any]) -> pa.Table:
    """A table of one view, which moves the cursor of the run."""
    opened = shelf.opened("run", name)
    with opened.lock:
        return read(opened.thing).to_arrow()
