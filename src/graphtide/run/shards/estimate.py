"""What a run on shards is expected to take, said before anything is made or run.

A vertex that has d edges by which others gather from it has a mirror in a task of t with the chance
1 - (1 - 1/t)^d. With the mean in place of each d there are more mirrors than there will be, because
the chance grows ever more slowly with d: it is a bound, but for chance.
"""

from __future__ import annotations

from graphtide.plan.programs import Direction, VertexProgram

BYTES_AN_EDGE = 12
"""What a task has in memory for an edge that a vertex gathers along: both ways between its ends,
and its number."""

EDGE_SECONDS, ROW_SECONDS, MESSAGE_SECONDS = 2.5e-9, 20e-9, 1e-4
"""Processor time for an edge in a superstep, for a mirror whose state comes, and for a message:
measured with PageRank at 4 million edges, and between two tasks of one machine."""


def explained_shards(
    program: VertexProgram, vertices: int, edges: int, tasks: int, width: int
) -> str:
    """The tasks of a run, what each holds, and what it sends in a superstep."""
    both = program.direction is Direction.BOTH
    gathered = edges * (2 if both else 1)
    mirrors = _mirrors(vertices, gathered, tasks)
    sent = 8 * width * mirrors
    seconds = gathered / tasks * EDGE_SECONDS + mirrors * ROW_SECONDS
    seconds += (tasks - 1) * MESSAGE_SECONDS
    return (
        f"on shards: {tasks:,} tasks at the same time, each with about {gathered // tasks:,} edges "
        f"in {_size(BYTES_AN_EDGE * gathered / tasks)} and up to about {mirrors:,} mirrors; "
        f"a superstep over the whole graph sends up to about {_size(sent)} a task and takes about "
        f"{1e3 * seconds:,.3g} ms"
    )


def _mirrors(vertices: int, gathered: int, tasks: int) -> int:
    """Up to how many mirrors a task is expected to have: of vertices that its own gather from."""
    degree = gathered / max(1, vertices)
    there = vertices * (1 - 1 / tasks)
    return int(there * (1 - (1 - 1 / tasks) ** degree)) if tasks > 1 else 0


def _size(number: float) -> str:
    for unit in ("bytes", "KB", "MB"):
        if number < 1000:
            return f"{number:,.3g} {unit}"
        number /= 1000
    return f"{number:,.3g} GB"
