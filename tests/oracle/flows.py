"""Dataflows as descriptions, and what they come to by definition: plain Python, round by round.

A description is a list of nodes. A node names its sources, always nodes before it; a variable also
has a definition, which may be any node. `Run` evaluates a description over inputs as they are,
without times, differences, indexes or an order of operators: a loop is run from its first round on
until all its variables are what they were in the round before, in every round of the loops around.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.oracle.flow_operators import OPERATORS, NotLegalError, Record, Records, concat, row_of
from tests.oracle.flow_values import value

Schema = tuple[tuple[str, str], ...]
MOST_ROUNDS, MOST_RECORDS, MOST_TIMES = 40, 400, 1 << 20


@dataclass(frozen=True)
class Node:
    """An operator; `given` are its arguments that are not collections."""

    operator: str
    sources: tuple[int, ...]
    schema: Schema
    scope: int
    given: tuple[Any, ...] = ()


@dataclass
class Description:
    """A dataflow: loops by the number of the loop around, 0 for none; loop 0 is the outside."""

    nodes: list[Node] = field(default_factory=list)
    loops: list[int] = field(default_factory=lambda: [0])
    definitions: dict[int, tuple[int, int | None]] = field(default_factory=dict)
    outputs: list[int] = field(default_factory=list)

    def names(self, number: int) -> list[str]:
        return [name for name, _ in self.nodes[number].schema]

    def around(self, loop: int) -> list[int]:
        """A loop and all around it, innermost first; the outside is not one."""
        found = []
        while loop != 0:
            found.append(loop)
            loop = self.loops[loop]
        return found


@dataclass
class _Frame:
    """One round of one loop, with what has been evaluated in it."""

    loop: int
    outer: _Frame | None
    round: int = 0
    variables: dict[int, Records] = field(default_factory=dict)
    known: dict[int, Records] = field(default_factory=dict)
    last: dict[int, _Frame] = field(default_factory=dict)


class Run:
    """One evaluation: `inputs` and imports by the number of their node."""

    def __init__(self, description: Description, inputs: Mapping[int, Records]) -> None:
        self.description = description
        self.inputs = inputs
        self.outside = _Frame(0, None)

    def value(self, number: int) -> Records:
        """What a node outside of all loops comes to."""
        return self._value(number, self.outside)

    def _value(self, number: int, frame: _Frame) -> Records:
        node = self.description.nodes[number]
        while frame.loop != node.scope:
            assert frame.outer is not None
            frame = frame.outer
        if number not in frame.known:
            found = self._evaluate(number, node, frame)
            frame.known[number] = _kept(found)
        return frame.known[number]

    def _evaluate(self, number: int, node: Node, frame: _Frame) -> Records:
        if node.operator in ("input", "import_arrangement"):
            return dict(self.inputs.get(number, {}))
        if node.operator == "variable":
            if frame.round > 0:
                return frame.variables[number]
            return self._value(node.sources[0], frame) if node.sources else {}
        if node.operator == "leave":
            loop = self.description.nodes[node.sources[0]].scope
            return self._value(node.sources[0], self._last_round(loop, frame))
        sources = [self._value(source, frame) for source in node.sources]
        names = [self.description.names(source) for source in node.sources]
        if node.operator == "enter":
            return _delayed(sources[0], names[0], node.given, frame.round)
        return OPERATORS[node.operator](sources, names, *node.given)

    def _last_round(self, loop: int, outer: _Frame) -> _Frame:
        """Run a loop until nothing changes any more."""
        if loop in outer.last:
            return outer.last[loop]
        frame = _Frame(loop, outer)
        variables = [n for n in self.description.definitions if self._scope(n) == loop]
        settled = self._latest_delay(loop, outer)
        while True:
            # All of the loop, also what nobody uses: a dataflow computes that too.
            for number, node in enumerate(self.description.nodes):
                if node.scope == loop:
                    self._value(number, frame)
            following = {v: self._next(v, frame) for v in variables}
            same = all(following[v] == self._value(v, frame) for v in variables)
            if same and frame.round >= settled:
                outer.last[loop] = frame
                return frame
            if frame.round >= MOST_ROUNDS:
                raise NotLegalError("a loop does not come to rest")
            frame = _Frame(loop, outer, frame.round + 1, following)

    def _next(self, variable: int, frame: _Frame) -> Records:
        definition, rounds = self.description.definitions[variable]
        if rounds is not None and frame.round >= rounds:
            return self._value(variable, frame)
        names = [self.description.names(variable), self.description.names(definition)]
        return _kept(concat([{}, self._value(definition, frame)], names))

    def _latest_delay(self, loop: int, outer: _Frame) -> int:
        delays = [0]
        for node in self.description.nodes:
            if node.operator == "enter" and node.scope == loop and node.given:
                names = self.description.names(node.sources[0])
                rows = self._value(node.sources[0], outer)
                delays += [_delay(record, names, node.given) for record in rows]
        return max(delays)

    def _scope(self, number: int) -> int:
        return self.description.nodes[number].scope


def _kept(found: Mapping[Record, int]) -> Records:
    kept = {record: count for record, count in found.items() if count}
    if len(kept) > MOST_RECORDS or any(abs(count) > MOST_TIMES for count in kept.values()):
        raise NotLegalError("too much for a test")
    return kept


def _delay(record: Record, names: list[str], given: tuple[Any, ...]) -> int:
    return max(int(value(given[0], row_of(names, record))), 0)


def _delayed(source: Records, names: list[str], given: tuple[Any, ...], now: int) -> Records:
    if not given:
        return source
    return {r: count for r, count in source.items() if _delay(r, names, given) <= now}
