"""What the benchmark compares with is right: plain loops, streams of batches, the Rust peer."""

from __future__ import annotations

import heapq
import math
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench import papers, plain
from bench.peers import AbsentError, differential
from bench.peers.libraries import least_members
from bench.streams import Batch, Input, Size, batches, rmat_input, with_held_back

Arc = tuple[int, int, int]


def random_arcs(seed: int, vertices: int = 12, arcs: int = 30) -> list[Arc]:
    random = np.random.default_rng(seed)
    ends = random.integers(vertices, size=(arcs, 2))
    weights = random.integers(1, 5, size=arcs)
    return [(int(u), int(v), int(w)) for (u, v), w in zip(ends, weights, strict=True)]


def columns(arcs: list[Arc]) -> tuple[Any, Any, Any]:
    src, dst, weight = np.array(arcs, np.int32).reshape(-1, 3).T
    return src, dst, weight


def naive_distances(arcs: list[Arc], source: int, vertices: int, *, hops: bool) -> list[float]:
    found = [math.inf] * vertices
    heap = [(0, source)]
    while heap:
        distance, u = heapq.heappop(heap)
        if distance >= found[u]:
            continue
        found[u] = distance
        for one, v, weight in arcs:
            if one == u:
                heapq.heappush(heap, (distance + (1 if hops else weight), v))
    return found


def naive_components(arcs: list[Arc], vertices: int) -> list[int]:
    labels = list(range(vertices))
    changed = True
    while changed:
        changed = False
        for u, v, _ in arcs:
            least = min(labels[u], labels[v])
            changed |= labels[u] != least or labels[v] != least
            labels[u] = labels[v] = least
    return labels


def naive_ranks(arcs: list[Arc], vertices: int, rounds: int) -> list[float]:
    ranks = [1.0] * vertices
    for _ in range(rounds):
        totals = [0.0] * vertices
        for u, v, _ in arcs:
            totals[v] += ranks[u] / sum(one == u for one, _, _ in arcs)
        ranks = [0.15 + 0.85 * total for total in totals]
    return ranks


@pytest.mark.parametrize("seed", range(8))
def test_plain_loops_are_right(seed: int) -> None:
    arcs = random_arcs(seed, arcs=5 * seed)
    graph = plain.plain_graph(12, *columns(arcs))
    hops = plain.breadth_first(graph.out, 3)
    assert np.where(hops < 0, np.inf, hops).tolist() == naive_distances(arcs, 3, 12, hops=True)
    distances = naive_distances(arcs, 3, 12, hops=False)
    assert plain.dijkstra(graph.out, 3).tolist() == distances
    components = naive_components(arcs, 12)
    assert plain.flood(graph).tolist() == components
    assert plain.union_find(graph.out).tolist() == components
    ranks = plain.page_rank(graph, 0.85, 4)
    assert ranks.tolist() == pytest.approx(naive_ranks(arcs, 12, 4))


def test_groups_are_named_after_their_least_member() -> None:
    assert least_members(np.array([7, 3, 7, 3, 5])).tolist() == [0, 1, 0, 1, 4]


@pytest.mark.parametrize("directed", [True, False])
def test_batches_insert_what_is_out_and_delete_what_is_in(directed: bool) -> None:
    src, dst, _ = columns(random_arcs(1, 40, 400))
    given = with_held_back("some", 40, src, dst, directed=directed)
    live = set(given.arcs(given.loaded).tolist())
    assert len(live) == 360 * given.arcs_an_edge
    sizes = Size(1, 0, 4), Size(5, 5, 6), Size(1000, 1000, 3)
    for size, group in zip(sizes, batches(given, sizes), strict=True):
        assert len(group) == size.rounds + 2
        for batch in group:
            inserted, deleted = set(batch.inserted.tolist()), set(batch.deleted.tolist())
            assert len(inserted) == len(batch.inserted)
            assert not inserted & live
            assert deleted <= live
            live = (live | inserted) - deleted
            if not directed:
                assert {(edge + 400) % 800 for edge in live} == live


def test_streams_are_the_same_every_time() -> None:
    sizes = Size(1, 0, 2), Size(3, 3, 2)
    first, again = (list(chain(*batches(rmat_input(5), sizes))) for _ in range(2))
    assert [batch.inserted.tolist() for batch in first] == [
        batch.inserted.tolist() for batch in again
    ]


def test_checksum_is_that_of_the_peer() -> None:
    def mix(word: int) -> int:
        word = (word + 0x9E3779B97F4A7C15) % 2**64
        word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
        word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) % 2**64
        return word ^ (word >> 31)

    pairs = [(0, 0), (1, 7), (2**31, 2**32 - 1)]
    expected = sum(mix(key << 32 | value) for key, value in pairs) % 2**64
    keys, values = np.array(pairs, np.int64).T
    assert differential.checksum(keys, values) == expected


@pytest.mark.parametrize("algorithm", ["bfs", "shortest_paths", "components", "strong_components"])
def test_the_peer_is_right_after_every_batch(algorithm: str) -> None:
    try:
        peer = differential.find_peer(build=False)
    except AbsentError as reason:
        pytest.skip(str(reason))
    arcs = random_arcs(5, arcs=60)
    first, changes = _changes()
    given = differential.Arcs(12, *columns(arcs), first)
    outcome = differential.measure(peer, algorithm, given, changes, source=3)
    live = set(first.tolist())
    expected = [_expected(algorithm, [arcs[at] for at in live])]
    for batch in changes:
        live = (live | set(batch.inserted.tolist())) - set(batch.deleted.tolist())
        expected.append(_expected(algorithm, [arcs[at] for at in live]))
    assert outcome.checksums == [item for item, _ in expected]
    assert outcome.results == [count for _, count in expected]
    assert len(outcome.batch_seconds) == len(outcome.batch_processor_seconds) == len(changes)
    assert 0 < outcome.first_processor_seconds < 60
    assert 0 < outcome.memory["read"] <= outcome.memory["peak"]


def test_a_failing_peer_is_skipped_with_its_last_words(tmp_path: Path) -> None:
    peer = tmp_path / "peer"
    peer.write_text("#!/bin/sh\necho first >&2\necho out of memory >&2\nexit 3\n")
    peer.chmod(0o755)
    arcs = differential.Arcs(2, *columns([(0, 1, 1)]), np.array([0], np.int32))
    with pytest.raises(AbsentError, match=r"skipped: .* out of memory"):
        differential.measure(peer, "bfs", arcs, [])


def _changes() -> tuple[Any, list[Batch]]:
    """The first forty of sixty arcs, then random ones in and out."""
    random = np.random.default_rng(9)
    order = random.permutation(60).astype(np.int32)
    src = np.zeros(60, np.int32)
    given = Input("some", 12, src, src, src, 1, order[:40].copy(), order[40:].copy())
    return order[:40], list(chain(*batches(given, (Size(1, 0, 2), Size(10, 10, 5)))))


def _expected(algorithm: str, arcs: list[Arc]) -> tuple[int, int]:
    """The checksum and the number of results."""
    if algorithm == "strong_components":
        reach = [naive_distances(arcs, source, 12, hops=True) for source in range(12)]
        pairs = [(u, v) for u, v, _ in arcs if reach[v][u] < math.inf]
    elif algorithm == "components":
        pairs = list(enumerate(naive_components(arcs, 12)))
    else:
        found = naive_distances(arcs, 3, 12, hops=algorithm == "bfs")
        pairs = [(v, int(value)) for v, value in enumerate(found) if value < math.inf]
    keys, values = np.array(pairs, np.int64).reshape(-1, 2).T
    return differential.checksum(keys, values), len(pairs)


def test_a_peer_that_takes_too_long_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    peer = tmp_path / "peer"
    peer.write_text("#!/bin/sh\nexec sleep 60\n")
    peer.chmod(0o755)
    monkeypatch.setattr(differential, "RUN_SECONDS", 0.1)
    arcs = differential.Arcs(2, *columns([(0, 1, 1)]), np.array([0], np.int32))
    with pytest.raises(AbsentError, match=r"skipped: .* took longer than 0\.1 s"):
        differential.measure(peer, "bfs", arcs, [])


def test_figures_beside_the_papers_are_measured_or_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHTIDE_BENCH_DATA", str(tmp_path))
    assert {item.verdict for item in papers.orders()} == {"skipped"}
    monkeypatch.setattr(papers, "SIZES", (Size(1, 0, 1), Size(2, 2, 1)))
    ranks = papers._programs(64)[0]
    found = list(papers._refined(rmat_input(6), ranks, {"tolerance": 1e-3}, "PageRank"))
    assert [item.name for item in found] == ["1+0", "2+2"]
    assert all(item.verdict == "shown" for item in found)
