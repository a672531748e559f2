"""Rules beside other engines: `python -m bench rules --part peers`.

Transitive closure and same generation on a tree, a grid and a random graph: run once beside
datafrog and ascent, kept current beside Differential Dataflow, all on the same edges, in seconds of
the processor. The others are compiled for the one program, by cargo; counts and checksums of the
answers are compared. Ours is the rules as text, read and planned within the time.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from pathlib import Path

import numpy as np

import graphtide as gt
from bench.figures import Figure
from bench.peers import AbsentError
from bench.peers.differential import checksum
from bench.peers.rules import Engine, find_peer, measure
from bench.rules_datalog import CLOSURE, GENERATION, Pairs
from bench.rules_engine import grid, random_graph, tree
from bench.timing import seconds_of, without_collector
from graphtide.dataflow import Output

Facts = Iterable[tuple[int, ...]]
Times = dict[str, dict[str, list[float]]]
ENGINES: tuple[Engine, ...] = ("ascent", "datafrog", "differential")
TEXTS = {"tc": CLOSURE, "sg": GENERATION}
SECTION = "peers"


def peer_figures(*, quick: bool) -> list[Figure]:
    """All figures of this part; skipped, with the reason, where the peers are not built."""
    try:
        peer = find_peer(build=not quick)
    except AbsentError as reason:
        return [Figure("rules beside other engines", None, "at most", 2, "x", str(reason), SECTION)]
    figures = []
    for program in TEXTS:
        for name, edges in inputs(program, quick=quick).items():
            figures += _figures(peer, program, name, edges, 1 if quick else 3)
    return figures


def inputs(program: str, *, quick: bool) -> dict[str, Pairs]:
    """A tree, a grid and a random graph; for sg smaller, since generations are as wide squared."""
    deep, side, vertices = (16, 40, 1_000) if program == "tc" else (10, 40, 400)
    if quick:
        deep, side, vertices = 5, 5, 20
    made = {"a tree": tree(deep), "a grid": grid(side), "a random graph": random_graph(vertices)}
    found = {}
    for name, (src, dst) in made.items():
        # Children of sg point to their parents.
        ends = (src, dst) if program == "tc" else (dst, src)
        found[name] = sorted({(int(a), int(b)) for a, b in zip(*ends, strict=True)})
    return found


def _figures(peer: Path, program: str, name: str, edges: Pairs, rounds: int) -> list[Figure]:
    chosen = np.random.default_rng(3).integers(0, len(edges), 2 if rounds == 1 else 15).tolist()
    taken: Times = {"once": {}, "first": {}, "updates": {}}
    answers = set()
    for turn in range(rounds):
        for engine in ENGINES:
            changed = chosen if engine == "differential" else []
            outcome = measure(peer, engine, program, edges, changed)
            way = "first" if changed else "once"
            taken[way].setdefault(engine, []).append(outcome.first_processor_seconds)
            taken["updates"].setdefault(engine, []).extend(outcome.batch_processor_seconds)
            answers.add((outcome.results[0], outcome.checksums[0]))
        with without_collector():
            first, batches, maintained = kept_current(program, edges, chosen)
            once, derived = run_once(program, edges)
        taken["once"].setdefault("ours", []).append(once)
        taken["first"].setdefault("ours", []).append(first)
        taken["updates"].setdefault("ours", []).extend(batches)
        if turn == 0:
            answers |= {answer_of(maintained), answer_of(derived)}
    if len(answers) != 1:
        return [Figure(f"{program} on {name}", None, "at most", 2, "x", "skipped: answers differ")]
    return _told(f"{program} on {name}", f"{answers.pop()[0]:,} facts", taken)


def _told(name: str, facts: str, taken: Times) -> list[Figure]:
    one, began, went = (
        {who: statistics.median(times) for who, times in taken[way].items() if times}
        for way in ("once", "first", "updates")
    )
    note = f"{facts}; " + ", ".join(f"{who} {seconds:.2f} s" for who, seconds in one.items())
    seconds = f"{began['ours']:.2f} and {began['differential']:.2f} s"
    moved = f"{1e3 * went['ours']:.2f} and {1e3 * went['differential']:.2f} ms"
    over = "over Differential Dataflow"
    share = one["ours"] / one["ascent"]
    first, edge = (times["ours"] / times["differential"] for times in (began, went))
    return [
        Figure(f"{name}, once, over ascent", share, "at most", 2, "x", note, SECTION),
        Figure(f"{name}, kept current, {over}", first, "at most", 1.5, "x", seconds, SECTION),
        Figure(f"{name}, one edge, {over}", edge, "below", 1, "x", moved, SECTION),
    ]


def run_once(program: str, edges: Pairs) -> tuple[float, Facts]:
    """Seconds to derive everything once, and the facts."""
    flow = gt.Dataflow(once=True)
    source = flow.input("edge", x=int, y=int)
    ends = np.array(edges, np.int64)
    source.insert({"x": ends[:, 0].copy(), "y": ends[:, 1].copy()})
    found: list[Output] = []

    def derive() -> None:
        found.append(flow.rules(TEXTS[program], edge=source)[program].output())
        flow.advance()

    taken = seconds_of(derive)
    facts = found[0].records()
    flow.host.end()
    return taken, facts


def kept_current(
    program: str, edges: Pairs, changed: list[int]
) -> tuple[float, list[float], Facts]:
    """Seconds to derive everything, and those of each edge that goes or comes; the facts."""
    rules = gt.datalog(TEXTS[program])
    rules.insert("edge", edges)
    first = seconds_of(rules.advance)
    times = []
    for number in changed:
        for act in (rules.delete, rules.insert):
            act("edge", [edges[number]])
            times.append(seconds_of(rules.advance))
    facts = rules.facts(program)
    rules.close()
    return first, times, facts


def answer_of(facts: Facts) -> tuple[int, int]:
    """How many facts there are, and their checksum as the peers make it."""
    pairs = np.array(list(facts), np.int64).reshape(-1, 2)
    return len(pairs), checksum(pairs[:, 0], pairs[:, 1])
