"""Triangles and clustering coefficients from scratch: beside a plain loop and beside libraries.

All are given the same pairs, with their own graph made before the clock runs, and take turns. Ours
is the whole call of `graph.maintain`, which also keeps what later batches need. Libraries tell
coefficients; their triangles are those times the pairs of neighbours, which is not timed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench import plain_triangles
from bench.figures import Figure
from bench.peers import AbsentError
from bench.peers.libraries import Question, clustering_question
from bench.timing import medians_in_turns
from bench.walks_inputs import CLUSTERING, TRIANGLES, Pairs, Walk

OURS, PLAIN = "ours", "a plain loop"
BARS = {PLAIN: 1.5, "igraph": 1.0, "NetworKit": 1.0}
CLOSE = 1e-12


def scratch_figures(pairs: Pairs, rounds: int) -> Iterator[Figure]:
    """Both programs, beside everyone who has them."""
    rows = pairs.rows()
    libraries, absent = _libraries(pairs)
    loops = {TRIANGLES: plain_triangles.triangles, CLUSTERING: plain_triangles.clustering}
    for walk, loop in loops.items():
        section = f"{pairs.given.name}: from scratch"
        plain = Question(lambda loop=loop: loop(rows), np.asarray)  # type: ignore[misc]
        others = {PLAIN: plain, **{name: _as(walk, rows, each) for name, each in libraries.items()}}
        try:
            ours = _ours(pairs, walk)
        except AbsentError as reason:
            yield from _skipped(walk, dict.fromkeys(BARS, str(reason)), section)
            continue
        yield from _compared(walk, {OURS: ours, **others}, section, rounds)
        yield from _skipped(walk, absent, section)


def _compared(
    walk: Walk, everyone: dict[str, Question], section: str, rounds: int
) -> Iterator[Figure]:
    took = medians_in_turns({name: item.ask for name, item in everyone.items()}, rounds)
    mine = took.pop(OURS)
    for name, seconds in took.items():
        note = f"{mine * 1e3:.3g} ms over {seconds * 1e3:.3g} ms"
        title = f"{walk.title}, times {name}"
        yield Figure(title, mine / seconds, "at most", BARS[name], "x", note, section)
    answers = {name: item.answer(item.ask()) for name, item in everyone.items()}
    right = answers.pop(OURS)
    wrong = sum(int((np.abs(right - other) > CLOSE).sum()) for other in answers.values())
    note = ", ".join(answers)
    yield Figure(f"{walk.title}, values that differ", wrong, "at most", 0, "", note, section)


def _ours(pairs: Pairs, walk: Walk) -> Question:
    graph, program = pairs.graph(), walk.find()
    return Question(lambda: graph.maintain(program), lambda live: live[walk.field])


def _libraries(pairs: Pairs) -> tuple[dict[str, Question], dict[str, str]]:
    """What to ask those that are installed, and why others are not asked."""
    found: dict[str, Question] = {}
    absent: dict[str, str] = {}
    ends, vertices = pairs.ends(pairs.given.loaded), pairs.given.vertices
    for name in BARS:
        try:
            if name != PLAIN:
                found[name] = clustering_question(name, *ends, vertices)
        except AbsentError as reason:
            absent[name] = str(reason)
    return found, absent


def _as(walk: Walk, rows: plain_triangles.Neighbours, question: Question) -> Question:
    """The same question, with its answer as the program's values."""
    if walk is CLUSTERING:
        return question
    degree = np.diff(rows.start)

    def answer(found: Any) -> NDArray[Any]:
        return np.asarray(np.rint(question.answer(found) * (degree * (degree - 1) / 2)))

    return Question(question.ask, answer)


def _skipped(walk: Walk, reasons: dict[str, str], section: str) -> Iterator[Figure]:
    for name, reason in reasons.items():
        title = f"{walk.title}, times {name}"
        yield Figure(title, None, "at most", BARS[name], "x", reason, section)
