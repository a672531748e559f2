"""Balls: what lies nearest to a vertex, grown a little at a time, along walks or against them.

Whoever has no entries to look up grows two balls: from the start of a pair and against walks from
its target, until they meet; or against walks from one end of an inserted edge and along them from
the other, until it is clear which pairs the edge cannot help. A ball knows the cost of what it has
reached and, of all else, a cost below which it is not. Where all edges cost the same a queue brings
vertices in order, otherwise a heap.

Balls are for automata of one state, so that they go by vertex. Stamps say what belongs to the ball
of now: to begin a ball takes no pass over the vertices.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphtide.kernels.blocks import adjacency_at
from graphtide.kernels.graph.adjacency import Slabs
from graphtide.kernels.heap import heap_pop, heap_push
from graphtide.kernels.jit import inner_kernel, joined_kernel
from graphtide.kernels.queries.records import AGAINST, ALONG, NAMED, Float64, Int32, Int64
from graphtide.kernels.queries.stepping import class_of, cost_of, fact, step_of, ways_of


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


STAMP, REACHED, AT, HEAPED, WAITING, LOOKED, EDGE, NEAR, FAR = range(9)
SIZES = 9
"""The stamp of now; how many are reached, and where the queue begins; whether there is a heap and
how many wait there; edges looked at; by which edge two balls have met, at its end in this ball and
in the other one."""

LAST_STAMP = 2**31 - 1
"""Stamps begin anew behind it: a graph that runs for weeks comes to it."""


@inner_kernel
def begin_ball(ball: Ball, vertex: int, weighted: bool) -> None:
    """A ball of one vertex."""
    if ball.sizes[STAMP] == LAST_STAMP:
        ball.stamp[:] = 0
        ball.sizes[STAMP] = 0
    ball.sizes[STAMP] += 1
    ball.sizes[LOOKED], ball.sizes[AT], ball.sizes[REACHED] = 0, 0, 1
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
    """Who comes next; somebody waits."""
    return int(ball.heap[0] if ball.sizes[HEAPED] else ball.reached[ball.sizes[AT]])


@joined_kernel
def next_value(ball: Ball) -> float:
    """The cost of who comes next; infinity where nobody waits."""
    if is_complete(ball):
        return np.inf
    return float(ball.value[next_vertex(ball)])


@joined_kernel
def leave_out(ball: Ball) -> None:
    """Let who comes next wait no more."""
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
    """The same by edges of one direction.

    `source` is a search, the vertex, the way of walks, and whether there is a ball to meet.
    """
    ball, other = balls
    search, vertex, back, meets = source
    start, live, value = slabs.start[vertex], slabs.live[vertex], ball.value[vertex]
    weighted, named = ball.sizes[HEAPED] > 0, fact(words, search, NAMED) > 0
    stamp, met = ball.sizes[STAMP], other.sizes[STAMP]
    ball.sizes[LOOKED] += live
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
