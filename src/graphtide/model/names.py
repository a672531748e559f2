"""Names of graphs, views and collections: what is allowed, and the error where it is not."""

from __future__ import annotations

import re

from graphtide.model.errors import InputError

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\- ]{0,119}")


def check_name(name: str, what: str) -> str:
    """The name itself, if it can stand for a folder everywhere; else an error that says why."""
    if isinstance(name, str) and is_name(name):
        return name
    raise InputError(
        f"{_shortened(name)} cannot be the name of a {what}",
        hint="give a text of letters from a to z, digits, '_', '-', '.' and spaces inside; "
        "at most 120 characters",
    )


def is_name(text: str) -> bool:
    """True if something may be called so."""
    return _NAME.fullmatch(text) is not None and not text.endswith((" ", "."))


def _shortened(name: object) -> str:
    told = f"'{name}'" if isinstance(name, str) else repr(name)
    return told if len(told) <= 60 else f"{told[:57]}..."
