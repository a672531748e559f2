"""The shortest path of a pair from scratch: two balls that meet, bounded by landmarks.

A ball is what lies nearest to a vertex, grown a little at a time, along walks or against them. It
knows the cost of what it has reached and, of all else, a cost below which it is not. The ball of
the start grows along walks, that of the target against them, the one that has looked at fewer edges
first, until nothing that is still to come can be better than where they met. Balls are for automata
of one state, so that they go by vertex; stamps say what belongs to the ball of now, so that to
begin one takes no pass over the vertices.

Landmarks are starts of searches of their own. A walk from s to t cannot cost less than what t costs
from a landmark beyond what s does, nor more than the way round through it. So nobody goes on from a
vertex if a walk through it must cost more than that. A ball that passed somebody over does not have
all that walks reach.

Costs with fractions are added up along a walk, from its start: that is the cost which entries have.
What two balls add up may differ from it in its last digits. So where edges have costs of their own,
the ball of the start grows on to the target, through what the other ball does not rule out; `SLACK`
is more than rounding ever makes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphtide.kernels.blocks import adjacency_at
from graphtide.kernels.graph.adjacency import Slabs, other_end
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel
from graphtide.kernels.queries.records import (
    AGAINST,
    ALONG,
    NAMED,
    WEIGHT,
    Float64,
    Int32,
    Int64,
    class_of,
    cost_of,
    fact,
    rows_of,
    searches_of,
    step_of,
    ways_of,
)
from graphtide.kernels.queries.rows import find_entry, value_at
from graphtide.kernels.queues import heap_pop, heap_push


class Ball(NamedTuple):
    """By vertex: `stamp`, and where that is the ball's own, the `value` and the edge that it `came`
    by. `reached` lists them as they were met, which is a queue where all edges cost the same;
    `heap` and `place` are the heap of those that wait otherwise. `best` is the least cost at which
    two balls have met. `sizes` are the numbers below.
    """

    value: Float64
    stamp: Int32
    came: Int32
    reached: Int32
    heap: Int32
    place: Int32
    best: Float64
    sizes: Int64


STAMP, REACHED, AT, HEAPED, WAITING, BALL_LOOKED, EDGE, NEAR, FAR = range(9)
SIZES = 9
"""The stamp of now; how many are reached, and where the queue begins; whether there is a heap and
how many wait there; edges looked at; by which edge two balls have met, at its end in this ball and
in the other one."""

LAST_STAMP = 2**31 - 1
"""Stamps begin anew behind it: a graph that runs for weeks comes to it."""


@inner_kernel
def begin_ball(ball: Ball, vertex: int, weighted: bool) -> None:
    if ball.sizes[STAMP] == LAST_STAMP:
        ball.stamp[:] = 0
        ball.sizes[STAMP] = 0
    ball.sizes[STAMP] += 1
    ball.sizes[BALL_LOOKED], ball.sizes[AT], ball.sizes[REACHED] = 0, 0, 1
    ball.sizes[HEAPED] = ball.sizes[WAITING] = weighted
    ball.best[0] = np.inf
    ball.value[vertex], ball.stamp[vertex], ball.came[vertex] = 0.0, ball.sizes[STAMP], -1
    ball.reached[0] = vertex
    if weighted:
        ball.heap[0], ball.place[vertex] = vertex, 0


@joined_kernel
def is_complete(ball: Ball) -> bool:
    """Whether nobody waits: then the ball has all that walks reach."""
    if ball.sizes[HEAPED]:
        return bool(ball.sizes[WAITING] == 0)
    return bool(ball.sizes[AT] == ball.sizes[REACHED])


@joined_kernel
def next_vertex(ball: Ball) -> int:
    """The nearest vertex that waits; there must be one."""
    return int(ball.heap[0] if ball.sizes[HEAPED] else ball.reached[ball.sizes[AT]])


@joined_kernel
def next_value(ball: Ball) -> float:
    """The cost of the nearest vertex that waits; infinity where nobody waits."""
    if is_complete(ball):
        return np.inf
    return float(ball.value[next_vertex(ball)])


@joined_kernel
def leave_out(ball: Ball) -> None:
    """Drop the next vertex without going on from it."""
    if ball.sizes[HEAPED]:
        waiting = ball.sizes[WAITING]
        ball.sizes[WAITING] = heap_pop(ball.heap, ball.place, waiting, ball.value, 1)
    else:
        ball.sizes[AT] += 1


@joined_kernel
def least_at(ball: Ball, vertex: int) -> float:
    """A vertex costs so much at least: what it does cost, once that is known."""
    reached = ball.stamp[vertex] == ball.sizes[STAMP]
    if ball.sizes[HEAPED]:
        coming = next_value(ball)
        return min(coming, ball.value[vertex]) if reached else coming
    return float(ball.value[vertex]) if reached else next_value(ball) + 1.0


@inner_kernel
def widen(words: Int64, ball: Ball, other: Ball, search: int, against: bool, meets: bool) -> None:
    """Take the next vertex, which waits, and reach whatever it leads to.

    Where it `meets` another ball, it notes the best way from one to the other.
    """
    vertex = next_vertex(ball)
    leave_out(ball)
    graph, ways = adjacency_at(words, 0), ways_of(words, search, 0)
    if ways & ALONG:
        slabs = graph.into if against else graph.out
        widen_one_way(words, slabs, (ball, other), (search, vertex, 0, meets))
    if ways & AGAINST:
        slabs = graph.out if against else graph.into
        widen_one_way(words, slabs, (ball, other), (search, vertex, 1, meets))


@inner_kernel
def widen_one_way(
    words: Int64, slabs: Slabs, balls: tuple[Ball, Ball], source: tuple[int, int, int, bool]
) -> None:
    """Do so by edges of one direction.

    `source` is a search, the vertex, the way of walks, and whether there is a ball to meet.
    """
    ball, other = balls
    search, vertex, back, meets = source
    start, live, value = slabs.start[vertex], slabs.live[vertex], ball.value[vertex]
    weighted, named = ball.sizes[HEAPED] > 0, fact(words, search, NAMED) > 0
    stamp, met = ball.sizes[STAMP], other.sizes[STAMP]
    ball.sizes[BALL_LOOKED] += live
    for place in range(start, start + live):
        edge, there = slabs.edge[place], slabs.neighbour[place]
        if named and step_of(words, search, 0, 2 * class_of(words, search, edge) + back) < 0:
            continue
        total = value + (cost_of(words, search, edge) if weighted else 1.0)
        known = ball.stamp[there] == stamp
        if meets and other.stamp[there] == met and total + other.value[there] < ball.best[0]:
            ball.best[0] = total + other.value[there]
            ball.sizes[EDGE], ball.sizes[NEAR], ball.sizes[FAR] = edge, vertex, there
        if known and total >= ball.value[there]:
            continue
        ball.value[there], ball.stamp[there], ball.came[there] = total, stamp, edge
        if not known:
            ball.reached[ball.sizes[REACHED]] = there
            ball.sizes[REACHED] += 1
        if weighted:
            if not known:
                ball.place[there] = -1
            waiting = ball.sizes[WAITING]
            ball.sizes[WAITING] = heap_push(ball.heap, ball.place, waiting, there, ball.value, 1)


class Marks(NamedTuple):
    """The block of the landmarks' searches, none where `size` is 0. Those with keys below `size`
    go along walks, those with keys from `turned` on against them; `turned` is 0 where they are the
    same. `slack` is what rounding may make of costs, as a share.
    """

    words: Int64
    size: int
    turned: int
    slack: float


SLACK = 1e-9
"""Of a cost: sums of a million parts, in any two orders, differ by less."""

EXACT = 2.0**53
"""Whole numbers beyond it are not told apart, so that their sums depend on their order as well."""

TOO_FAR = 1e290
"""Beyond it, a sum may have ended for want of larger numbers: then nothing is concluded."""


@inner_kernel
def least_between(marks: Marks, source: int, target: int) -> float:
    """What a walk from one vertex to another costs at least; infinity where there is none."""
    rows, least = rows_of(marks.words), 0.0
    one, other = rows.start[source], rows.start[target]
    one_end, other_end = one + rows.length[source], other + rows.length[target]
    while one < one_end or other < other_end:
        here = rows.key[one] if one < one_end else np.int32(2**31 - 1)
        there = rows.key[other] if other < other_end else np.int32(2**31 - 1)
        key, near, far = min(here, there), np.inf, np.inf
        if here == key:
            near = value_at(rows, one)
            one += 1
        if there == key:
            far = value_at(rows, other)
            other += 1
        if key < marks.size:
            least = max(least, beyond(near, far, marks.slack))
        if key >= marks.turned:
            least = max(least, beyond(far, near, marks.slack))
    return least


@inner_kernel
def beyond(near: float, far: float, slack: float) -> float:
    """By how much one cost exceeds another, at least; 0 where the other one is not known."""
    if near > TOO_FAR:
        return 0.0
    if far == np.inf:
        return far
    return float(far - near - rounding(slack, far + near) * (far + near))


@joined_kernel
def rounding(slack: float, cost: float) -> float:
    """By which share a cost may be off that adds up what may be off by `slack`."""
    return slack if cost < EXACT else SLACK


@inner_kernel
def most_between(marks: Marks, source: int, target: int) -> float:
    """What the best walk through a landmark costs; infinity where there is none."""
    rows, most = rows_of(marks.words), np.inf
    start = rows.start[source]
    for place in range(start, start + rows.length[source]):
        mark = rows.key[place] - marks.turned
        if mark < 0:
            continue
        there = find_entry(marks.words, target, mark)
        if there >= 0:
            most = min(most, value_at(rows, place) + value_at(rows, there))
    return float(most * (1.0 + rounding(marks.slack, most)))


@bare_kernel
def bounds_between(marks: Marks, source: int, target: int, found: Float64) -> None:
    """Write what a walk costs at least and at most."""
    found[0] = least_between(marks, source, target)
    found[1] = most_between(marks, source, target)


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
        if forward.sizes[BALL_LOOKED] <= backward.sizes[BALL_LOOKED]:
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
    """Whether any walk through the next vertex in the ball of the start costs too much."""
    rest = least_between(marks, next_vertex(forward), ends.target)
    return bool(next_value(forward) + rest > ends.most)


@inner_kernel
def comes_from_beyond(backward: Ball, marks: Marks, ends: Ends) -> bool:
    """Whether any walk through the next vertex in the ball of the target costs too much."""
    rest = least_between(marks, ends.start, next_vertex(backward))
    return bool(next_value(backward) + rest > ends.most)


@inner_kernel
def look_around(words: Int64, balls: tuple[Ball, Ball], search: int) -> None:
    """Grow two balls that never meet, until one has all that walks reach, or both are large."""
    forward, backward = balls
    looked = 0
    while not is_complete(forward) and not is_complete(backward) and looked < HOPELESS:
        if forward.sizes[BALL_LOOKED] <= backward.sizes[BALL_LOOKED]:
            widen(words, forward, backward, search, False, False)
        else:
            widen(words, backward, forward, search, True, False)
        looked = forward.sizes[BALL_LOOKED] + backward.sizes[BALL_LOOKED]


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
