"""Paths as users write them, checked before an operating system sees them.

No system takes a path with NUL in it, with characters that have no bytes, or with names that are
too long. Unchecked, such a path would end in a plain ValueError of Python, far from the line where
the user wrote it. Whoever opens a file finds out whether it is there and may be read or written.
"""

from __future__ import annotations

import os
from pathlib import Path

from graphtide.model.errors import InputError

_LONGEST = 255


def given_path(path: str | os.PathLike[str]) -> Path:
    """The path with `~` for the home folder; InputError if no file can have it."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"{path!r} cannot be a path", hint="give a text or a pathlib.Path")
    text = os.fsdecode(path)
    problem = _problem(text)
    if problem:
        shown = ascii(text) if len(text) <= 60 else f"{text[:57]!a}..."
        raise InputError(f"{shown} cannot be a path: {problem}", hint="name another file or folder")
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise InputError(f"'{text}' cannot be a path: {error}", hint="write it in full") from None


def _problem(text: str) -> str | None:
    if not text:
        return "it is empty"
    if "\0" in text:
        return "it holds a NUL character"
    try:
        parts = os.fsencode(text).split(b"/")
    except UnicodeEncodeError:
        return "it holds a character that no file name can have"
    if max(map(len, parts)) > _LONGEST:
        return f"a name in it is longer than {_LONGEST} bytes"
    return None
