"""The greatest values of each version, and the place of a vertex among all.

Greater values come first, the same ones in the order of their vertices, NaN last. Blocks whose
greatest value is too small are not looked into.
"""

from __future__ import annotations

from graphtide.kernels.jit import kernel, lean_kernel
from graphtide.kernels.summaries.records import (
    Asked,
    Blocks,
    Float64,
    FoundLeaders,
    Int32,
    Int64,
    Moves,
)
from graphtide.kernels.summaries.value_blocks import look_through, put_value


@kernel
def follow_leaders(
    moves: Moves,
    changes: tuple[Int32, Float64, Float64],
    blocks: Blocks,
    asked: Asked,
    found: FoundLeaders,
) -> None:
    """Make all moves; of each view tell the first vertices, and the places asked for, from 1 on."""
    vertices, old, new = changes
    for at in range(len(moves.start)):
        back = moves.back[at]
        for row in range(moves.start[at], moves.stop[at]):
            put_value(blocks, vertices[row], old[row] if back else new[row])
        slot = moves.slot[at]
        if slot < 0:
            continue
        for block in range(len(blocks.stale)):
            if blocks.stale[block]:
                look_through(blocks, block)
        _find_leaders(blocks, found.vertices[slot])
        for place in range(found.vertices.shape[1]):
            found.values[slot, place] = blocks.values[found.vertices[slot, place]]
        for question in range(asked.start[slot], asked.start[slot + 1]):
            found.places[question] = _place(blocks, asked.vertices[question])


@lean_kernel
def _find_leaders(blocks: Blocks, leaders: Int64) -> None:
    """Vertices come in order, so that one is put behind those that have the same value."""
    values, most, full = blocks.values, len(leaders), 0
    for block in range(len(blocks.greatest)):
        if most == 0 or (full == most and blocks.greatest[block] <= values[leaders[most - 1]]):
            continue
        start = block << blocks.shift
        for vertex in range(start, min(start + (1 << blocks.shift), len(values))):
            if full == most and not _before(values[vertex], values[leaders[most - 1]]):
                continue
            full = min(full + 1, most)
            at = full - 1
            while at > 0 and _before(values[vertex], values[leaders[at - 1]]):
                leaders[at] = leaders[at - 1]
                at -= 1
            leaders[at] = vertex


@lean_kernel
def _place(blocks: Blocks, vertex: int) -> int:
    values, place = blocks.values, 1
    mine = values[vertex]
    for block in range(len(blocks.greatest)):
        if blocks.greatest[block] < mine:
            continue
        start = block << blocks.shift
        for other in range(start, min(start + (1 << blocks.shift), len(values))):
            earlier = other < vertex and not _before(mine, values[other])
            if earlier or _before(values[other], mine):
                place += 1
    return place


@lean_kernel
def _before(one: float, other: float) -> bool:
    """True where a value comes before another whatever their vertices."""
    return one > other or (one == one and other != other)
