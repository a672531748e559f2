"""Runs from scratch: beside the plain loops for the same algorithm, and beside libraries.

All are given the same first version of the graph and take turns. A figure a program counts the
vertices at which any of them disagrees with us.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench import plain
from bench.figures import Figure
from bench.maintained import PROGRAMS, Selecting, maintainer_of, resident_graph
from bench.peers import AbsentError
from bench.peers.libraries import LIBRARIES, Question, questions
from bench.streams import Input
from bench.timing import medians_in_turns

OURS, UNION_FIND = "ours", "a union-find loop"
BARS = {UNION_FIND: 1.0} | dict.fromkeys(LIBRARIES, 1.0)
PLAIN_BAR = 1.5


def from_scratch(given: Input, rounds: int) -> list[Figure]:
    """Every program, beside everyone who has it."""
    graph, loops = resident_graph(given), first_version(given)
    absent: dict[str, str] = {}
    libraries = {}
    for library in LIBRARIES:
        try:
            libraries[library] = questions(library, loops, given.source)
        except AbsentError as reason:
            absent[library] = str(reason)
    figures = []
    for chosen in PROGRAMS:
        asked = {name: found[chosen.title] for name, found in libraries.items()}
        scratch = maintainer_of(chosen, graph, "fixpoint", given.source).scratch
        ours = Question(scratch, lambda found: next(iter(found.values())))
        everyone = {OURS: ours, **_plain(chosen, loops, given.source), **asked}
        figures += _figures(given, chosen, everyone, absent, rounds)
    return figures


def first_version(given: Input) -> plain.PlainGraph:
    """The arcs that are loaded first, as the plain loops take them."""
    arcs = np.sort(given.arcs(given.loaded))
    return plain.plain_graph(given.vertices, given.src[arcs], given.dst[arcs], given.weight[arcs])


def _figures(
    given: Input,
    chosen: Selecting,
    everyone: dict[str, Question],
    absent: dict[str, str],
    rounds: int,
) -> list[Figure]:
    section = f"{given.name}: from scratch"
    took = medians_in_turns({name: item.ask for name, item in everyone.items()}, rounds)
    figures = [
        Figure(
            f"{chosen.title}, times {name}",
            took[OURS] / seconds,
            "at most",
            BARS.get(name, PLAIN_BAR),
            "x",
            f"{took[OURS] * 1e3:.3g} ms over {seconds * 1e3:.3g} ms",
            section,
        )
        for name, seconds in took.items()
        if name != OURS
    ]
    figures += [
        Figure(f"{chosen.title}, times {name}", None, "at most", BARS[name], "x", reason, section)
        for name, reason in absent.items()
    ]
    return [*figures, _disagreement(chosen, everyone, section)]


def _disagreement(chosen: Selecting, everyone: dict[str, Question], section: str) -> Figure:
    answers = {name: item.answer(item.ask()) for name, item in everyone.items()}
    wrong = sum(int((answers[OURS] != other).sum()) for other in answers.values())
    others = ", ".join(name for name in answers if name != OURS)
    return Figure(f"{chosen.title}, values that differ", wrong, "at most", 0, "", others, section)


def _plain(chosen: Selecting, loops: plain.PlainGraph, source: int) -> dict[str, Question]:
    """The plain loops of a program, by name."""
    offers: dict[str, dict[str, tuple[Callable[[], Any], Callable[[Any], NDArray[Any]]]]] = {
        "BFS": {"a queue": (lambda: plain.breadth_first(loops.out, source), _hops)},
        "shortest paths": {"a heap": (lambda: plain.dijkstra(loops.out, source), np.asarray)},
        "components": {
            "a search a component": (lambda: plain.flood(loops), np.asarray),
            UNION_FIND: (lambda: plain.union_find(loops.out), np.asarray),
        },
    }
    return {name: Question(*offer) for name, offer in offers[chosen.title].items()}


def _hops(found: NDArray[np.int32]) -> NDArray[np.float64]:
    return np.where(found < 0, np.inf, found)
