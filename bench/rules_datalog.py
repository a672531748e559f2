"""Datalog: `python -m bench rules --part datalog`.

Transitive closure and same generation beside the same computations written by hand as dataflows, in
the same run; queries with one argument known on a standing million of edges; and the list of
dynamic-datalog, a program of twenty relations as it was published. Through `graphtide` alone, in
seconds of the processor; answers are compared.
"""

from __future__ import annotations

import statistics
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import graphtide as gt
from bench import data
from bench.figures import Figure
from bench.timing import medians_in_turns, seconds_of, without_collector
from graphtide.algorithms import dataflow as library

Pairs = list[tuple[int, int]]
CLOSURE = """
.decl edge(x: number, y: number)
.decl tc(x: number, y: number)
tc(x, y) :- edge(x, y).
tc(x, z) :- tc(x, y), edge(y, z).
.output tc
"""
GENERATION = """
.decl edge(x: number, y: number)
.decl sg(x: number, y: number)
sg(x, y) :- edge(x, p), edge(y, p), x != y.
sg(x, y) :- edge(x, p), sg(p, q), edge(y, q), x != y.
.output sg
"""
POINTS_TO = """
.decl address(y: number, x: number)
.decl copy(y: number, x: number)
.decl load(y: number, x: number)
.decl store(y: number, x: number)
.decl points(y: number, x: number)
points(y, x) :- address(y, x).
points(y, z) :- copy(y, x), points(x, z).
points(y, w) :- load(y, x), points(x, z), points(z, w).
points(z, w) :- store(y, x), points(y, z), points(x, w).
.output points
"""
VARIABLES = 40
CRDT = "dynamic-datalog-crdt"
CRDT_RESULTS = 104_653


def datalog_figures(*, quick: bool) -> list[Figure]:
    """All figures of this part."""
    figures = []
    for name, edges in inputs(14, quick=quick).items():
        figures += program_figures(f"tc on {name}", CLOSURE, "tc", edges, _closure)
    for name, edges in inputs(9, quick=quick).items():
        # A generation of a tree has as many pairs as its width squared.
        figures += program_figures(f"sg on {name}", GENERATION, "sg", edges, _generation)
    figures += query_figures(10_000 if quick else 1_000_000, 3 if quick else 21)
    figures += points_to_figures(*((50, 3) if quick else (2_000, 60)))
    return [*figures, *([] if quick else crdt_figures())]


def inputs(deep: int, *, quick: bool) -> dict[str, Pairs]:
    """Edges from child to parent: a tree so deep, a grid, and a random graph without circles."""
    depth, side, vertices = (5, 5, 40) if quick else (deep, 40, 2_500)
    tree = [(at, at // 2) for at in range(2, 1 << depth)]
    grid = [
        (row * side + column, (row + down) * side + column + 1 - down)
        for row in range(side)
        for column in range(side)
        for down in (0, 1)
        if row + down < side and column + 1 - down < side
    ]
    ends = np.sort(np.random.default_rng(5).integers(0, vertices, (3 * vertices, 2)), axis=1)
    random = sorted({(int(a), int(b)) for a, b in ends if a != b})
    return {"a tree": tree, "a grid": grid, "a random graph": random}


def program_figures(
    name: str, text: str, relation: str, edges: Pairs, by_hand: Callable[[Pairs], int]
) -> list[Figure]:
    """A first run beside the same by hand, and what one edge takes that goes and comes back."""
    sizes: dict[str, int] = {}

    def rules() -> None:
        program = gt.datalog(text)
        program.insert("edge", edges)
        program.advance()
        sizes["rules"] = program.size(relation)
        program.close()

    def hand() -> None:
        sizes["hand"] = by_hand(edges)

    took = medians_in_turns({"rules": rules, "hand": hand}, 3)
    note = f"{took['rules']:.2f} s, {sizes['rules']:,} facts"
    if sizes["rules"] != sizes["hand"]:
        return [Figure(name, None, "at most", 1.2, "x", "skipped: the answers differ")]
    share = took["rules"] / took["hand"]
    ratio = Figure(f"{name}, over a dataflow by hand", share, "at most", 1.2, "x", note, "datalog")
    return [ratio, _update(name, text, edges)]


def _update(name: str, text: str, edges: Pairs) -> Figure:
    program = gt.datalog(text)
    program.insert("edge", edges)
    program.advance()
    times = []
    with without_collector():
        for at in np.random.default_rng(3).integers(0, len(edges), 15).tolist():
            edge = [edges[at]]
            program.delete("edge", edge)
            times.append(seconds_of(program.advance))
            program.insert("edge", edge)
            times.append(seconds_of(program.advance))
    program.close()
    median = 1e3 * statistics.median(times)
    return Figure(f"{name}, one edge", median, "at most", None, "ms", section="datalog")


def _closure(edges: Pairs) -> int:
    flow = gt.Dataflow()
    source = flow.input("edges", src=int, dst=int)
    output = library.transitive_closure(source).output()
    return _ran(flow, source, output, edges)


def _generation(edges: Pairs) -> int:
    flow = gt.Dataflow()
    source = flow.input("edges", src=int, dst=int)
    output = library.same_generation(source).output()
    return _ran(flow, source, output, edges)


def _ran(
    flow: gt.Dataflow,
    source: gt.dataflow.InputCollection,
    output: gt.dataflow.Output,
    edges: Pairs,
) -> int:
    source.insert(edges)
    flow.advance()
    found = len(output.records())
    flow.host.end()
    return found


def query_figures(edges: int, rounds: int) -> list[Figure]:
    """`tc(x, ?)` and `tc(?, x)` on a standing tree: asked, answered and closed."""
    program = gt.datalog(CLOSURE.replace(".output tc", ""))
    places = np.arange(1, edges + 1)
    program.insert("edge", {"x": places // 2, "y": places})
    program.advance()
    figures = []
    starts = np.random.default_rng(2).integers(edges // 3, edges, rounds).tolist()
    for name, goal in (("tc(x, ?)", "tc({}, y)"), ("tc(?, x)", "tc(y, {})")):

        def ask(goal: str = goal) -> None:
            with program.query(goal.format(starts[0])) as query:
                query.facts()

        ask()  # The first one makes the index that all others share.
        times = []
        with without_collector():
            for start in starts:
                starts[0] = start
                times.append(seconds_of(ask))
        median = 1e3 * statistics.median(times)
        note = f"on {edges:,} standing edges; the index is there"
        figures.append(Figure(f"{name} answered", median, "at most", 10, "ms", note, "datalog"))
    program.close()
    return figures


def points_to_figures(functions: int, rounds: int) -> list[Figure]:
    """Andersen's analysis of made-up functions that hand pointers to each other; an edit of it."""
    chance = np.random.default_rng(11)
    made = assignments(functions, chance)
    program = gt.datalog(POINTS_TO)
    for relation, facts in made.items():
        program.insert(relation, facts)
    first = seconds_of(program.advance)
    copies, times = made["copy"], []
    with without_collector():
        for at in chance.integers(0, len(copies), rounds).tolist():
            program.delete("copy", [copies[at]])
            times.append(seconds_of(program.advance))
            program.insert("copy", [copies[at]])
            program.advance()
    told = f"{sum(map(len, made.values())):,} assignments, {program.size('points'):,} facts"
    program.close()
    median = 1e3 * statistics.median(times)
    note = f"greatest {1e3 * max(times):.2f} ms"
    return [
        Figure("points-to, from its facts", first, "at most", None, "s", told, "datalog"),
        Figure("points-to, one assignment", median, "at most", 25, "ms", note, "datalog"),
    ]


def assignments(functions: int, chance: np.random.Generator) -> dict[str, Pairs]:
    """Assignments within functions of as many variables each, and arguments between them."""
    counts = {"address": 12, "copy": 20, "load": 5, "store": 5}
    found: dict[str, Pairs] = {}
    for relation, count in counts.items():
        own = np.repeat(np.arange(functions), count) * VARIABLES
        ends = chance.integers(0, VARIABLES, (2, len(own))) + own
        found[relation] = list(zip(*ends.tolist(), strict=True))
    passed = chance.integers(0, functions * VARIABLES, (2 * functions, 2)).tolist()
    found["copy"] += [(to, of) for to, of in passed]
    return found


def crdt_figures() -> list[Figure]:
    """The list of dynamic-datalog from its published program and facts, and a removal."""
    folder = data.data_folder() / CRDT
    if not (folder / "input.zip").is_file():
        note = data.missing(f"{CRDT}/input.zip")
        return [Figure("CRDT, all", None, "at most", 4, "s", note, "datalog")]
    with tempfile.TemporaryDirectory() as unpacked:
        zipfile.ZipFile(folder / "input.zip").extractall(unpacked)
        program = gt.datalog(folder / "query.dl", facts=Path(unpacked, "input"))
        lines = Path(unpacked, "input", "remove.txt").read_text().splitlines()
        removed = [lines[at] for at in np.random.default_rng(7).integers(0, len(lines), 40)]
    with without_collector():
        first = seconds_of(program.advance)
        right = program.size("result") == CRDT_RESULTS
        times = []
        for line in removed:
            fact = [tuple(map(int, line.split()))]
            for act in (program.delete, program.insert):
                act("remove_input", fact)
                times.append(seconds_of(program.advance))
    program.close()
    note = f"greatest {1e3 * max(times):.0f} ms" if right else "skipped: the answer is another one"
    median = 1e3 * statistics.median(times)
    return [
        Figure("CRDT from its facts", first if right else None, "at most", 4, "s", "", "datalog"),
        Figure(
            "CRDT, one removal", median if right else None, "at most", 10, "ms", note, "datalog"
        ),
    ]
