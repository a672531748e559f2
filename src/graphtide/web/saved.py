"""A saved file: the page and what it will ask for, in one file that works from disk.

A run over thousands of views has more than any file should hold. So there is a limit in bytes, and
an order: what a page opens with comes first, then something of each view (views from all over the
collection before their neighbours), then drawings and histories. Tables of views are whole where
all of them fit, or else their first rows by result; the page searches and sorts what is there, and
a line at its end says what is not.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from graphtide.model.errors import GraphtideError, InputError
from graphtide.model.paths import given_path
from graphtide.model.wording import counted
from graphtide.store.whole_files import whole_stream
from graphtide.version import __version__
from graphtide.web.answers import Answers
from graphtide.web.one_file import asked_path, one_file
from graphtide.web.shelf import Shelf
from graphtide.web.tables import json_table

MEGABYTE = 1 << 20
TABLES, CHANGES, DRAWINGS = 0.45, 0.2, 0.2
"""Shares of the limit that these may take; histories take what is left."""
DRAWN = {"most": 500}
IDS = {"id", "src", "dst", "vertex"}
FEWEST_ROWS = 20
LEADERS, HISTORIES = 10, 50
DRAWN_VIEWS = 60


def save_html(thing: Any, path: str | os.PathLike[str], *, most: float = 20) -> Path:
    """Write a run or a collection as one page, of at most so many megabytes beside the page itself.

    It works from disk, asks no server for anything, and says at its end what it leaves out.
    """
    target = given_path(path)
    if not most > 0:
        raise InputError(f"a file cannot hold {most} megabytes", hint="most=20 is usual")
    shelf = Shelf()
    page = saved_page(Answers(shelf), [shelf.put(thing)], int(most * MEGABYTE))
    with whole_stream(target) as stream:
        stream.write(page.encode())
    return target


def saved_page(answers: Answers, places: list[list[str]], most: int) -> str:
    """The page that begins at the first of some places, with answers of at most so many bytes."""
    taken = Taken(answers, most)
    for kind, name in places:
        {"run": _take_run, "collection": _take_collection}[kind](taken, name)
    taken.put("catalog", _catalog(answers, places))
    return one_file(start=places[0], answers=taken.texts, note=_note(taken, places))


class Taken:
    """Answers for a file, by path and as JSON, of at most so many bytes."""

    def __init__(self, answers: Answers, most: int) -> None:
        self.answers = answers
        self.most, self.bytes = most, 0
        self.texts: dict[str, str] = {}
        self.left_out: list[str] = []

    def put(self, path: str, answer: Any) -> None:
        """Take an answer whatever its size."""
        text = json.dumps(answer, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        self.texts[path] = text
        self.bytes += len(path) + len(text)

    def take(
        self, *parts: str, rows: int | None = None, limit: int | None = None, **options: Any
    ) -> bool:
        """Take the answer to a path if there is one and it fits below a limit of bytes.

        Of a table it is whole, or so many rows.
        """
        path = asked_path(*parts, **options)
        if path in self.texts:
            return True
        try:
            answer = self._answer(path.split("?")[0], options, rows)
        except GraphtideError:
            return False
        before = self.bytes
        self.put(path, answer)
        if self.bytes <= (self.most if limit is None else min(limit, self.most)):
            return True
        del self.texts[path]
        self.bytes = before
        return False

    def _answer(self, path: str, options: dict[str, Any], rows: int | None) -> Any:
        chosen = {name: str(value) for name, value in options.items() if value is not None}
        answer = self.answers.asked(path, chosen)
        if not isinstance(answer, pa.Table):
            return answer
        if rows is None or rows >= len(answer):
            return json_table(answer)
        first, note = first_rows(answer, rows)
        return json_table(first, rows=len(answer)) | {"note": note}

    def missed(self, held: list[bool], what: str) -> None:
        """Note of how many views something is left out, if it is there for others."""
        if any(held) and not all(held):
            views = counted(len(held), "view")
            self.left_out.append(f"{what} of {held.count(False):,} of {views}")

    def share(self, part: float) -> int:
        """Up to how many bytes something may be taken now, whose share of the whole this is."""
        return min(self.most, self.bytes + int(part * self.most))


def first_rows(table: pa.Table, count: int) -> tuple[pa.Table, str]:
    """The rows that changed most, or with the greatest result, and a sentence that says so."""
    numbers = [name for name in table.column_names if _is_number(table.column(name).type)]
    results = [name for name in numbers if name not in IDS]
    if {"old", "new"} <= set(results):
        old, new = (pc.cast(table.column(name), "float64") for name in ("old", "new"))
        said, by = "changed most", pc.abs(pc.subtract(new, old))
    elif results:
        said, by = f"have the greatest {results[0]}", table.column(results[0])
    else:
        return table.slice(0, count), f"The file holds the first {count:,} rows."
    at = pc.select_k_unstable(pa.table({"by": by}), count, [("by", "descending")])
    return table.take(at), f"The file holds the {count:,} rows that {said}."


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _take_run(taken: Taken, name: str) -> None:
    run = ("run", name)
    facts = taken.answers.get(asked_path(*run), {}) | {"job": None, "resumable": False}
    taken.put(asked_path(*run), facts)
    for table in ("summary", "record", "workers", "supersteps", "globals"):
        taken.take(*run, table)
    if facts["kept"]:
        views = _spread(facts["views"][: facts["done"]])
        _take_leaders(taken, name, facts["fields"])
        _take_tables(taken, name, views)
        _take_changes(taken, name, views, facts["views"])
        if facts["drawable"]:
            _take_drawings(taken, "run", name, views)
        _take_histories(taken, name)


def _take_collection(taken: Taken, name: str) -> None:
    whole = ("collection", name)
    facts = taken.answers.get(asked_path(*whole), {})
    taken.put(asked_path(*whole), facts)
    taken.take(*whole, "plan")
    for order in ("given", "planned"):
        taken.take(*whole, "similarity", order=order)
    _take_drawings(taken, "collection", name, _spread(facts["views"]["names"]))


def _take_leaders(taken: Taken, name: str, fields: list[str]) -> None:
    for field in (None, *fields):
        taken.take("run", name, "top", count=LEADERS, field=field)


def _take_tables(taken: Taken, name: str, views: list[str]) -> None:
    """The results of all views, as many rows of each as fit."""
    limit = taken.share(TABLES)
    rows = _rows_that_fit(taken, views, limit - taken.bytes, "run", name, "table")
    held = [taken.take("run", name, "table", rows=rows, limit=limit, view=view) for view in views]
    taken.missed(held, "results")
    for view in views:
        taken.take("run", name, "components", rows=rows, limit=limit, view=view)


def _take_changes(taken: Taken, name: str, views: list[str], given: list[str]) -> None:
    """What changed in each view against the one before it."""
    limit, place = taken.share(CHANGES), {view: at for at, view in enumerate(given)}
    later = [view for view in views if place[view] > 0]
    rows = max(FEWEST_ROWS, (limit - taken.bytes) // (max(len(later), 1) * 40))
    held = [
        taken.take(
            "run", name, "changes", rows=rows, limit=limit,
            view=view, against=given[place[view] - 1],
        )
        for view in later
    ]  # fmt: skip
    taken.missed(held, "changes")


def _take_drawings(taken: Taken, kind: str, name: str, views: list[str]) -> None:
    limit = taken.share(DRAWINGS)
    drawn = views[:DRAWN_VIEWS]
    held = [taken.take(kind, name, "drawing", limit=limit, view=view, **DRAWN) for view in drawn]
    taken.missed([*held, *([False] * (len(views) - len(drawn)))], "drawings")


def _take_histories(taken: Taken, name: str) -> None:
    """Those of the vertices that lead in most views."""
    text = taken.texts.get(asked_path("run", name, "top", count=LEADERS))
    if text is None:
        return
    columns = {column["name"]: column["values"] for column in json.loads(text)["columns"]}
    leading = Counter(str(vertex) for vertex in columns.get("id", []) if vertex is not None)
    for vertex, _ in leading.most_common(HISTORIES):
        taken.take("run", name, "history", vertex=vertex)


def _rows_that_fit(taken: Taken, views: list[str], room: int, *parts: str) -> int:
    """How many rows each view's table may have, by what those of the first view take."""
    if not views or room <= 0:
        return FEWEST_ROWS
    table = taken.answers.table(asked_path(*parts), {"view": views[0]})
    sample = json.dumps(json_table(table.slice(0, 1000)), separators=(",", ":"))
    a_row = max(1.0, len(sample) / max(1, min(len(table), 1000)))
    return max(FEWEST_ROWS, int(room / len(views) / a_row))


def _spread(views: list[str]) -> list[str]:
    """The same views: the first and the last, then what halves the gaps, and so on."""
    chosen = dict.fromkeys(views[:1] + views[-1:])
    step = len(views)
    while step > 1:
        step = (step + 1) // 2
        chosen |= dict.fromkeys(views[::step])
    return list(chosen)


def _catalog(answers: Answers, places: list[list[str]]) -> dict[str, Any]:
    """The catalog, of what is in the file; it does not say where the store was."""
    held = {(kind, name) for kind, name in places}
    items = [
        item for item in answers.get("catalog", {})["items"] if (item["kind"], item["name"]) in held
    ]
    for item in items:
        source = item["made_from"]
        if source is not None and (source["kind"], source["name"]) not in held:
            item["made_from"] = None
    return {"root": None, "version": __version__, "changes": False, "store": False, "items": items}


def _note(taken: Taken, places: list[list[str]]) -> str:
    """What is in the file, and what is not."""
    saved = " and ".join(f"{kind} '{name}'" for kind, name in places)
    parts = [f"Saved by Graphtide {__version__} on {date.today()}: {saved}."]
    if taken.left_out:
        parts.append(f"Left out for its size: {'; '.join(taken.left_out)}.")
    return " ".join(parts)
