"""Programs over a lean graph equal their definition, bit by bit the same by any threads."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphtide import algorithms
from graphtide.engine.lean.runs import COMPONENTS, OFFERS, ROUNDS, LeanRun, component_labels
from graphtide.engine.lean.workers import Workers
from graphtide.engine.synchronous import facts
from graphtide.kernels.graph.adjacency import CompressedRows, LeanGraph, compress
from graphtide.model.errors import InputError, LimitError
from graphtide.plan.programs import VertexProgram
from graphtide.store.arrays import mapped_array
from tests.compiled import few_compiled
from tests.equivalence.algorithm_cases import CASES, Case
from tests.equivalence.campaigns import SHAPES, make_campaign
from tests.equivalence.lane_programs import LANE_PROGRAMS
from tests.equivalence.summing_programs import SUMMING
from tests.equivalence.test_synchronous import agree, parameters_for
from tests.examples import repeats
from tests.lean_graphs import lean_values, same_bits, small_parts, values_by_all
from tests.oracle.programs import run
from tests.unit.programs.sources import read

ROUNDS_OF_SHAPES = repeats(1)
ON_VERTICES = [case for case in CASES if case.program.plan.pairs is None]
COMPILED = ("PageRank", "BFS", "WCC")
READING_EDGES = ("ShortestPaths", "WidestPath", "CollaborativeFiltering", "CoTrainingEM")
EDGES = [(0, 1), (0, 1), (1, 1), (2, 0), (1, 2), (4, 4), (2, 2), (3, 0)]


def lean_campaign(program: VertexProgram, parameters: Any, pick: random.Random, shape: Any) -> None:
    """The live edges of a random graph with loops and parallel edges, heavily deleted."""
    campaign = make_campaign(pick, shape)
    given = parameters(pick, campaign.vertices)
    edges = campaign.edges()
    src, dst = (np.array([edge[end] for edge in edges], np.int32) for end in (0, 1))
    weights = np.array([edge[2]["weight"] for edge in edges], np.float64)
    lean = compress(campaign.vertices, src, dst, {"weight": weights})
    _, history = run(program, given, campaign.vertices, edges)
    for settles in {False, bool(len(weights) == 0 or weights.min() >= 0)}:
        found = values_by_all(lean, program, tuple(given.values()), settles=settles)
        for name, values in found.items():
            assert agree(values.tolist(), history[-1][name], 1e-9), (shape, name, settles)


@pytest.mark.parametrize("case", few_compiled(ON_VERTICES, COMPILED, lambda case: case.name))
def test_the_library_equals_its_definition(case: Case) -> None:
    with small_parts():
        for shape in SHAPES[:2] if "Converged" in case.name else SHAPES:
            for seed in range(ROUNDS_OF_SHAPES):
                pick = random.Random(f"lean {case.name} {shape} {seed}")
                lean_campaign(case.program.plan, case.parameters, pick, shape)


PLANS = list({item.plan.name: item.plan for item in (*SUMMING, *LANE_PROGRAMS)}.values())


@pytest.mark.parametrize("program", few_compiled(PLANS, ()))
def test_programs_of_every_kind_equal_their_definition(program: VertexProgram) -> None:
    def parameters(pick: random.Random, vertices: int) -> dict[str, Any]:
        return parameters_for(program, pick, vertices)

    with small_parts():
        for shape in SHAPES:
            pick = random.Random(f"lean {program.name} {shape}")
            lean_campaign(program, parameters, pick, shape)


@pytest.mark.interpreted
@pytest.mark.parametrize("vertices", [0, 1, 9])
def test_graphs_without_edges(vertices: int) -> None:
    none = np.empty(0, np.int32)
    lean = compress(vertices, none, none)
    assert lean.edges == 0
    for program, start in ((algorithms.WCC, range(vertices)), (algorithms.PageRank, None)):
        given = tuple(item.default for item in program.plan.parameters)
        values = values_by_all(lean, program.plan, given, settles=True)
        (found,) = values.values()
        assert len(found) == vertices
        assert start is None or found.tolist() == list(start)


@pytest.mark.interpreted
def test_a_lean_graph_knows_every_edge_from_both_ends() -> None:
    src, dst = (np.array(ends, np.int32) for ends in zip(*EDGES, strict=True))
    lean = compress(6, src, dst, {"weight": np.arange(8.0)})
    by_source = sorted(range(8), key=lambda at: (src[at], at))
    assert lean.out.neighbour.tolist() == dst[by_source].tolist()
    assert lean.columns["weight"].tolist() == by_source
    by_destination = sorted(range(8), key=lambda at: (dst[by_source][at], at))
    assert lean.into.edge.tolist() == by_destination
    assert lean.into.neighbour.tolist() == src[by_source][by_destination].tolist()
    assert np.diff(lean.out.offsets).tolist() == np.bincount(src, minlength=6).tolist()
    assert np.diff(lean.into.offsets).tolist() == np.bincount(dst, minlength=6).tolist()


def small_lean(seed: int = 3, vertices: int = 40, edges: int = 160) -> LeanGraph:
    pick = np.random.default_rng(seed)
    src, dst = pick.integers(0, vertices, (2, edges)).astype(np.int32)
    return compress(vertices, src, dst, {"weight": pick.integers(1, 9, edges) / 2})


WAYS = [
    (algorithms.WCC.plan, (), COMPONENTS),
    (algorithms.BFS.plan, (3,), OFFERS),
    (algorithms.ShortestPaths.plan, (3,), OFFERS),
    (algorithms.PageRank.plan, (0.85, 5), ROUNDS),
]


@pytest.mark.interpreted
def test_programs_are_computed_in_the_way_that_suits_them() -> None:
    lean = small_lean()
    for program, given, way in WAYS:
        for settles in (True, False):
            made = LeanRun(lean, program, given, settles=settles)
            with Workers(1) as workers:
                made.values(workers)
            assert made.way == (way if settles or way is COMPONENTS else ROUNDS), program.name


def wide(lean: LeanGraph) -> LeanGraph:
    """With the offsets and numbers of a graph of more than 2^31 edges."""

    def rows(given: CompressedRows) -> CompressedRows:
        edge, offsets = given.edge.astype(np.int64), given.offsets.astype(np.uint64)
        return given._replace(offsets=offsets, edge=edge)

    return lean._replace(out=rows(lean.out), into=rows(lean.into))


def far_away(rows: CompressedRows, path: Path, by: int) -> CompressedRows:
    """The same rows behind `by` entries that belong to nobody, in a file that is mostly a hole."""
    with open(path, "wb") as file:
        file.truncate(4 * (by + len(rows.neighbour)))
        file.seek(4 * by)
        rows.neighbour.tofile(file)
    neighbour = mapped_array(path, np.int32)
    return rows._replace(offsets=rows.offsets + np.uint64(by), neighbour=neighbour)


@pytest.mark.interpreted
@pytest.mark.parametrize("settles", [True, False])
def test_places_beyond_2_to_31(tmp_path: Path, settles: bool) -> None:
    """Messages that read no edge go along places; nothing but the rows is that large."""
    lean, by = small_lean(), (1 << 31) + 77
    large = wide(lean)
    large = large._replace(
        out=far_away(large.out, tmp_path / "out", by),
        into=far_away(large.into, tmp_path / "into", by)._replace(edge=large.into.edge),
    )
    with small_parts():
        for program, given, _ in WAYS:
            if program.name == "ShortestPaths":
                continue
            expected = lean_values(lean, program, given)
            found = values_by_all(large, program, given, settles=settles)
            for name in expected:
                assert same_bits(found[name], expected[name]), program.name


@pytest.mark.interpreted
def test_wide_numbers_of_edges() -> None:
    lean = small_lean(vertices=8, edges=30)
    with small_parts():
        for case in ON_VERTICES:
            if case.name not in READING_EDGES:
                continue
            given = tuple(case.parameters(random.Random(5), lean.vertices).values())
            expected = lean_values(lean, case.program.plan, given)
            found = values_by_all(wide(lean), case.program.plan, given)
            assert all(same_bits(found[name], expected[name]) for name in expected), case.name


@pytest.mark.compiled
def test_threads_that_meet_at_vertices_agree() -> None:
    """Many threads on a graph in which a few vertices have most edges, time and again."""
    pick = np.random.default_rng(11)
    ends = np.minimum(pick.zipf(1.4, (2, 150_000)), 30_000).astype(np.int32) - 1
    lean = compress(30_000, *ends)
    with small_parts(work=2_000, few=50):
        for program, given, _ in WAYS:
            if program.name == "ShortestPaths":
                continue
            first = lean_values(lean, program, given, settles=True)
            for _ in range(5):
                found = lean_values(lean, program, given, settles=True, workers=7)
                assert all(same_bits(found[name], first[name]) for name in first), program.name


@pytest.mark.interpreted
def test_what_cannot_be_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    lean = small_lean()
    with pytest.raises(InputError, match="no property 'weight'"):
        lean_values(lean._replace(columns={}), algorithms.ShortestPaths.plan, (0,))
    with pytest.raises(InputError, match=r"index \d+ is outside of an array of 3"):
        lean_values(lean, read(OUTSIDE).plan, ())
    monkeypatch.setattr(facts, "MOST_ITERATIONS", 50)
    with pytest.raises(LimitError, match="still changes"):
        lean_values(lean, read(RESTLESS).plan, ())


OUTSIDE = """
@gt.program
class Outside:
    iterations = 2
    x = gt.State(float, size=3)
    got = gt.Sum(float)

    def traverse(self, u, e, v):
        v.got(u.x[0])

    def update(self, v):
        v.x[v.id + 3] = v.got
"""
RESTLESS = """
@gt.program
class Restless:
    x: int
    got = gt.Count()

    def traverse(self, u, e, v):
        v.got()

    def update(self, v):
        v.x = v.x + 1 if v.got < 1000 else 0
"""


HEAD_STARTS = """
@gt.program
class HeadStarts:
    sources: gt.Vertices
    x = gt.State(float, default=inf)
    got = gt.Min(float)

    def initialize(self, v):
        if v in self.sources:
            v.x = 2.0 * v.id

    def traverse(self, u, e, v):
        v.got(u.x + 1.0)

    def update(self, v):
        v.x = min(v.x, v.got)
"""
ALARM = """
@gt.program
class Alarm:
    iterations = 5
    x: int
    got = gt.Count()

    def traverse(self, u, e, v):
        v.got()

    def update(self, v):
        v.x = v.got + 1 if self.iteration == 3 else v.x
"""


def check_small(program: VertexProgram, given: dict[str, Any], **more: Any) -> None:
    """A program on some small graphs, by its definition."""
    for seed in range(4):
        lean = small_lean(seed, 30, 60 + 40 * seed)
        sources = np.repeat(np.arange(30), np.diff(lean.out.offsets)).tolist()
        weights = [{"weight": weight} for weight in lean.columns["weight"].tolist()]
        edges = list(zip(sources, lean.out.neighbour.tolist(), weights, strict=True))
        expected, _ = run(program, given, 30, edges)
        for name, values in values_by_all(lean, program, tuple(given.values()), **more).items():
            assert values.tolist() == expected[name], (program.name, seed)


@pytest.mark.interpreted
def test_searches_from_many_vertices_that_begin_with_different_values() -> None:
    sources = {"sources": (0, 3, 5, 9, 12, 20)}
    with small_parts():
        check_small(read(HEAD_STARTS).plan, sources, settles=True)
        check_small(algorithms.NearestSource.plan, sources, settles=True)


@pytest.mark.interpreted
def test_searches_in_which_everybody_looks_for_those_that_were_found_last() -> None:
    with small_parts():
        check_small(algorithms.BFS.plan, {"source": 0}, settles=True)


@pytest.mark.interpreted
def test_an_update_that_waits_for_an_iteration_in_which_nobody_has_changed() -> None:
    with small_parts():
        check_small(read(ALARM).plan, {})


@pytest.mark.interpreted
@pytest.mark.parametrize("sign", [1, -1])
def test_components_of_stars_and_of_random_graphs(sign: int) -> None:
    """Those in the largest component are passed over: others find it from their side."""
    star = np.zeros(20, np.int32), np.arange(1, 21, dtype=np.int32)
    graphs = [compress(24, *star), compress(24, *star[::-1])]
    graphs += [small_lean(seed, 40, 10 * seed) for seed in range(1, 8)]
    for lean in graphs:
        sources = np.repeat(np.arange(lean.vertices), np.diff(lean.out.offsets)).tolist()
        ends = list(zip(sources, lean.out.neighbour.tolist(), strict=True))
        label = list(range(lean.vertices))
        while any(label[one] != label[other] for one, other in ends):
            for one, other in ends:
                label[one] = label[other] = sign * min(sign * label[one], sign * label[other])
        with small_parts(), Workers(2) as workers:
            assert component_labels(lean, sign, workers).tolist() == label
