"""Debug mode: after every batch, every node is held to its definition at every time it has.

Every collection, in loops too, is recorded as differences. At each time at which a node or one of
its sources has a difference, and at the upper bounds of pairs of them, what the node adds up to is
compared with its definition applied to what its sources add up to. This takes time and memory
without bound, and is for small inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from graphtide.engine.dataflow.definitions import Record, Records, defined, value_of
from graphtide.engine.dataflow.records import records
from graphtide.kernels import dataflow_layout as layout
from graphtide.kernels.dataflow_ports import NOWHERE, first_position
from graphtide.kernels.dataflow_times import not_after, upper_bound
from graphtide.model.errors import GraphtideError
from graphtide.plan.dataflow import Enter, Import, Input, Leave, Output, Variable, sources_of

if TYPE_CHECKING:
    from graphtide.engine.dataflow.host import Dweller, Host

Moment = tuple[int, tuple[int, ...]]
"""A version word, and the rounds of the loops around."""
Row = tuple[Record, Moment, int]
MOST_MOMENTS = 400
LAST_ROUND = 1 << 62


class Checker:
    """The differences of all collections of one dataflow, and the check of them."""

    def __init__(self, host: Host, dweller: Dweller, functions: Sequence[Any]) -> None:
        self.host = host
        self.dweller = dweller
        self.functions = functions
        self.rows: dict[int, list[Row]] = {number: [] for number in dweller.installed.watched}
        self._shape = int(host.machine.words[layout.VERSION_SHAPE])

    def check(self) -> None:
        """Take what has passed since the last check, and check all nodes."""
        for number, port in self.dweller.installed.watched.items():
            self._take(number, port)
        for number in self.rows:
            self._check_node(number)

    def _take(self, number: int, port: int) -> None:
        from graphtide.engine.dataflow.host import rounds_of

        machine, plan = self.host.machine, self.dweller.plan
        times = rounds_of(plan, number)
        while (position := int(first_position(machine.words, port))) != NOWHERE:
            words = machine.take(port, position)
            found = records(words, plan.schemas[number], self.host.texts)
            versions, diffs = words[:, -2].tolist(), words[:, -1].tolist()
            for record, version, diff in zip(found, versions, diffs, strict=True):
                self.rows[number].append((record, (version, times.rounds(position)), diff))

    def _check_node(self, number: int) -> None:
        node = self.dweller.plan.nodes[number]
        if isinstance(node, Input | Import | Output):
            return
        for moment in self._moments(number):
            found = self._at(number, moment)
            expected = self._expected(number, moment)
            if found != expected:
                self._complain(number, moment, found, expected)

    def _expected(self, number: int, moment: Moment) -> Records:
        """What a node has to be at a moment."""
        plan = self.dweller.plan
        node = plan.nodes[number]
        version, rounds = moment
        match node:
            case Leave():
                return self._at(node.source, (version, (*rounds, LAST_ROUND)))
            case Variable():
                return self._variable(number, node, moment)
            case Enter() if node.delay is not None:
                names = [name for name, _ in plan.schemas[number]]
                delay = node.delay
                return {
                    record: count
                    for record, count in self._at(node.source, moment).items()
                    if value_of(delay, dict(zip(names, record, strict=True))) <= rounds[-1]
                }
        given = [self._at(source, moment) for source in sources_of(node)]
        return defined(plan, number, given, self.functions)

    def _variable(self, number: int, node: Variable, moment: Moment) -> Records:
        version, rounds = moment
        last = self.dweller.plan.rounds.get(number, LAST_ROUND)
        now = min(rounds[-1], last)
        if now > 0:
            before = (version, (*rounds[:-1], now - 1))
            return self._at(self.dweller.plan.definitions[number], before)
        return {} if node.initial is None else self._at(node.initial, moment)

    def _at(self, number: int, moment: Moment) -> Records:
        """What a node adds up to at a moment; rounds of loops that it is not in do not count."""
        found: Records = {}
        for record, when, diff in self.rows[number]:
            if self._part_of(when, moment):
                found[record] = found.get(record, 0) + diff
        return {record: count for record, count in found.items() if count}

    def _part_of(self, one: Moment, other: Moment) -> bool:
        return bool(not_after(one[0], other[0], self._shape)) and all(
            a <= b for a, b in zip(one[1], other[1], strict=False)
        )

    def _moments(self, number: int) -> list[Moment]:
        """The moments to check a node at, in its own scope."""
        plan = self.dweller.plan
        depth = plan.scopes[plan.scope_of[number]].depth
        found = {
            (version, (*rounds, *([0] * depth))[:depth])
            for near in (number, *sources_of(plan.nodes[number]))
            for _, (version, rounds), _ in self.rows[near]
        }
        ordered = sorted(found)[-MOST_MOMENTS:]
        for one, other in list(combinations(ordered[-20:], 2)):
            version = int(upper_bound(one[0], other[0], self._shape))
            found.add((version, tuple(map(max, one[1], other[1]))))
        return sorted(found)[-MOST_MOMENTS:]

    def _complain(self, number: int, moment: Moment, found: Records, expected: Records) -> None:
        extra = {r: c for r, c in found.items() if expected.get(r) != c}
        missing = {r: c for r, c in expected.items() if found.get(r) != c}
        raise GraphtideError(
            f"Node {number} of {self.dweller.plan.name} is not what its definition says",
            where=f"version {moment[0]}, rounds {moment[1]}: it has {_few(extra)}, "
            f"and should have {_few(missing)}",
            hint="a function that gives different results for equal records can be the reason; "
            "otherwise this is a mistake in Graphtide: please report it with the dataflow",
        )


def _few(found: Records) -> str:
    listed = ", ".join(f"{record} x {count}" for record, count in sorted(found.items())[:5])
    return listed or "nothing else"
