"""What a view costs beyond its kernel: steps of one edge that change next to nothing.

All that such a step takes is charged, its kernel included: the fixed cost is less.
"""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np

from bench.figures import Figure
from bench.runs_collections import Views
from bench.runs_programs import COMPONENTS, tasks
from bench.timing import seconds_of, without_collector
from graphtide.optimize.strategy import AlwaysDifferential, AlwaysTogether
from graphtide.run.collection.runner import RunSettings
from graphtide.run.collection.start import RunInHand
from graphtide.run.collection.versions import Versions
from graphtide.run.live.chosen_program import chosen_program
from graphtide.store.results import PartsInMemory

BAR, ROUNDS = 0.1, 5


def fixed_costs(views: Views, versions: Versions) -> list[Figure]:
    """Milliseconds a step, where steps go together and where each is decided on."""
    program: Any = tasks(views.graph)[COMPONENTS].programs[0]
    hand = RunInHand(chosen_program(program, "auto"), versions)
    base, section = hand.base(), f"{views.name} ({len(views):,} views)"
    choosers = {"together": AlwaysTogether, "one by one": AlwaysDifferential}
    figures = []
    for word, chooser in choosers.items():
        times = []
        for _ in range(ROUNDS):
            with without_collector():
                run = lambda: hand.run(base, PartsInMemory(), chooser(), RunSettings())  # noqa: B023, E731
                times.append(seconds_of(run))
            graph = versions.known.resident
            graph.flip(np.empty(0, np.int32), graph.live_edges())
        cost = statistics.median(times) / len(hand.steps) * 1e3
        name = f"a view with its kernel, steps {word}"
        figures.append(Figure(name, cost, "below", BAR, "ms", "outage and back", section))
    return figures
