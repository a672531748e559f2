"""Paths of this machine as Spark wants them.

Spark neither decodes nor encodes a path that it is given, so `Path.as_uri` would make it write
`a%20b` for `a b`; and what it reads from is a pattern, in which brackets and stars mean
something unless they are escaped.
"""

from __future__ import annotations

import re
from pathlib import Path

_PATTERN = re.compile(r"([\[\]{}*?\\])")


def writing_path(path: Path) -> str:
    """Where Spark is to write."""
    return f"file://{path.absolute()}"


def reading_path(path: Path) -> str:
    """Where Spark is to read: this path, whatever characters it has."""
    return _PATTERN.sub(r"\\\1", writing_path(path))
