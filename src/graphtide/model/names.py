"""Names of graphs, views and collections: what is allowed, and the error where it is not."""

from __future__ import annotations

import re

from graphtide.model.errors import InputError

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\- ]{0,119}")


def check_name(name: str, what: str) -> str:
    """The name itself, if it can stand for a folder everywhere; else an error that says why."""
    if isinstance(name, str) and _NAME.fullmatch(name) and not name.endswith((" ", ".")):
        return name
    raise InputError(
        f"'{name}' cannot be the name of a {what}",
        hint="use letters, digits, '_', '-', '.' and spaces inside; at most 120 characters",
    )
