"""What a random walk class may declare: a line of the class body for each name, and their types.

A class declares what its functions name, and no more, since it is refused otherwise.
"""

from __future__ import annotations

import re

PARAMETERS = {
    "source": "source: gt.Vertex",
    "among": "among: gt.Vertices",
    "length": "length: int",
    "width": "width: int",
    "near": "near: int = 2",
    "half": "half: float = 0.5",
    "flag": "flag: bool",
    "town": "town: str",
    "since": "since: gt.Date",
    "until": "until: gt.Timestamp",
    "most": "most: int",
    "V": "V: int",
}
STATE = {
    "n": "n: int = 1",
    "level": "level = gt.State(float, default=0.5)",
    "on": "on: bool = False",
    "kept": 'kept = gt.State(int, size="width")',
}
EDGES = {
    "rank": "rank = gt.Property(int)",
    "open": "open = gt.Property(bool)",
    "kind": "kind = gt.Property(str)",
    "day": "day = gt.Property(gt.Date)",
    "at": "at = gt.Property(gt.Timestamp)",
}
VERTICES = {
    "age": "age = gt.VertexProperty(int)",
    "size": "size = gt.VertexProperty(float, missing=0.25)",
    "shut": "shut = gt.VertexProperty(bool)",
    "city": "city = gt.VertexProperty(str)",
    "nation": "nation = gt.VertexProperty(str, missing='b')",
    "born": "born = gt.VertexProperty(gt.Date)",
    "seen": "seen = gt.VertexProperty(gt.Timestamp, missing='2020-01-03')",
}
ACCUMULATORS = {
    "found": ("gt.Sum(int)", "int", None),
    "weight": ("gt.Sum(float)", "float", None),
    "hits": ("gt.Count()", "count", None),
    "low": ("gt.Min(float)", "float", None),
    "least": ("gt.Min(int)", "int", None),
    "high": ("gt.Max(float)", "float", None),
    "top": ("gt.Max(int)", "int", None),
    "some": ("gt.Or()", "bool", None),
    "every": ("gt.And()", "bool", None),
    "times": ("gt.Product(int)", "int", None),
    "scaled": ("gt.Product(float)", "factor", None),
    "parts": ("gt.Sum(int, size=2)", "int", 2),
    "votes": ('gt.Count(size="width")', "count", 2),
    "lows": ('gt.Min(float, size="width")', "float", 2),
    "shares": ("gt.Sum(float, size=3)", "float", 3),
}
"""How each is declared, what is sent to it, and how many elements it has at least."""


def named(name: str, text: str) -> bool:
    """Whether a text speaks of an attribute, a parameter or a setting of that name."""
    return re.search(rf"\.{name}\b|[\"']{name}[\"']", text) is not None


def declarations(functions: str, matches: list[str]) -> list[str]:
    """The lines of the class body, for all that its functions name."""
    lines = [line for name, line in STATE.items() if named(name, functions)]
    lines += [line for name, line in {**EDGES, **VERTICES}.items() if named(name, functions)]
    for name, (declared, _, _) in ACCUMULATORS.items():
        if named(name, functions):
            lines.append(f"{name} = {declared}")
        if named(f"all_{name}", functions):
            lines.append(f"all_{name} = gt.Global({declared})")
    lines += matches
    whole = "\n".join([functions, *lines])
    return [*(line for name, line in PARAMETERS.items() if named(name, whole)), *lines]
