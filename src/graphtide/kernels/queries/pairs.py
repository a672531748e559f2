"""The shortest path of a pair from scratch: two balls that meet.

The ball of the start grows along walks, that of the target against them, the one that has looked at
fewer edges first, until nothing that is still to come can be better than where they met.

Landmarks, where there are any, bound the path from above before anything is looked at. Then nobody
goes on from a vertex if a walk through it must cost more than that. No vertex of a best path is
passed over so: what it has come to and what is still to come are no more than the whole. So the
balls meet on that path as they would have; but a ball that passed somebody over does not have all
that walks reach, and neither tells who that is.

Costs with fractions are added up along a walk, from its start: that is the cost which entries
have. What two balls add up may differ from that in its last digits, and so may the path that is
best. So where edges have costs of their own, the ball of the start grows on to the target, through
what the other ball does not rule out; `SLACK` is more than rounding ever makes.
"""

from __future__ import annotations

from typing import NamedTuple

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
from graphtide.kernels.queries.landmarks import SLACK, Marks, least_between, most_between
from graphtide.kernels.queries.records import WEIGHT, Int64, searches_of
from graphtide.kernels.queries.stepping import fact

NO_PATH, NO_LIST = -1, -2
"""There is no path; and besides, the balls have passed somebody over."""

HOPELESS = 1 << 11
"""So many edges are looked at for the few whom walks reach, where landmarks tell that no path is
there."""


class Ends(NamedTuple):
    """The ends of a pair, and what its path costs at most by landmarks."""

    start: int
    target: int
    most: float


@bare_kernel
def find_pair(
    words: Int64, balls: tuple[Ball, Ball], marks: Marks, search: int, start: int, target: int
) -> int:
    """Find the best path; how many edges it has, negative where there is none within the bound.

    Its cost is `best` of the first ball, its edges are the first of `reached` of the second one,
    from the start.
    """
    forward, backward = balls
    weighted = fact(words, search, WEIGHT) >= 0
    begin_ball(forward, start, weighted)
    begin_ball(backward, target, weighted)
    if start == target:
        forward.best[0] = 0.0
        return 0
    ends = Ends(start, target, most_between(marks, start, target) if marks.size else np.inf)
    none = NO_PATH if ends.most == np.inf else NO_LIST
    bound = searches_of(words).bound[search]
    if ends.most < np.inf or marks.size == 0 or least_between(marks, start, target) < np.inf:
        meet(words, balls, marks, search, ends)
    else:
        look_around(words, balls, search)
    if weighted and forward.best[0] < np.inf:
        length = add_up(words, balls, marks, search, ends)
        return none if length < 0 else length
    if forward.best[0] > bound or forward.best[0] == np.inf:
        forward.best[0] = np.inf
        return none
    return write_both(words, forward, backward)


@inner_kernel
def meet(words: Int64, balls: tuple[Ball, Ball], marks: Marks, search: int, ends: Ends) -> None:
    """Let two balls grow until the best meeting is known, and note it in the first."""
    forward, backward = balls
    bound = searches_of(words).bound[search]
    apart = 0.0 if fact(words, search, WEIGHT) >= 0 else 1.0
    while not is_complete(forward) and not is_complete(backward):
        coming = next_value(forward) + next_value(backward) + apart
        if coming >= forward.best[0] or coming > bound * (1.0 + SLACK):
            break
        if forward.sizes[LOOKED] <= backward.sizes[LOOKED]:
            if ends.most < np.inf and leads_beyond(forward, marks, ends):
                leave_out(forward)
                continue
            widen(words, forward, backward, search, False, True)
        elif ends.most < np.inf and comes_from_beyond(backward, marks, ends):
            leave_out(backward)
        else:
            backward.best[0] = forward.best[0]
            widen(words, backward, forward, search, True, True)
            if backward.best[0] < forward.best[0]:
                forward.best[0], forward.sizes[EDGE] = backward.best[0], backward.sizes[EDGE]
                forward.sizes[NEAR] = backward.sizes[FAR]
                forward.sizes[FAR] = backward.sizes[NEAR]


@inner_kernel
def leads_beyond(forward: Ball, marks: Marks, ends: Ends) -> bool:
    """Whether any walk through who comes next in the ball of the start costs too much."""
    rest = least_between(marks, next_vertex(forward), ends.target)
    return bool(next_value(forward) + rest > ends.most)


@inner_kernel
def comes_from_beyond(backward: Ball, marks: Marks, ends: Ends) -> bool:
    """The same of who comes next in the ball of the target."""
    rest = least_between(marks, ends.start, next_vertex(backward))
    return bool(next_value(backward) + rest > ends.most)


@inner_kernel
def look_around(words: Int64, balls: tuple[Ball, Ball], search: int) -> None:
    """Grow two balls that never meet, until one has all that walks reach, or both are large."""
    forward, backward = balls
    looked = 0
    while not is_complete(forward) and not is_complete(backward) and looked < HOPELESS:
        if forward.sizes[LOOKED] <= backward.sizes[LOOKED]:
            widen(words, forward, backward, search, False, False)
        else:
            widen(words, backward, forward, search, True, False)
        looked = forward.sizes[LOOKED] + backward.sizes[LOOKED]


@inner_kernel
def add_up(words: Int64, balls: tuple[Ball, Ball], marks: Marks, search: int, ends: Ends) -> int:
    """Grow the ball of the start on to the target, and write the path; negative without one."""
    forward, backward = balls
    target, bound = ends.target, searches_of(words).bound[search]
    while not is_complete(forward):
        vertex, value = next_vertex(forward), next_value(forward)
        most = forward.best[0] * (1.0 + SLACK)
        if vertex == target or value > most:
            break
        beyond = value + least_at(backward, vertex) > most
        if beyond or (ends.most < np.inf and leads_beyond(forward, marks, ends)):
            leave_out(forward)
        else:
            widen(words, forward, backward, search, False, False)
    reached = forward.stamp[target] == forward.sizes[STAMP]
    if not reached or forward.value[target] > bound:
        forward.best[0] = np.inf
        return NO_PATH
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
