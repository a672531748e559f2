"""Counts in words, `1 view`, `2,000 views`, and texts on one line."""

from __future__ import annotations


def counted(number: int, what: str, many: str | None = None) -> str:
    """So many of a thing: `1 view`, `2 views`; `many` is what several are called, if not so."""
    return f"{number:,} {what if number == 1 else many or what + 's'}"


def sized(vertices: int, edges: int, joined: str = ", ") -> str:
    """How large a graph is: `2 vertices, 1 edge`."""
    return f"{counted(vertices, 'vertex', 'vertices')}{joined}{counted(edges, 'edge')}"


def shortened(text: str, width: int = 80) -> str:
    """One line of at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 3] + "..."
