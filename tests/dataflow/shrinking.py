"""Make a scenario smaller for as long as it still fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.dataflow.generating import renumbered
from tests.dataflow.scenarios import Scenario
from tests.oracle.flows import Description

Fails = Callable[[Scenario], bool]


def shrunk(scenario: Scenario, fails: Fails) -> Scenario:
    """A scenario from which nothing more can be taken away; `fails` is asked of every try."""
    smaller: Scenario | None = scenario
    while smaller is not None:
        scenario = smaller
        smaller = next((tried for tried in _smaller(scenario) if fails(tried)), None)
    return scenario


def _smaller(scenario: Scenario) -> Iterator[Scenario]:
    """Scenarios with one thing less, the largest things first."""
    if scenario.guest is not None:
        yield replace(scenario, guest=None)
    if scenario.held:
        yield replace(scenario, held=())
    for setting in scenario.settings:
        if setting[0] != "coordinates":
            rest = tuple(other for other in scenario.settings if other != setting)
            yield replace(scenario, settings=rest)
    for stop in scenario.stops[:-1]:
        rest = tuple(other for other in scenario.stops if other != stop)
        if scenario.guest is None:
            yield replace(scenario, stops=rest)
    count = len(scenario.changes)
    for size in (count // 2, count // 4, 1):
        for first in range(0, count, size or 1) if size else ():
            rest = scenario.changes[:first] + scenario.changes[first + size :]
            yield replace(scenario, changes=rest)
    if scenario.guest is None:
        for description in _descriptions(scenario.description):
            yield _described(scenario, description[0], description[1])


def _described(scenario: Scenario, made: Description, order: list[int]) -> Scenario:
    """The scenario with another description whose nodes are these of the old one."""
    new = {old: place for place, old in enumerate(order)}
    changes = tuple((new[n], *rest) for n, *rest in scenario.changes if n in new)
    return replace(scenario, description=made, changes=changes)


def _descriptions(made: Description) -> Iterator[tuple[Description, list[int]]]:
    for output in made.outputs if len(made.outputs) > 1 else ():
        yield _needed(replace(made, outputs=[output]))
    yield from _without_nodes(made)
    for variable, (found, rounds) in made.definitions.items():
        if rounds is not None:
            fewer = {**made.definitions, variable: (found, None)}
            yield _needed(replace(made, definitions=fewer))


def _without_nodes(made: Description) -> Iterator[tuple[Description, list[int]]]:
    """Let the readers of a node read one of its sources instead, where that is the same to them."""
    for number in reversed(range(len(made.nodes))):
        node = made.nodes[number]
        for source in node.sources:
            other = made.nodes[source]
            if other.schema == node.schema and other.scope == node.scope:
                yield _needed(_replaced(made, number, source))


def _replaced(made: Description, number: int, source: int) -> Description:
    def instead(other: int) -> int:
        return source if other == number else other

    nodes = [replace(n, sources=tuple(map(instead, n.sources))) for n in made.nodes]
    definitions = {v: (instead(d), rounds) for v, (d, rounds) in made.definitions.items()}
    return Description(nodes, made.loops, definitions, [instead(n) for n in made.outputs])


def _needed(made: Description) -> tuple[Description, list[int]]:
    """The nodes that outputs depend on, round loops too."""
    waiting, needed = list(made.outputs), set()
    while waiting:
        number = waiting.pop()
        if number in needed:
            continue
        needed.add(number)
        waiting += made.nodes[number].sources
        if number in made.definitions:
            waiting.append(made.definitions[number][0])
    order = sorted(needed)
    return renumbered(made, order), order
