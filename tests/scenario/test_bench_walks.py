"""The benchmark of walks runs through, and the loops that it compares with are right."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bench import plain_rings, plain_triangles
from bench.papers_walks import entries_looked_at
from bench.peers import AbsentError, differential
from bench.peers.libraries import clustering_question
from bench.runs_graphs import EdgeTable
from bench.runs_programs import plain_version
from bench.streams import Batch, Size, batches
from bench.walks_dogs import checksum_since, measured
from bench.walks_inputs import Pairs, Walk, distinct_pairs, scattered_pairs, with_hub
from bench.walks_rings import by_day
from bench.walks_views import coefficients

ROOT = Path(__file__).parents[2]
Edge = tuple[int, int, int]


def random_pairs(seed: int, vertices: int = 14, edges: int = 50) -> Pairs:
    src, dst = np.random.default_rng(seed).integers(vertices, size=(2, edges), dtype=np.int32)
    return distinct_pairs("random", vertices, src, dst)


def naive_triangles(pairs: Pairs, arcs: np.ndarray) -> list[int]:
    joined = {frozenset(pair) for pair in np.stack(pairs.ends(arcs), axis=1).tolist()}
    found = [0] * pairs.given.vertices
    for trio in itertools.combinations(range(pairs.given.vertices), 3):
        if all(frozenset(pair) in joined for pair in itertools.combinations(trio, 2)):
            for vertex in trio:
                found[vertex] += 1
    return found


def naive_clustering(pairs: Pairs, arcs: np.ndarray) -> list[float]:
    ends = np.concatenate(pairs.ends(arcs))
    degrees = np.bincount(ends, minlength=pairs.given.vertices).tolist()
    found = zip(naive_triangles(pairs, arcs), degrees, strict=True)
    return [2 * count / (degree * (degree - 1)) if count else 0.0 for count, degree in found]


def stream_of(pairs: Pairs) -> list[Batch]:
    sizes = Size(1, 0, 1), Size(3, 3, 8)
    return [batch for group in batches(pairs.given, sizes, 1) for batch in group]


@pytest.mark.parametrize("seed", range(6))
def test_plain_triangles_are_right(seed: int) -> None:
    pairs = random_pairs(seed, edges=12 * seed + 20)
    rows, arcs = pairs.rows(), pairs.given.loaded
    assert plain_triangles.triangles(rows).tolist() == naive_triangles(pairs, arcs)
    found = plain_triangles.clustering(rows)
    assert np.allclose(found, naive_clustering(pairs, arcs), rtol=1e-12, atol=0)


@pytest.mark.parametrize("seed", range(6))
def test_plain_triangles_stay_right(seed: int) -> None:
    pairs, passed = random_pairs(seed, edges=12 * seed + 20), []
    given = pairs.given
    kept = plain_triangles.begin(given.vertices, given.src, given.dst)
    first = plain_triangles.triangles(pairs.rows())
    plain_triangles.load(kept, *pairs.ends(given.loaded), first)
    for batch in stream_of(pairs):
        passed.append(batch)
        plain_triangles.advance(kept, *pairs.ends(batch.inserted), *pairs.ends(batch.deleted))
        assert kept.found.tolist() == naive_triangles(pairs, pairs.after(passed))
    there = np.bincount(np.concatenate(pairs.ends(pairs.after(passed))), minlength=given.vertices)
    assert kept.size.tolist() == there.tolist()


def test_a_pair_leaves_and_comes_back_in_a_full_hash() -> None:
    ends = np.array(list(itertools.combinations(range(8), 2)), np.int32)
    kept = plain_triangles.begin(8, ends[:, 0], ends[:, 1])
    nothing = np.empty(0, np.int32)
    for turn in range(40):
        chosen = np.random.default_rng(turn).permutation(ends)[: 5 + turn % 20]
        plain_triangles.advance(kept, *chosen.T, nothing, nothing)
        pairs = distinct_pairs("some", 8, *chosen.T)
        assert kept.found.tolist() == naive_triangles(pairs, np.arange(len(chosen)))
        plain_triangles.advance(kept, nothing, nothing, *chosen.T[:, ::-1])
        assert not kept.found.any()
        assert (kept.key == plain_triangles.FREE).all()


def naive_rings(edges: list[Edge], vertices: int, within: int) -> list[int]:
    """Edges are given in the order of their times, and so are those of a ring."""
    found = [0] * vertices
    for ring in itertools.combinations(edges, 4):
        follows = all(one[1] == other[0] for one, other in itertools.pairwise((*ring, ring[0])))
        later = all(one[2] < other[2] for one, other in itertools.pairwise(ring))
        members = {edge[0] for edge in ring}
        if follows and later and len(members) == 4 and ring[3][2] - ring[0][2] <= within:
            for member in members:
                found[member] += 1
    return found


@pytest.mark.parametrize("seed", range(4))
def test_plain_rings_are_right(seed: int) -> None:
    random = np.random.default_rng(seed)
    src, dst = random.integers(5, size=(2, 36), dtype=np.int32)
    edges = plain_rings.Edges(src, dst, np.sort(random.integers(40, size=36)))
    rows = list(zip(src.tolist(), dst.tolist(), edges.time.tolist(), strict=True))
    right = [naive_rings(rows, 5, within) for within in (12, 40)]
    assert sum(right[1])
    for within, expected in zip((12, 40), right, strict=True):
        kept = plain_rings.begin(5, 36)
        rings = plain_rings.arrive(kept, edges, 0, 15, within)
        rings += plain_rings.arrive(kept, edges, 15, 36, within)
        assert kept.found.tolist() == expected
        assert 4 * rings == sum(expected)


def test_edges_are_told_by_day() -> None:
    time = np.array([5, 86_400 + 5, 7, 86_400 * 3 + 9, 86_400 + 6])
    ends = np.arange(5, dtype=np.int32)
    table = EdgeTable("days", 5, ends, ends[::-1], np.ones(5), time, True, 10 * ends.astype(int))
    days = by_day(table)
    assert days.starts.tolist() == [0, 2, 4, 5]
    assert [bounds.tolist() for bounds in days.months()] == [[2, 4, 5]]
    assert {name: column.tolist() for name, column in days.columns(2, 4).items()} == {
        "src": [10, 40],
        "dst": [30, 0],
        "time": [86_405, 86_406],
    }


@pytest.mark.parametrize("directed", [True, False])
def test_coefficients_of_a_view_count_every_pair_once(directed: bool) -> None:
    src, dst = np.array([[0, 1], [1, 0], [1, 2], [2, 0], [2, 2], [0, 3]], np.int32).T
    none = np.zeros(0, np.int64)
    table = EdgeTable("few", 4, src, dst, np.ones(6), none, directed, np.arange(4))
    assert coefficients(plain_version(table, np.arange(6))).tolist() == [1 / 3, 1.0, 1.0, 0.0]


def test_a_hub_is_beside_all_others() -> None:
    base = scattered_pairs(30)
    beside = with_hub(base)
    assert base.given.vertices == beside.given.vertices == 31
    added = beside.given.loaded[len(base.given.loaded) :]
    assert sorted(beside.given.src[added].tolist()) == list(range(30))
    assert set(beside.given.dst[added].tolist()) == {30}
    assert np.array_equal(base.given.held, beside.given.held)


@pytest.mark.parametrize("library", ["igraph", "NetworKit"])
def test_libraries_find_the_same_coefficients(library: str) -> None:
    pairs = random_pairs(3)
    arcs = pairs.given.loaded
    try:
        question = clustering_question(library, *pairs.ends(arcs), pairs.given.vertices)
    except AbsentError as absent:
        pytest.skip(str(absent))
    found = question.answer(question.ask())
    assert np.allclose(found, naive_clustering(pairs, arcs), rtol=1e-12, atol=0)


def test_delta_queries_find_the_same_triangles() -> None:
    try:
        differential.find_peer(build=False)
    except AbsentError as absent:
        pytest.skip(str(absent))
    pairs = random_pairs(2, edges=80)
    stream = stream_of(pairs)
    first = np.array(naive_triangles(pairs, pairs.given.loaded))
    for names in (pairs.numbers, pairs.ranks):
        outcome = measured(pairs, names, [stream], build=False)
        for count in range(len(stream) + 1):
            right = np.array(naive_triangles(pairs, pairs.after(stream[:count])))
            assert outcome.results[count] == (right - first).sum()
            assert outcome.checksums[count] == checksum_since(names, first, right)


def test_a_program_that_is_not_there_is_skipped() -> None:
    with pytest.raises(AbsentError, match=r"skipped: there is no gt\.algorithms\.Squares"):
        Walk("squares", "Squares", "squares").find()


@pytest.mark.slow
def test_quick_run(tmp_path: Path) -> None:
    report = tmp_path / "figures.json"
    done = subprocess.run(
        [sys.executable, "-m", "bench", "walks", "--quick", "--json", str(report)],
        cwd=ROOT,
        env=os.environ | {"PYTHONWARNINGS": "error", "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    figures = json.loads(report.read_text())["figures"]
    for item in figures:
        if item["measured"] is None:
            assert item["note"].startswith("skipped: ")
    compared = [item for item in figures if "that differ" in item["name"]]
    assert len(compared) >= 5
    assert [item["name"] for item in compared if item["verdict"] == "missed"] == []


@pytest.mark.parametrize("seed", range(3))
def test_entries_are_those_that_loops_go_through(seed: int) -> None:
    pairs = random_pairs(seed)
    (batch,) = next(iter(batches(pairs.given, (Size(4, 4, 1),), 0)))
    beside: dict[int, set[int]] = {at: set() for at in range(pairs.given.vertices)}
    for one, other in np.stack(pairs.ends(np.union1d(pairs.after([batch]), batch.deleted)), 1):
        beside[int(one)].add(int(other))
        beside[int(other)].add(int(one))
    arcs = np.concatenate([batch.inserted, batch.deleted])
    changed = {tuple(sorted(pair)) for pair in np.stack(pairs.ends(arcs), 1).tolist()}
    scratch = last = second = 0
    for u, around in beside.items():
        scratch += len(around)
        last += len(around)
        second += len(around)
        for v in (v for v in around if u < v):
            scratch += len(beside[v])
            last += len(beside[v])
            second += sum(v in pair for pair in changed)
    first = sum(len(beside[v]) for _, v in changed)
    found = entries_looked_at(pairs, batch)
    assert found["from scratch"] == scratch
    assert found["in the order of the loops"] == first + second + last
    rooted = sum(len(beside[v]) + 2 * len(beside[u]) for u, v in changed)
    assert found["begun at the changed pair"] == rooted
    fewest = sum(min(len(beside[u]), len(beside[v])) for u, v in changed)
    assert found["and over the smaller row"] == 3 * fewest
    assert found["and one term for all positions"] == fewest
