"""Random graphs with random versions of them, and choosers that do as they are told."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import graphtide as gt
from graphtide.optimize.strategy import AlwaysScratch, Move, StepSizes
from tests.equivalence.algorithm_cases import Case, Parameters
from tests.equivalence.campaigns import SHAPES, Campaign, make_campaign
from tests.oracle import algorithms as naive

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class RunCase:
    """A graph whose vertices have texts as ids, and versions of it by name."""

    campaign: Campaign
    versions: dict[str, Mask]

    @property
    def ids(self) -> list[str]:
        return [f"v{at}" for at in range(self.campaign.vertices)]

    def graph(self) -> gt.Graph:
        src, dst = ([self.ids[ends[at]] for ends in self.campaign.ends] for at in (0, 1))
        return gt.Graph(src, dst, vertices=self.ids, weight=self.campaign.weights)

    def program(self, case: Case, parameters: Parameters) -> Any:
        """The program with its parameters, vertices by their ids."""
        return case.program(**{name: self._named(value) for name, value in parameters.items()})

    def _named(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return [self.ids[at] for at in value]
        return value

    def edges(self, version: str) -> list[naive.Edge]:
        held = self.versions[version]
        rows = zip(self.campaign.ends, self.campaign.weights, held, strict=True)
        return [(*ends, weight) for ends, weight, there in rows if there]


def make_run_case(pick: random.Random) -> RunCase:
    campaign = make_campaign(pick, pick.choice(SHAPES))
    edges, count = len(campaign.ends), pick.randrange(1, 14)
    style = pick.choice(("random", "sparse", "expanding", "without", "apart", "drifting", "alike"))
    versions = {f"{style}-{at}": _mask(pick, style, edges, at) for at in range(count)}
    if style == "drifting":
        held = np.array([pick.random() < 0.5 for _ in range(edges)], np.bool_)
        for name in versions:
            held = held ^ np.array([pick.random() < 0.15 for _ in range(edges)], np.bool_)
            versions[name] = held
    return RunCase(campaign, versions)


def _mask(pick: random.Random, style: str, edges: int, at: int) -> Mask:
    match style:
        case "expanding":
            return np.arange(edges) < (at + 1) * edges // 8
        case "without":
            return np.arange(edges) % 13 != at
        case "apart":
            return np.arange(edges) % 7 == at
        case "alike":
            return np.arange(edges) % 3 != (at % 2)
        case "sparse":
            return np.array([pick.random() < 0.1 for _ in range(edges)], np.bool_)
        case _:
            return np.array([pick.random() < 0.6 for _ in range(edges)], np.bool_)


class Wilful(AlwaysScratch):
    """Any way that is possible, at random."""

    def __init__(self, seed: int) -> None:
        self._pick = random.Random(seed)

    def choose(self, step: int, ready: bool) -> Move:
        ways = [Move.RESTART, Move.SPLIT, Move.PASS]
        return self._pick.choice([*ways, Move.FOLLOW, Move.FOLLOW] if ready else ways)


class SplitAt(AlwaysScratch):
    """Differentially, but for the steps that are split."""

    def __init__(self, *steps: int) -> None:
        self._steps = steps

    def choose(self, step: int, ready: bool) -> Move:
        if step in self._steps or not ready:
            return Move.SPLIT
        return Move.FOLLOW


def wilful(seed: int) -> Any:
    """What makes such a chooser for the sizes of a plan."""

    def make(sizes: StepSizes) -> Wilful:
        return Wilful(seed)

    return make
