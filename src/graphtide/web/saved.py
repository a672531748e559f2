"""A saved file: the page and what it will ask for, in one file that works from disk.

A run over thousands of views has more than any file should hold. So there is a limit in bytes,
and an order: what a page opens with comes first, then something of each view (views from all over
the collection before their neighbours), then drawings and histories. Tables of views are whole
where all of them fit, or else their first rows by result; the page searches and sorts what is
there, and a line at its end says what is not.

The one file, which notebooks show too, has the modules, styles and libraries of the page inside.
Modules import each other as `gt/...`; an import map sends each of these names to a `data:`
address. A script or style runs by a number in the policy of the file that is made of everything
in it, so that nothing in the data can know it; and the file may ask for nothing, wherever it
lies.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import os
from collections import Counter
from datetime import date
from functools import cache
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pyarrow as pa
import pyarrow.compute as pc

from graphtide.model.errors import GraphtideError, InputError
from graphtide.model.names import given_path
from graphtide.model.text import counted
from graphtide.store.whole_files import whole_stream
from graphtide.version import __version__
from graphtide.web.answers import Answers
from graphtide.web.json_values import json_table, note_of
from graphtide.web.shelf import shelf_of

STATIC = Path(__file__).parent / "static"
EDITOR = "vendor/editor.js"
_STYLES = (
    '<link rel="stylesheet" href="static/vendor/uplot.css">',
    ('<link rel="stylesheet" href="static/style.css">'),
)
_ICON = 'href="static/icon.svg"'
_IMPORTS = '<script type="importmap">{"imports": {"gt/": "./static/"}}</script>'
_ENTRY = '<script type="module" src="static/app.js"></script>'
_HEAD, _BODY_END = '<meta charset="utf-8">', "</body>"


def one_file(
    *,
    start: list[str],
    answers: dict[str, str] | None = None,
    note: str = "",
    editor: bool = False,
) -> str:
    """The page, beginning at a place. `answers` are JSON by path, `note` is a line at its end.

    Without answers it asks the notebook round it. The editor is more than half of the libraries,
    and of no use where nothing can be carried out.
    """
    held = "" if answers is None else _embedded(answers)
    place = _quoted("#/" + "/".join(map(encoded, start)))
    begin = f'if (!location.hash) history.replaceState(null, "", {place});\n'
    entry = begin + 'await import("gt/app.js");'
    imports = _quoted({"imports": _modules(editor)})
    number = _digest(imports, entry, held, note)
    policy = (
        f"default-src 'none'; script-src 'nonce-{number}'; style-src 'nonce-{number}'; "
        "img-src data: blob:; font-src data:; base-uri 'none'; form-action 'none'"
    )
    page = (STATIC / "index.html").read_text("utf-8")
    page = _put(
        page, _HEAD, f'{_HEAD}\n<meta http-equiv="content-security-policy" content="{policy}">'
    )
    page = _put(page, _ICON, f'href="{_address(STATIC / "icon.svg", "image/svg+xml")}"')
    for link, name in zip(_STYLES, ("vendor/uplot.css", "style.css"), strict=True):
        page = _put(page, link, f'<style nonce="{number}">\n{_text(name)}</style>')
    page = _put(page, _IMPORTS, f'<script type="importmap" nonce="{number}">{imports}</script>')
    page = _put(page, _ENTRY, f'{held}<script type="module" nonce="{number}">\n{entry}\n</script>')
    if answers is None:
        page = _put(page, "<html ", '<html data-notebook="1" ')
    if note:
        page = _put(page, _BODY_END, f'<footer class="saved">{escape(note)}</footer>\n{_BODY_END}')
    return page


def encoded(text: str) -> str:
    """A part of a path, encoded as by JavaScript's encodeURIComponent."""
    return quote(text, safe="!'()*")


def asked_path(*parts: str, **options: str | int | None) -> str:
    """The path that the page will ask for, letter by letter: see `pathOf` in source.js."""
    chosen = [(name, str(options[name])) for name in sorted(options) if options[name] is not None]
    path = "/".join(map(encoded, parts))
    query = urlencode(chosen, safe="*").replace("~", "%7E")
    return f"{path}?{query}" if query else path


def module_names(editor: bool = True) -> list[str]:
    """The modules of the page, by their paths below `static`."""
    found = sorted(path.relative_to(STATIC).as_posix() for path in STATIC.rglob("*.js"))
    return [name for name in found if editor or name != EDITOR]


@cache
def _modules(editor: bool) -> dict[str, str]:
    return {
        f"gt/{name}": _address(STATIC / name, "text/javascript") for name in module_names(editor)
    }


def _address(path: Path, kind: str) -> str:
    return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"


def _text(name: str) -> str:
    text = (STATIC / name).read_text("utf-8")
    assert "</style" not in text.lower(), name
    return text


def _embedded(answers: dict[str, str]) -> str:
    held = ",\n".join(f"{json.dumps(path)}:{text}" for path, text in answers.items())
    return f'<script type="application/json" id="answers">{_safe(f"{{{held}}}")}</script>\n'


def _quoted(value: Any) -> str:
    """JSON that cannot end a script element, and that is JavaScript too."""
    return _safe(json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")))


def _safe(text: str) -> str:
    for sign in ("<", "\u2028", "\u2029"):
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    # Halves of characters, which no file can hold, are written as JSON can.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _digest(*texts: str) -> str:
    whole = hashlib.sha256()
    for text in texts:
        whole.update(text.encode())
    return base64.b64encode(whole.digest()).decode()


def _put(page: str, before: str, after: str) -> str:
    assert page.count(before) == 1, before
    return page.replace(before, after)


MEGABYTE = 1 << 20
TABLES, COMPONENTS, CHANGES, DRAWINGS = 0.35, 0.15, 0.15, 0.25
"""Shares of the limit that these may take; histories take what is left."""
BYTES_OF_A_CHANGE, SAMPLE = 50, 1_000
BYTES_AROUND, ROOM_TO_SPARE = 200, 0.9
"""What the path and the note of a table take; rows of other views may be longer than those seen."""
IDS = {"id", "src", "dst", "vertex"}
RESULTS = {"table": "results"}
FEWEST_ROWS = 10
LEADERS, HISTORIES = 10, 100
DRAWN_VIEWS = 200


def save_html(thing: Any, path: str | os.PathLike[str], *, most: float = 20) -> Path:
    """Write a run or a collection as one page, of at most so many megabytes beside the page itself.

    It works from disk, asks no server for anything, and says at its end what it leaves out.
    """
    target = given_path(path)
    if not most > 0:
        raise InputError(f"a file cannot hold {most} megabytes", hint="most=20 is usual")
    shelf, place = shelf_of(thing)
    page = saved_page(Answers(shelf), place, int(most * MEGABYTE))
    with whole_stream(target) as stream:
        stream.write(page.encode())
    return target


def saved_page(answers: Answers, place: list[str], most: int) -> str:
    """The page that begins at a run or a collection, with answers of at most so many bytes.

    What a run was made over comes with it, if that is still there.
    """
    kind, name = place if len(place) == 2 else ("store", "")
    if kind not in ("run", "collection"):
        raise InputError(f"a {kind} cannot be saved as a page", hint="save a run or a collection")
    taken, places = SavedAnswers(answers, most), [place]
    if kind == "run":
        run = _take_run(taken, name)
        if _take_collection(taken, run["collection"], [name]):
            places.append(["collection", run["collection"]])
        if run["kept"]:
            _take_results(taken, run)
    else:
        _take_collection(taken, name, [])
        names = answers.get(asked_path(*place), {})["views"]["names"]
        _take_drawings(taken, name, "collection", [{"view": view} for view in _spread(names)])
    taken.put("catalog", _catalog(answers, places))
    return one_file(start=place, answers=taken.texts, note=_note(taken, places))


class SavedAnswers:
    """Answers for a file, by path and as JSON, of at most so many bytes."""

    def __init__(self, answers: Answers, most: int) -> None:
        self.answers = answers
        self.most, self.bytes = most, 0
        self.texts: dict[str, str] = {}
        self.left_out: list[str] = []
        self.vertices: list[str] = []

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
        first, notes = answer, [note_of(answer)]
        if rows is not None and rows < len(answer):
            first, note = first_rows(answer, rows)
            notes.append(note)
        said = " ".join(filter(None, notes))
        return json_table(first, rows=len(answer)) | ({"note": said} if said else {})

    def missed(self, held: list[bool], what: str) -> None:
        """Note for how many views something is left out, if other views have it."""
        if any(held) and not all(held):
            views = counted(len(held), "view")
            self.left_out.append(f"{what} of {held.count(False):,} of {views}")

    def share(self, part: float) -> int:
        """The limit in bytes for something with this share of the whole."""
        return min(self.most, self.bytes + int(part * self.most))


def first_rows(table: pa.Table, count: int) -> tuple[pa.Table, str]:
    """The rows that changed most, or have the greatest results, with a sentence that says so."""
    numbers = [name for name in table.column_names if _is_number(table.column(name).type)]
    results = [name for name in numbers if name not in IDS]
    if {"old", "new"} <= set(results):
        old, new = (pc.cast(table.column(name), "float64") for name in ("old", "new"))
        said, by = "changed most", pc.abs(pc.subtract(new, old))
    elif results:
        said, by = f"have the greatest {results[0]}", table.column(results[0])
    else:
        return table.slice(0, count), f"The file holds the first {count:,} of {len(table):,} rows."
    at = pc.select_k_unstable(pa.table({"by": by}), count, [("by", "descending")])
    return table.take(at), f"The file holds {count:,} of {len(table):,} rows, those that {said}."


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _take_run(taken: SavedAnswers, name: str) -> dict[str, Any]:
    """Take what the page of a run opens with; returns its facts."""
    run = ("run", name)
    facts = taken.answers.get(asked_path(*run), {}) | {"job": None, "resumable": False}
    taken.put(asked_path(*run), facts)
    for table in ("summary", "record", "workers", "supersteps", "globals"):
        taken.take(*run, table)
    return facts  # type: ignore[no-any-return]


def _take_collection(taken: SavedAnswers, name: str, runs: list[str]) -> bool:
    """Take a collection with the runs that are in the file; False if it is gone."""
    whole = ("collection", name)
    try:
        facts = taken.answers.get(asked_path(*whole), {})
    except GraphtideError:
        return False
    taken.put(asked_path(*whole), facts | {"runs": runs})
    taken.take(*whole, "plan")
    for order in ("given", "planned"):
        taken.take(*whole, "similarity", order=order)
    return True


def _take_results(taken: SavedAnswers, run: dict[str, Any]) -> None:
    """Take results: what fits of those of all views, and the rest of some."""
    name, views = run["name"], _spread(run["views"][: run["done"]])
    beside = _beside(taken, run)
    for field in (None, *run["fields"]):
        taken.take("run", name, "top", count=LEADERS, field=field)
    _take_tables(taken, name, views, "table", TABLES)
    if run["naming"]:
        _take_tables(taken, name, views, "components", COMPONENTS)
    for kind in run["matches"]:
        named = {"name": kind} if len(run["matches"]) > 1 else {}
        _take_tables(taken, name, views, "matches", COMPONENTS, **named)
    for field in run["fields"]:
        chosen = field if len(run["fields"]) > 1 else None
        taken.take("run", name, "losses", against=run["views"][0], field=chosen)
    _take_changes(taken, name, [(view, beside[view]) for view in views if view in beside])
    if run["drawable"]:
        field = next(iter(run["fields"]), None)
        drawn = [{"view": view, "against": beside.get(view), "field": field} for view in views]
        _take_drawings(taken, name, "run", drawn)
    _take_histories(taken, name)


def _beside(taken: SavedAnswers, run: dict[str, Any]) -> dict[str, str]:
    """The view that the page compares each view with: its parent in the plan, or the one before."""
    views = run["views"]
    known = set(views)
    record = taken.answers.asked(asked_path("run", run["name"], "record"), {})
    found = {later: before for before, later in itertools.pairwise(views)}
    if len(views) > 1:
        found[views[0]] = views[1]
    steps = zip(*(record.column(name).to_pylist() for name in ("view", "parent")), strict=True)
    return found | {view: parent for view, parent in steps if view in known and parent in known}


def _take_tables(
    taken: SavedAnswers, run: str, views: list[str], table: str, part: float, **options: str
) -> None:
    """Take a table of each view, with equally many rows, as many as fit."""
    limit = taken.share(part)
    rows = _rows_that_fit(taken, views, limit - taken.bytes, ("run", run, table), options)
    if rows is not None:
        held = [
            taken.take("run", run, table, rows=rows, limit=limit, view=view, **options)
            for view in views
        ]
        taken.missed(held, f"tables of {RESULTS.get(table, table)}")


def _take_changes(taken: SavedAnswers, run: str, pairs: list[tuple[str, str]]) -> None:
    """Take the changes between each view and the one beside it."""
    limit = taken.share(CHANGES)
    rows = max(FEWEST_ROWS, (limit - taken.bytes) // (max(len(pairs), 1) * BYTES_OF_A_CHANGE))
    held = [
        taken.take("run", run, "changes", rows=rows, limit=limit, view=view, against=against)
        for view, against in pairs
    ]
    taken.missed(held, "changes")


def _take_drawings(taken: SavedAnswers, name: str, kind: str, drawn: list[dict[str, Any]]) -> None:
    limit, chosen = taken.share(DRAWINGS), drawn[:DRAWN_VIEWS]
    held = [taken.take(kind, name, "drawing", limit=limit, **options) for options in chosen]
    taken.missed([*held, *([False] * (len(drawn) - len(chosen)))], "drawings")


def _take_histories(taken: SavedAnswers, run: str) -> None:
    """Take the histories of the vertices that lead in most views."""
    try:
        leaders = taken.answers.asked(asked_path("run", run, "top"), {"count": str(LEADERS)})
    except GraphtideError:
        return
    if "id" not in leaders.column_names:
        return
    leading = Counter(str(vertex) for vertex in leaders.column("id").to_pylist())
    taken.vertices = [
        vertex
        for vertex, _ in leading.most_common(HISTORIES)
        if taken.take("run", run, "history", vertex=vertex)
    ]


def _rows_that_fit(
    taken: SavedAnswers,
    views: list[str],
    room: int,
    parts: tuple[str, ...],
    options: dict[str, str],
) -> int | None:
    """How many rows each view's table may have, by what those of the last view take.

    None where there is no such table.
    """
    if not views:
        return None
    try:
        table = taken.answers.asked(asked_path(*parts), {"view": views[-1], **options})
    except GraphtideError:
        return None
    empty, sample = (
        len(json.dumps(json_table(table.slice(0, rows)), separators=(",", ":")))
        for rows in (0, SAMPLE)
    )
    a_row = max(1.0, (sample - empty) / max(1, min(len(table), SAMPLE)))
    a_table = room * ROOM_TO_SPARE / len(views) - empty - BYTES_AROUND
    return max(FEWEST_ROWS, int(a_table / a_row))


def _spread(views: list[str]) -> list[str]:
    """The same views: first and last, then the middle of each gap, and so on."""
    chosen = dict.fromkeys(views[:1] + views[-1:])
    step = len(views)
    while step > 1:
        step = (step + 1) // 2
        chosen |= dict.fromkeys(views[::step])
    return list(chosen)


def _catalog(answers: Answers, places: list[list[str]]) -> dict[str, Any]:
    """The catalog of what is in the file, without the place of the store."""
    held = {(kind, name) for kind, name in places}
    items = [
        item for item in answers.get("catalog", {})["items"] if (item["kind"], item["name"]) in held
    ]
    for item in items:
        source = item["made_from"]
        if source is not None and (source["kind"], source["name"]) not in held:
            item["made_from"] = None
    return {"root": None, "version": __version__, "changes": False, "store": False, "items": items}


def _note(taken: SavedAnswers, places: list[list[str]]) -> str:
    """The line that says what is in the file, and what is not."""
    saved = " and ".join(f"{kind} '{name}'" for kind, name in places)
    parts = [f"Saved by Graphtide {__version__} on {date.today()}: {saved}."]
    if taken.vertices:
        vertices = counted(len(taken.vertices), "vertex", "vertices")
        parts.append(f"Histories are there for the {vertices} that lead in most views.")
    if taken.left_out:
        parts.append(f"Left out for its size: {'; '.join(taken.left_out)}.")
    return " ".join(parts)
