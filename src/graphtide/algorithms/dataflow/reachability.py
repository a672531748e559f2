"""Reachability, distances and components as dataflows, loops that go on until nothing changes.

Components propagate labels. Small labels set out first: a label enters the loop in a round that
grows with its number of bits, by which time those before it have gone where they can. So few
vertices ever hold a label that is not final, and few messages have to be taken back.

Strongly connected components are found by coloring, loops within a loop. Each round of the outer
loop propagates labels along the edges that are left, and removes the edges whose ends got different
labels; then the same against the edges. An edge within a component is never removed, since its ends
reach each other and so hold the same labels; when nothing changes any more, only those are left.
Rounds never undo each other: every round starts from all edges, propagates along what the round
before left, and so keeps a record of what each round removed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphtide.plan.dataflow_terms import bits, col

if TYPE_CHECKING:
    from graphtide.run.dataflow.collection import Collection


def reachable(edges: Collection, roots: Collection) -> Collection:
    """(node) for all vertices that a root reaches, the roots included."""

    def step(reached: Collection) -> Collection:
        further = reached.join_map(edges, on={"node": "src"}, node=col.dst)
        return further.concat(roots).distinct()

    return roots.iterate(step, "reachable")


def transitive_closure(edges: Collection) -> Collection:
    """(src, dst) for all pairs with a path of one edge or more from one to the other."""
    plain = edges.select("src", "dst")

    def step(paths: Collection) -> Collection:
        longer = paths.join_map(plain, on={"dst": "src"}, src=col.src, dst=col.dst_right)
        return longer.concat(plain).distinct()

    return plain.iterate(step, "closure")


def distances(edges: Collection, roots: Collection) -> Collection:
    """(node, hops) for all vertices that a root reaches: breadth-first search."""
    start = roots.map(node=col.node, hops=0)
    with edges.nested_loop("distances") as loop:
        known = loop.variable(node=int, hops=int)
        further = known.join_map(edges, on={"node": "src"}, node=col.dst, hops=col.hops + 1)
        nearest = further.concat(start).min(by="node")
        known.set(nearest)
    return nearest.leave()


def shortest_paths(edges: Collection, roots: Collection) -> Collection:
    """(node, distance) by the column `weight` of edges, which must not be negative."""
    weight = dict(edges.schema)["weight"]
    zero = 0 if weight == "int" else 0.0
    start = roots.map(node=col.node, distance=zero)
    with edges.nested_loop("shortest paths") as loop:
        known = loop.variable(start)
        further = known.join_map(
            edges, on={"node": "src"}, node=col.dst, distance=col.distance + col.weight
        )
        nearest = further.concat(start).min(by="node")
        known.set(nearest)
    return nearest.leave()


ROUNDS_A_BIT = 256


def propagate(edges: Collection, labels: Collection) -> Collection:
    """(node, label): the least label that reaches each vertex along edges (src, dst).

    Labels are ints from 0 up, records (node, label). Where edges are in a loop, so is the result.
    """
    with edges.nested_loop("propagate") as loop:
        held = loop.variable(node=int, label=int)
        moved = held.join_map(edges, on={"node": "src"}, node=col.dst, label=col.label)
        waiting = labels.enter(loop, at=ROUNDS_A_BIT * bits(col.label))
        least = moved.concat(waiting).min(by="node")
        held.set(least)
    return least.leave()


def components(edges: Collection, vertices: Collection | None = None) -> Collection:
    """(node, label): the least vertex of the component of each, edges taken in both directions.

    `vertices` (node) are those without edges too; by default, the ends of edges.
    """
    both = edges.select("src", "dst").concat(edges.map(src=col.dst, dst=col.src))
    nodes = both.map(node=col.src).distinct() if vertices is None else vertices
    return propagate(both, nodes.map(node=col.node, label=col.node))


def strong_edges(edges: Collection) -> Collection:
    """The edges (src, dst) whose ends are in the same strongly connected component."""
    forward = edges.select("src", "dst")
    backward = edges.map(src=col.dst, dst=col.src)

    def round_trip(left: Collection) -> Collection:
        return _trim(_trim(left, forward), backward)

    return forward.iterate(round_trip, "strong components")


def _trim(left: Collection, edges: Collection) -> Collection:
    """Of all edges those whose ends get the same label along the edges that are left, reversed."""
    labels = propagate(left, edges.map(node=col.dst, label=col.dst).consolidate())
    by_source = edges.join_map(
        labels, on={"src": "node"}, dst=col.dst, src=col.src, source_label=col.label
    )
    ends = by_source.join(labels, on={"dst": "node"})
    same = ends.filter(col.source_label == col.label)
    return same.map(src=col.dst, dst=col.src)


def strong_components(edges: Collection, vertices: Collection | None = None) -> Collection:
    """(node, label): the least vertex of the strongly connected component of each vertex."""
    within = strong_edges(edges)
    if vertices is None:
        ends = edges.map(node=col.src).concat(edges.map(node=col.dst))
        vertices = ends.distinct()
    return propagate(within, vertices.map(node=col.node, label=col.node))


def same_generation(parents: Collection) -> Collection:
    """(one, other) of the same generation, from edges (src, dst) from child to parent.

    Children of one parent are of one generation, and so are children of parents who are. Pairs of
    a vertex with itself are left out.
    """
    plain = parents.select("src", "dst")
    siblings = plain.join_map(plain, on="dst", one=col.src, other=col.src_right)
    siblings = siblings.filter(col.one != col.other).distinct()

    def step(pairs: Collection) -> Collection:
        left = pairs.join_map(plain, on={"one": "dst"}, child=col.src, other=col.other)
        both = left.join_map(plain, on={"other": "dst"}, one=col.child, other=col.src)
        return both.filter(col.one != col.other).concat(siblings).distinct()

    return siblings.iterate(step, "same generation")
