"""The shortest path of a pair from scratch: two balls that meet.

The ball of the start grows along walks, that of the target against them, the one that has looked at
fewer edges first, until nothing that is still to come can be better than where they met.

Costs with fractions are added up along a walk, from its start: that is the cost which entries
have. What two balls add up may differ from that in its last digits, and so may the path that is
best. So where edges have costs of their own, the ball of the start grows on to the target, through
what the other ball does not rule out; `SLACK` is more than rounding ever makes.
"""

from __future__ import annotations

import numpy as np

from graphtide.kernels.blocks import adjacency_at
from graphtide.kernels.graph.adjacency import other_end
from graphtide.kernels.jit import bare_kernel, inner_kernel
from graphtide.kernels.queries.balls import (
    EDGE,
    FAR,
    LOOKED,
    NEAR,
    STAMP,
    Ball,
    begin_ball,
    is_complete,
    least_at,
    leave_out,
    next_value,
    next_vertex,
    widen,
)
from graphtide.kernels.queries.records import SEARCHES, WEIGHT, Int64, searches_at
from graphtide.kernels.queries.stepping import fact

SLACK = 1e-9
"""Of a cost: sums of a million parts, in any two orders, differ by less."""


@bare_kernel
def find_pair(
    words: Int64, forward: Ball, backward: Ball, search: int, start: int, target: int
) -> int:
    """Find the best path; how many edges it has, -1 where there is none within the bound.

    Its cost is `forward.best`, its edges are the first of `backward.reached`, from the start.
    """
    weighted = fact(words, search, WEIGHT) >= 0
    begin_ball(forward, start, weighted)
    begin_ball(backward, target, weighted)
    if start == target:
        forward.best[0] = 0.0
        return 0
    bound = searches_at(words, SEARCHES).bound[search]
    meet(words, forward, backward, search, bound)
    if weighted and forward.best[0] < np.inf:
        return add_up(words, forward, backward, search, (target, bound))
    if forward.best[0] > bound or forward.best[0] == np.inf:
        forward.best[0] = np.inf
        return -1
    return write_both(words, forward, backward)


@inner_kernel
def meet(words: Int64, forward: Ball, backward: Ball, search: int, bound: float) -> None:
    """Let two balls grow until the best meeting is known, and note it in the first."""
    apart = 0.0 if fact(words, search, WEIGHT) >= 0 else 1.0
    while not is_complete(forward) and not is_complete(backward):
        coming = next_value(forward) + next_value(backward) + apart
        if coming >= forward.best[0] or coming > bound * (1.0 + SLACK):
            break
        if forward.sizes[LOOKED] <= backward.sizes[LOOKED]:
            widen(words, forward, backward, search, False, True)
        else:
            backward.best[0] = forward.best[0]
            widen(words, backward, forward, search, True, True)
            if backward.best[0] < forward.best[0]:
                forward.best[0], forward.sizes[EDGE] = backward.best[0], backward.sizes[EDGE]
                forward.sizes[NEAR] = backward.sizes[FAR]
                forward.sizes[FAR] = backward.sizes[NEAR]


@inner_kernel
def add_up(
    words: Int64, forward: Ball, backward: Ball, search: int, wanted: tuple[int, float]
) -> int:
    """Grow the ball of the start on to the target, the first of `wanted`, and write the path."""
    target, bound = wanted
    while not is_complete(forward):
        vertex, value = next_vertex(forward), next_value(forward)
        most = forward.best[0] * (1.0 + SLACK)
        if vertex == target or value > most:
            break
        if value + least_at(backward, vertex) > most:
            leave_out(forward)
        else:
            widen(words, forward, backward, search, False, False)
    reached = forward.stamp[target] == forward.sizes[STAMP]
    if not reached or forward.value[target] > bound:
        forward.best[0] = np.inf
        return -1
    forward.best[0] = forward.value[target]
    length = count_back(words, forward, target)
    write_back(words, forward, backward, target, length)
    return length


@inner_kernel
def count_back(words: Int64, ball: Ball, vertex: int) -> int:
    """How many edges lead to a vertex from where a ball began."""
    graph, length = adjacency_at(words, 0), 0
    while ball.came[vertex] >= 0:
        vertex = other_end(graph, ball.came[vertex], vertex)
        length += 1
    return length


@inner_kernel
def write_back(words: Int64, ball: Ball, to: Ball, vertex: int, length: int) -> None:
    """Write the edges that lead to a vertex, so many, to the front of another ball's list."""
    graph = adjacency_at(words, 0)
    for at in range(length - 1, -1, -1):
        to.reached[at] = ball.came[vertex]
        vertex = other_end(graph, ball.came[vertex], vertex)


@inner_kernel
def write_both(words: Int64, forward: Ball, backward: Ball) -> int:
    """Write the path through where two balls met to the list of the second; its length."""
    graph = adjacency_at(words, 0)
    length = count_back(words, forward, forward.sizes[NEAR])
    write_back(words, forward, backward, forward.sizes[NEAR], length)
    backward.reached[length] = forward.sizes[EDGE]
    length, vertex = length + 1, forward.sizes[FAR]
    while backward.came[vertex] >= 0:
        backward.reached[length] = backward.came[vertex]
        vertex = other_end(graph, backward.came[vertex], vertex)
        length += 1
    return length


@bare_kernel
def complete_balls(forward: Ball, backward: Ball) -> int:
    """Which of two balls have all that walks reach: 1 for the first, 2 for the second."""
    return int(is_complete(forward)) + 2 * int(is_complete(backward))
