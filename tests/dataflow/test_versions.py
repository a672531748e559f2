"""Versions of two coordinates, many versions at once, and everything that users may get wrong."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtide.algorithms.dataflow import components, strong_components
from graphtide.model.errors import GraphtideError, LimitError
from graphtide.plan.dataflow_terms import col
from graphtide.run.dataflow.flow import Dataflow
from tests.dataflow.building import MEMORY
from tests.dataflow.test_library import naive_components, naive_strong
from tests.examples import examples

Time = tuple[int, int]
SIDE = 3
edges_at = st.lists(
    st.tuples(st.integers(0, SIDE - 1), st.integers(0, SIDE - 1), st.integers(0, 4),
              st.integers(0, 4), st.sampled_from((1, 1, -1))),
    max_size=14,
)  # fmt: skip


@given(edges_at, st.sampled_from((components, strong_components)), st.booleans())
@settings(deadline=None, max_examples=examples(40))
def test_two_coordinates(changes: list[Any], algorithm: Any, one_by_one: bool) -> None:
    """At every version (a, b) the result is that of all edges of versions up to a and up to b."""
    flow = Dataflow(memory=MEMORY, coordinates=2)
    edges = flow.input("edges", src=int, dst=int)
    output = algorithm(edges).output()
    present: Counter[tuple[int, ...]] = Counter()
    kept = []
    for a, b, src, dst, diff in changes:
        # A multigraph may lose only what it has at this version and all later ones.
        if diff < 0 and not all(
            sum(
                c
                for (x, y, *pair), c in present.items()
                if x <= p and y <= q and pair == [src, dst]
            )
            > 0
            for p in range(a, SIDE)
            for q in range(b, SIDE)
        ):
            continue
        present[a, b, src, dst] += diff
        kept.append((a, b, src, dst, diff))
        edges.update([(src, dst)], [diff], at=(a, b))
    if one_by_one:
        for a in range(SIDE):
            for b in range(SIDE):
                flow.advance_to((a, b + 1), (a + 1, 0))
    else:
        flow.advance_to((SIDE, 0), (0, SIDE))
    found = output.changes()
    naive = naive_components if algorithm is components else naive_strong
    for p in range(SIDE):
        for q in range(SIDE):
            live = Counter({(s, d): 0 for _, _, s, d, _ in kept})
            for a, b, src, dst, diff in kept:
                live[src, dst] += diff if a <= p and b <= q else 0
            total: Counter[Any] = Counter()
            for record, (a, b), diff in found:
                total[record] += diff if a <= p and b <= q else 0
            expected = naive([pair for pair, count in live.items() for _ in range(count)])
            assert {r: c for r, c in total.items() if c} == dict.fromkeys(expected, 1)


@pytest.mark.compiled
def test_a_thousand_versions_at_once_are_a_thousand_versions() -> None:
    flow = Dataflow(memory=MEMORY)
    items = flow.input("items", key=int, value=int)
    least = items.min(by="key").output()
    for version in range(1000):
        items.insert([(0, 2000 - version)], at=version)
        items.remove([(0, 2000 - version)], at=version + 1)
    flow.advance_to(1001)
    values = Counter()
    for (_, value), version, diff in least.changes():
        values[version, value] += diff
    assert values == {
        **{(v, 2000 - v): 1 for v in range(1000)},
        **{(v + 1, 2000 - v): -1 for v in range(1000)},
    }
    (reduce,) = [c for name, c in flow.counters().items() if "reduce" in name]
    assert reduce["recomputed"] <= 1001


def test_types_travel() -> None:
    flow = Dataflow(memory=MEMORY)
    rows = flow.input("rows", name=str, price=float, sold=bool)
    dear = rows.filter((col.price / 2 >= 1.25) & ~col.sold).map(name=col.name, price=-col.price)
    total = rows.sum("price", by="name").output()
    by_name = rows.filter(col.name == "b").output()
    out = dear.output()
    least = rows.select("sold", "price").min(by="sold").output()
    rows.insert([("a", 2.5, False), ("b", -0.0, True), ("a", 0.1, False), ("b", -7.25, True)])
    flow.advance()
    assert out.records() == {("a", -2.5): 1}
    assert total.records() == {("a", 2.6): 1, ("b", -7.25): 1}
    assert by_name.records() == {("b", -7.25, True): 1, ("b", 0.0, True): 1}
    assert least.records() == {(False, 0.1): 1, (True, -7.25): 1}
    rows.remove({"name": ["a"], "price": [0.1], "sold": [False]})
    flow.advance()
    assert total.changes()[-1][1] == 1
    assert total.records() == {("a", 2.5): 1, ("b", -7.25): 1}


def test_words_at_the_ends_of_their_range() -> None:
    ends = [-(2**63), -1, 0, 2**63 - 1]
    flow = Dataflow(memory=MEMORY)
    rows = flow.input("rows", key=int, value=int)
    least, most = rows.min(by="key").output(), rows.max(by="key").output()
    joined = rows.join(rows, on="key").output()
    rows.insert([(key, value) for key in ends for value in ends])
    flow.advance()
    assert least.records() == {(key, ends[0]): 1 for key in ends}
    assert most.records() == {(key, ends[-1]): 1 for key in ends}
    assert len(joined.records()) == 64
    rows.remove([(key, ends[0]) for key in ends])
    flow.advance()
    assert least.records() == {(key, -1): 1 for key in ends}


def test_mutual_recursion_of_two_variables() -> None:
    flow = Dataflow(memory=MEMORY)
    edges = flow.input("edges", src=int, dst=int)
    roots = flow.input("roots", node=int)
    with flow.loop() as loop:
        even, odd = loop.variable(roots), loop.variable(node=int)
        hop = {"node": "src"}
        evens = odd.join_map(edges, on=hop, node=col.dst).concat(roots).distinct()
        odds = even.join_map(edges, on=hop, node=col.dst).distinct()
        even.set(evens)
        odd.set(odds)
    at_even, at_odd = evens.leave().output(), odds.leave().output()
    roots.insert([(0,)])
    edges.insert([(0, 1), (1, 2), (2, 3), (3, 1)])
    flow.advance()
    assert at_even.records() == {(n,): 1 for n in (0, 1, 2, 3)}
    edges.remove([(3, 1)])
    flow.advance()
    assert at_even.records() == {(0,): 1, (2,): 1}
    assert at_odd.records() == {(1,): 1, (3,): 1}


def misuse(flow: Dataflow, edges: Any, other: Any) -> dict[str, Any]:
    """Ways to go wrong, and a word that the explanation has."""
    return {
        "closed": lambda: edges.insert([(1, 2)], at=0),
        "go back": lambda: flow.advance_to(0),
        "runs already": lambda: edges.map(a=col.src),
        "not a record": lambda: edges.insert([(1, 2, 3)]),
        "cannot hold": lambda: edges.insert([(1.5, 2)]),
        "not a version": lambda: edges.insert([(1, 2)], at=(1, 2)),
        "no column": lambda: other.map(a=col.nothing),
        "no meaning": lambda: other.map(a=col.src + "x"),
        "neither true": lambda: other.filter(col.src),
        "truth of its own": lambda: other.filter(1 < col.src < 3),
        "in no loop": lambda: other.leave(),
        "another loop": lambda: side_by_side(other),
        "no definition": lambda: undefined(other),
        "different dataflows": lambda: other.concat(edges),
        "different columns": lambda: other.concat(other.map(a=col.src)),
        "clock": lambda: Dataflow(memory=MEMORY).import_arrangement(edges.arrange("src")),
        "at least one": lambda: other.first(0, by="src"),
    }


def side_by_side(edges: Any) -> None:
    with edges.flow.loop("one") as one, edges.flow.loop("two") as two:
        a, b = one.variable(edges), two.variable(edges)
        a.set(a)
        b.set(b)
        a.join(b, on="src")


def undefined(edges: Any) -> None:
    with edges.flow.loop() as loop:
        loop.variable(edges)


@pytest.mark.parametrize("word", misuse(None, None, None))  # type: ignore[arg-type]
def test_bad_use_is_refused_with_an_explanation(word: str) -> None:
    flow = Dataflow(memory=MEMORY)
    edges = flow.input("edges", src=int, dst=int)
    edges.arrange("src")
    flow.advance()
    building = Dataflow("building", memory=MEMORY)
    other = building.input("edges", src=int, dst=int)
    with pytest.raises(GraphtideError, match=word) as refused:
        misuse(flow, edges, other)[word]()
    assert refused.value.hint


@pytest.mark.compiled
def test_a_loop_that_never_rests_is_stopped() -> None:
    flow = Dataflow(memory=1 << 22)
    items = flow.input("items", value=int)
    items.iterate(lambda it: it.map(value=col.value + 1).concat(it).distinct()).output()
    items.insert([(0,)])
    with pytest.raises(LimitError, match="memory"):
        flow.advance()


def test_rounds_can_be_bounded() -> None:
    flow = Dataflow(memory=MEMORY)
    items = flow.input("items", value=int)
    with flow.loop() as loop:
        value = loop.variable(items)
        value.set(value.map(value=col.value * 2), rounds=5)
    output = value.leave().output()
    items.insert([(1,), (3,)])
    flow.advance()
    assert output.records() == {(32,): 1, (96,): 1}
    items.remove([(1,)])
    flow.advance()
    assert output.records() == {(96,): 1}
