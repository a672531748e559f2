"""What a statement of the page may reach: the store, and no other file.

GVDL typed by whoever has a terminal reads and writes any file of theirs, and carries out files of
Python to find programs. A page is no terminal: what is typed there may come from a link or from
somebody else's screen. So a statement of the page names no program file, writes nothing outside the
store, and reads only files that lie within it. Everything else that GVDL can do, it can do here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from graphtide.lang.diagnostics import Span, language_error
from graphtide.lang.gvdl import live_statements as live
from graphtide.lang.gvdl import statements as s
from graphtide.model.errors import LanguageError
from graphtide.model.paths import given_path

PROGRAMS: Mapping[type, tuple[str, ...]] = {s.Run: ("library",), live.CreateProgram: ("library",)}
"""The fields that name a file with a program."""

WRITTEN: Mapping[type, tuple[str, ...]] = {
    s.Run: ("save_to",),
    s.LoadGraph: ("mappings",),
    s.CreateGrouped: ("save_to",),
    s.Serialize: ("path",),
    s.SaveGraph: ("path",),
    s.SaveCollection: ("path",),
}
"""The fields that name a file or a folder that is written."""

READ: Mapping[type, tuple[str, ...]] = {
    s.LoadGraph: ("edges", "vertices"),
    s.Deserialize: ("path",),
    live.CreateLive: ("edges", "vertices"),
    live.AdvanceLive: ("insert", "delete", "vertices", "update", "remove"),
}
"""The fields that name a file or a folder that is read."""

_ODD = frozenset("*?[]{}:")


def check_reach(statement: s.Statement, root: Path) -> None:
    """Refuse a statement that reaches further than the store."""
    for error in refusals(statement, root):
        raise error


def refusals(statement: s.Statement, root: Path) -> Iterator[LanguageError]:
    """Why a statement is not carried out for the page, an error for each file that it names."""
    if isinstance(statement, s.Explain):
        yield from refusals(statement.statement, root)
        return
    kind = type(statement)
    for field in PROGRAMS.get(kind, ()):
        if (path := getattr(statement, field)) is not None:
            yield language_error(
                "the page takes no program from a file",
                place_of(statement, path),
                "files of Python are carried out to find a program: run it on the command line or "
                "in Python, and look at the run here",
            )
    for field in WRITTEN.get(kind, ()):
        if (path := getattr(statement, field)) is not None:
            yield language_error(
                "the page writes no file outside the store",
                place_of(statement, path),
                "leave it out, and save tables and pictures with the buttons of the page",
            )
    for field in READ.get(kind, ()):
        path = getattr(statement, field)
        if path is not None and not _within(path, root):
            yield language_error(
                "the page reads no file outside the store",
                place_of(statement, path),
                f"put the file into {root}, or load it on the command line: graphtide load",
            )


def place_of(statement: s.Statement, text: str) -> Span | None:
    """Where a name or a path stands in a statement; where that begins, if it is not found."""
    span = statement.span
    if span is None or not text:
        return span
    word = re.compile(rf"(?<!\w){re.escape(text)}(?!\w)")
    found = word.search(span.source.text, span.start)
    return span if found is None else Span(span.source, *found.span())


def _within(text: str, root: Path) -> bool:
    """Whether this is one file or folder of the store.

    Patterns and addresses are not: what reads them may find something else behind them.
    """
    if _ODD & set(text):
        return False
    try:
        path = given_path(text).resolve(strict=True)
    except (OSError, ValueError, RuntimeError):
        return False
    return path.is_relative_to(root.resolve())
