"""What a whole dataflow means: every collection from the inputs as they are, round by round.

There are no differences, no times and no order of operators here: a collection is asked for, asks
for its sources, and is remembered for the round it belongs to. A loop begins with the initial
values of its variables and goes on until none of them changes and no record is still to enter, anew
for every round of the loops around it. Debug mode compares the machine with this: the two share the
definitions of operators on whole collections, and no more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphtide.engine.dataflow.definitions import Records, defined
from graphtide.engine.dataflow.value_definitions import value_of
from graphtide.model.errors import GraphtideError
from graphtide.plan import dataflow as nodes


@dataclass
class Frame:
    """One round of one loop, or the outside of all, with the collections that are known there.

    `inner` are all rounds of the loops in it.
    """

    loop: int
    outer: Frame | None = None
    round: int = 0
    variables: dict[int, Records] = field(default_factory=dict)
    known: dict[int, Records] = field(default_factory=dict)
    inner: dict[int, list[Frame]] = field(default_factory=dict)

    def rounds(self) -> tuple[int, ...]:
        """The rounds of all loops around, outermost first."""
        return () if self.outer is None else (*self.outer.rounds(), self.round)


class Meaning:
    """One dataflow at one version; `given` are its inputs and imports by their number.

    A loop that is not at rest after `most_rounds` is an error.
    """

    def __init__(
        self,
        plan: nodes.DataflowPlan,
        functions: Sequence[Any],
        given: Mapping[int, Records],
        most_rounds: int,
    ) -> None:
        self.plan = plan
        self.functions = functions
        self.given = given
        self.most_rounds = most_rounds
        self.outside = Frame(0)

    def value(self, number: int) -> Records:
        """What a collection outside of all loops comes to."""
        return self._value(number, self.outside)

    def frames(self) -> Iterator[Frame]:
        """Every round of every loop, all collections evaluated; loops before what is around."""
        self._complete(self.outside)
        yield from _within(self.outside)

    def _complete(self, frame: Frame) -> None:
        """Evaluate all of one round, whether something uses it or not."""
        for loop, scope in enumerate(self.plan.scopes):
            if loop != 0 and scope.parent == frame.loop:
                self._last_round(loop, frame)
        for number, loop in enumerate(self.plan.scope_of):
            if loop == frame.loop:
                self._value(number, frame)

    def _value(self, number: int, frame: Frame) -> Records:
        while frame.loop != self.plan.scope_of[number]:
            assert frame.outer is not None
            frame = frame.outer
        if number not in frame.known:
            frame.known[number] = self._evaluated(number, frame)
        return frame.known[number]

    def _evaluated(self, number: int, frame: Frame) -> Records:
        node = self.plan.nodes[number]
        match node:
            case nodes.Input() | nodes.Import():
                return self.given.get(number, {})
            case nodes.Variable():
                if frame.round > 0:
                    return frame.variables[number]
                return {} if node.initial is None else self._value(node.initial, frame)
            case nodes.Leave():
                end = self._last_round(self.plan.scope_of[node.source], frame)
                return self._value(node.source, end)
            case nodes.Enter() if node.delay is not None:
                entered = self._value(node.source, frame).items()
                return {r: n for r, n in entered if self._enters(number, r) <= frame.round}
        given = [self._value(source, frame) for source in nodes.sources_of(node)]
        return defined(self.plan, number, given, self.functions)

    def _enters(self, number: int, record: Any) -> int:
        """The round in which a record enters a loop."""
        node = self.plan.nodes[number]
        assert isinstance(node, nodes.Enter)
        assert node.delay is not None
        names = [name for name, _ in self.plan.schemas[number]]
        return max(int(value_of(node.delay, dict(zip(names, record, strict=True)))), 0)

    def _last_round(self, loop: int, outer: Frame) -> Frame:
        """The round in which a loop has come to rest."""
        if loop not in outer.inner:
            rounds = outer.inner[loop] = [Frame(loop, outer)]
            while (following := self._following(rounds[-1])) is not None:
                if following.round > self.most_rounds:
                    raise GraphtideError(
                        f"By its definition, loop {self.plan.scopes[loop].name} of "
                        f"{self.plan.name} is not at rest in round {self.most_rounds}",
                        hint="the machine was: this is a mistake in Graphtide, please report it",
                    )
                rounds.append(following)
        return outer.inner[loop][-1]

    def _following(self, frame: Frame) -> Frame | None:
        """The next round in which a loop differs from this one; None where there is none."""
        self._complete(frame)
        variables = {
            number: self._next(number, frame)
            for number in self.plan.definitions
            if self.plan.scope_of[number] == frame.loop
        }
        if any(frame.known[number] != value for number, value in variables.items()):
            return Frame(frame.loop, frame.outer, frame.round + 1, variables)
        entering = [later for later in self._entering(frame) if later > frame.round]
        if not entering:
            return None
        return Frame(frame.loop, frame.outer, min(entering), variables)

    def _next(self, variable: int, frame: Frame) -> Records:
        if frame.round >= self.plan.rounds.get(variable, frame.round + 1):
            return self._value(variable, frame)
        return self._value(self.plan.definitions[variable], frame)

    def _entering(self, frame: Frame) -> Iterator[int]:
        """The rounds in which records enter a loop."""
        for number, node in enumerate(self.plan.nodes):
            if (
                isinstance(node, nodes.Enter)
                and node.delay
                and self.plan.scope_of[number] == frame.loop
            ):
                for record in self._value(node.source, frame):
                    yield self._enters(number, record)


def _within(frame: Frame) -> Iterator[Frame]:
    for rounds in frame.inner.values():
        for inner in rounds:
            yield from _within(inner)
    yield frame
