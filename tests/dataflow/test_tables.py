"""The worked tables of the literature, difference by difference: shortest paths and components."""

from __future__ import annotations

from collections import Counter
from typing import Any

from graphtide.algorithms.dataflow import propagate
from graphtide.plan.dataflow_terms import col
from graphtide.run.dataflow.flow import Dataflow
from tests.dataflow.building import MEMORY

Differences = dict[tuple[int, ...], dict[tuple[int, ...], int]]


def noting(notes: Differences) -> Any:
    def note(record: tuple[int, ...], time: tuple[int, ...], diff: int) -> None:
        here = notes.setdefault(time, Counter())
        here[record] += diff
        if here[record] == 0:
            del here[record]

    return note


def plain(notes: Differences) -> Differences:
    return {time: dict(found) for time, found in notes.items() if found}


def shortest_path_differences(
    first: list[tuple[int, int, int]], updates: list[tuple[tuple[int, int, int], int]]
) -> tuple[Differences, Differences]:
    """Differences of labels and of messages, by (version, round), one edge reweighed a version."""
    labels: Differences = {}
    messages: Differences = {}
    flow = Dataflow(memory=MEMORY)
    edges = flow.input("edges", src=int, dst=int, weight=int)
    roots = flow.input("roots", node=int, distance=int)
    with flow.loop() as loop:
        known = loop.variable(roots)
        seen = known.consolidate().inspect(noting(labels))
        sent = seen.join_map(
            edges, on={"node": "src"}, node=col.dst, distance=col.distance + col.weight
        )
        told = sent.consolidate().inspect(noting(messages))
        found = told.concat(roots).min(by="node")
        known.set(found)
    found.leave().output()
    roots.insert([(0, 0)])
    edges.insert(first)
    flow.advance()
    for (src, dst, before), after in updates:
        edges.remove([(src, dst, before)])
        edges.insert([(src, dst, after)])
        flow.advance()
    return plain(labels), plain(messages)


def test_two_updates_of_shortest_paths() -> None:
    s, w1, w2, w3 = range(4)
    labels, messages = shortest_path_differences(
        [(s, w1, 2), (s, w2, 10), (w1, w2, 2), (w2, w3, 2)],
        [((s, w1, 2), 1), ((s, w2, 10), 1)],
    )
    assert labels == {
        (0, 0): {(s, 0): 1},
        (0, 1): {(w1, 2): 1, (w2, 10): 1},
        (0, 2): {(w2, 10): -1, (w2, 4): 1, (w3, 12): 1},
        (0, 3): {(w3, 12): -1, (w3, 6): 1},
        (1, 1): {(w1, 2): -1, (w1, 1): 1},
        (1, 2): {(w2, 4): -1, (w2, 3): 1},
        (1, 3): {(w3, 6): -1, (w3, 5): 1},
        (2, 1): {(w2, 10): -1, (w2, 1): 1},
        (2, 2): {(w2, 10): 1, (w2, 3): -1, (w3, 12): -1, (w3, 3): 1},
        (2, 3): {(w3, 5): -1, (w3, 12): 1},
    }
    assert messages == {
        (0, 0): {(w1, 2): 1, (w2, 10): 1},
        (0, 1): {(w2, 4): 1, (w3, 12): 1},
        (0, 2): {(w3, 12): -1, (w3, 6): 1},
        (1, 0): {(w1, 2): -1, (w1, 1): 1},
        (1, 1): {(w2, 4): -1, (w2, 3): 1},
        (1, 2): {(w3, 6): -1, (w3, 5): 1},
        (2, 0): {(w2, 10): -1, (w2, 1): 1},
        (2, 1): {(w3, 12): -1, (w3, 3): 1},
        (2, 2): {(w3, 5): -1, (w3, 12): 1},
    }


def test_one_update_of_shortest_paths() -> None:
    v0, v1, v2, v3 = range(4)
    labels, messages = shortest_path_differences(
        [(v0, v1, 10), (v0, v2, 5), (v0, v3, 21), (v1, v2, 2), (v1, v3, 9), (v3, v2, 1)],
        [((v0, v1, 10), 1)],
    )
    assert labels == {
        (0, 0): {(v0, 0): 1},
        (0, 1): {(v1, 10): 1, (v2, 5): 1, (v3, 21): 1},
        (0, 2): {(v3, 19): 1, (v3, 21): -1},
        (1, 1): {(v1, 1): 1, (v1, 10): -1},
        (1, 2): {(v2, 3): 1, (v2, 5): -1, (v3, 10): 1, (v3, 19): -1},
    }
    assert messages == {
        (0, 0): {(v1, 10): 1, (v2, 5): 1, (v3, 21): 1},
        (0, 1): {(v2, 12): 1, (v2, 22): 1, (v3, 19): 1},
        (0, 2): {(v2, 20): 1, (v2, 22): -1},
        (1, 0): {(v1, 1): 1, (v1, 10): -1},
        (1, 1): {(v2, 12): -1, (v2, 3): 1, (v3, 10): 1, (v3, 19): -1},
        (1, 2): {(v2, 11): 1, (v2, 20): -1},
    }


def test_two_updates_with_unknown_distances() -> None:
    """Here messages are counted from the round they arrive in, and all vertices start far away."""
    a, b, c, d, e = range(5)
    far = 10**6
    labels, messages = _with_infinities(a, far)
    at = {"b30": (b, 30), "d20": (d, 20), "e10": (e, 10)}
    assert messages[0, 0] == {at["b30"]: 1, at["d20"]: 1, at["e10"]: 1}
    assert messages[0, 1] == {(c, 40): 2, (e, 30): 1}
    assert messages[0, 2] == {(d, 50): 1}
    assert messages[1, 0] == {(d, 20): -1, (d, 100): 1}
    assert messages[1, 1] == {(c, 40): -1, (c, 120): 1, (e, 30): -1, (e, 110): 1}
    assert messages[1, 3] == {(c, 120): -1, (c, 70): 1, (e, 110): -1, (e, 60): 1}
    assert messages[2, 1] == {(c, 40): -1, (c, 130): 1}
    assert messages[2, 2] == {(d, 50): -1, (d, 130): 1}
    assert messages[2, 3] == {(c, 70): -1, (c, 120): 1, (e, 60): -1, (e, 110): 1}
    assert labels[0, 1] == {(b, far): -1, (b, 30): 1, (d, far): -1, (d, 20): 1,
                            (e, far): -1, (e, 10): 1}  # fmt: skip
    assert labels[0, 2] == {(c, far): -1, (c, 40): 1}
    assert labels[1, 1] == {(d, 20): -1, (d, 100): 1}
    assert labels[1, 3] == {(d, 100): -1, (d, 50): 1}
    assert labels[2, 2] == {(c, 40): -1, (c, 120): 1}
    assert labels[2, 3] == {(d, 50): -1, (d, 100): 1}
    told = {(0, 0), (0, 1), (0, 2), (1, 1), (1, 3), (2, 2), (2, 3)}
    assert set(labels) == told


def _with_infinities(source: int, far: int) -> tuple[Differences, Differences]:
    """The dataflow with every vertex labelled from the start; far vertices send nothing."""
    labels: Differences = {}
    messages: Differences = {}
    flow = Dataflow(memory=MEMORY)
    edges = flow.input("edges", src=int, dst=int, weight=int)
    start = flow.input("start", node=int, distance=int)
    with flow.loop() as loop:
        known = loop.variable(start)
        seen = known.consolidate().inspect(noting(labels))
        near = seen.filter(col.distance < far)
        sent = near.join_map(
            edges, on={"node": "src"}, node=col.dst, distance=col.distance + col.weight
        )
        told = sent.consolidate().inspect(noting(messages))
        found = told.concat(start).min(by="node")
        known.set(found)
    found.leave().output()
    a, b, c, d, e = range(5)
    start.insert([(vertex, 0 if vertex == source else far) for vertex in range(5)])
    edges.insert(
        [(a, b, 30), (a, d, 20), (a, e, 10), (b, c, 10), (d, c, 20), (d, e, 10), (c, d, 10)]
    )
    flow.advance()
    for (src, dst, before), after in [((a, d, 20), 100), ((b, c, 10), 100)]:
        edges.remove([(src, dst, before)])
        edges.insert([(src, dst, after)])
        flow.advance()
    return plain(labels), plain(messages)


def test_strongly_connected_components_by_passes() -> None:
    notes: dict[str, Differences] = {name: {} for name in ("LF", "F", "LR", "R")}
    flow = Dataflow(memory=MEMORY)
    edges = flow.input("edges", src=int, dst=int)
    ends = edges.map(node=col.src).concat(edges.map(node=col.dst)).distinct()
    everyone = ends.map(node=col.node, label=col.node)

    def trim(left: Any, along: Any, names: tuple[str, str]) -> Any:
        labels = propagate(left, everyone)
        labels = labels.consolidate().inspect(noting(notes[names[0]]))
        one = along.join_map(labels, {"src": "node"}, src=col.src, dst=col.dst, one=col.label)
        both = one.join(labels, {"dst": "node"}).filter(col.one == col.label)
        kept = both.select("src", "dst").consolidate().inspect(noting(notes[names[1]]))
        return kept.map(src=col.dst, dst=col.src)

    backward = edges.map(src=col.dst, dst=col.src)
    result = edges.iterate(
        lambda left: trim(trim(left, edges, ("LF", "F")), backward, ("LR", "R"))
    ).output()
    edges.insert([(1, 2), (1, 4), (2, 1), (4, 3)])
    flow.advance()
    edges.insert([(4, 1)])
    flow.advance()
    assert plain(notes["LF"]) == {
        (0, 0): {(1, 1): 1, (2, 1): 1, (3, 1): 1, (4, 1): 1},
        (0, 1): {(4, 1): -1, (4, 4): 1, (3, 1): -1, (3, 3): 1},
        (1, 1): {(4, 1): 1, (4, 4): -1},
    }
    assert plain(notes["F"]) == {
        (0, 0): {(1, 2): 1, (2, 1): 1, (1, 4): 1, (4, 3): 1},
        (0, 1): {(1, 4): -1, (4, 3): -1},
        (1, 0): {(4, 1): 1},
        (1, 1): {(1, 4): 1},
    }
    back = {time: {(b, a): count for (a, b), count in found.items()}
            for time, found in plain(notes["R"]).items()}  # fmt: skip
    assert back == {
        (0, 0): {(1, 2): 1, (2, 1): 1, (4, 3): 1},
        (0, 1): {(4, 3): -1},
        (1, 0): {(1, 4): 1, (4, 1): 1, (4, 3): -1},
        (1, 1): {(4, 3): 1},
    }
    assert plain(notes["LR"]) == {
        (0, 0): {(1, 1): 1, (2, 1): 1, (3, 3): 1, (4, 3): 1},
        (0, 1): {(4, 3): -1, (4, 4): 1},
        (1, 0): {(4, 1): 1, (4, 3): -1},
        (1, 1): {(4, 3): 1, (4, 4): -1},
    }
    assert result.records() == {(1, 2): 1, (2, 1): 1, (1, 4): 1, (4, 1): 1}
