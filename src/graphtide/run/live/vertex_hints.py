"""What to do about a vertex that is not there: near ids, or what ids look like.

The hint shows ids and names no call: whoever reads it may have written Python, a statement or a
command.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from graphtide.model.spelling import distance

_FEW = 10_000
_TOLD = 3
_LENGTHS = 3


def vertex_hint(ids: pa.Array | pa.ChunkedArray, given: Any) -> str:
    """Ids like the one that is not there, or else what ids are such as."""
    if not len(ids):
        return "the graph has no vertices"
    texts, whole = pa.types.is_string(ids.type), pa.types.is_integer(ids.type)
    if texts and isinstance(given, str):
        near = _near(ids, given)
        return f"did you mean {_told(near)}?" if near else f"ids are such as {_first(ids)}"
    if texts:
        return f"ids are texts here, such as {_first(ids)}"
    if not whole:
        return f"ids are such as {_first(ids)}"
    ends = pc.min_max(ids).as_py()
    shown = f"whole numbers here, from {ends['min']} to {ends['max']}"
    return f"ids are {shown}" + (", without quotes" if isinstance(given, str) else "")


def _near(ids: pa.Array | pa.ChunkedArray, given: str) -> list[str]:
    """The ids most like a text; of very many, among those that begin with the same letter."""
    if len(ids) > _FEW:
        lower, length = pc.utf8_lower(ids), pc.utf8_length(ids)
        same = ids.filter(pc.equal(lower, given.lower()))
        if len(same):
            return list(same.slice(0, _TOLD).to_pylist())
        alike = pc.and_kleene(
            pc.starts_with(lower, given[:1].lower()),
            pc.less_equal(pc.abs(pc.subtract(length, len(given))), _LENGTHS),
        )
        ids = ids.filter(alike).slice(0, _FEW)
    scored = ((distance(given, item), item) for item in ids.to_pylist())
    near = sorted((score, at, item) for at, (score, item) in enumerate(scored) if score is not None)
    return [item for score, _, item in near[:_TOLD] if score == near[0][0]]


def _first(ids: pa.Array | pa.ChunkedArray) -> str:
    return ", ".join(repr(item) for item in ids.slice(0, _TOLD).to_pylist())


def _told(near: list[str]) -> str:
    return " or ".join(repr(item) for item in near)
