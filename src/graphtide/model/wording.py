"""Counts in words, `1 view`, `2,000 views`, and texts on one line."""

from __future__ import annotations


def counted(number: int, what: str) -> str:
    """So many of a thing: `1 view`, `2 views`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def sized(vertices: int, edges: int, joined: str = ", ") -> str:
    """How large a graph is: `2 vertices, 1 edge`."""
    ends = "1 vertex" if vertices == 1 else f"{vertices:,} vertices"
    return f"{ends}{joined}{counted(edges, 'edge')}"


def shortened(text: str, width: int = 80) -> str:
    """One line of at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 3] + "..."
