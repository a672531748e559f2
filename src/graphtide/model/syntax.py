"""Python's own parser, for one thread at a time.

Python 3.11 counts how deep a tree is in one place for all threads, until 3.11.8. Where the garbage
collector lets another one parse in between, both end in "SystemError: AST constructor recursion
depth mismatch". Programs are read, and modules generated, by whichever thread wants them first.
"""

from __future__ import annotations

import ast
from threading import Lock

_ONE_AT_A_TIME = Lock()


def parsed(text: str) -> ast.Module:
    """The tree of a text of Python."""
    with _ONE_AT_A_TIME:
        return ast.parse(text)
