"""Loops and variables: collections that are defined by themselves, a round later."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from graphtide.model.errors import InputError
from graphtide.plan.dataflow import Variable as VariableNode
from graphtide.run.dataflow.collection import Collection
from graphtide.run.dataflow.flow import schema_of

if TYPE_CHECKING:
    from graphtide.run.dataflow.flow import Dataflow


class Loop:
    """A loop: rounds are repeated until no variable changes any more.

        with flow.loop() as loop:
            reached = loop.variable(roots)
            further = reached.join_map(edges, on={"node": "src"}, node=col.dst)
            found = reached.concat(further).distinct()
            reached.set(found)
        result = found.leave()

    Several variables may define each other, and anything in a loop may leave it.
    """

    def __init__(self, flow: Dataflow, scope: int) -> None:
        self.flow = flow
        self.scope = scope

    def variable(self, initial: Collection | None = None, /, **columns: type) -> VariableCollection:
        """A collection that starts as `initial`, or empty with these columns."""
        if (initial is None) == (not columns):
            raise InputError(
                "A variable starts either as a collection or empty with named columns",
                hint="loop.variable(roots), or loop.variable(node=int)",
            )
        if initial is None:
            node, schema = VariableNode(None), schema_of(columns)
        else:
            initial._check_flow(self.flow)
            entered = initial._in_scope(self.scope)
            node, schema = VariableNode(entered.number), initial.schema
        return VariableCollection(self.flow, self.flow.add(node, self.scope, schema))

    @contextmanager
    def loop(self, name: str = "inner loop") -> Iterator[Loop]:
        """A loop within this one: it comes to rest in every round of this one."""
        inner = Loop(self.flow, self.flow.add_scope(name, self.scope))
        yield inner
        inner.close()

    def close(self) -> None:
        """Check that every variable of the loop is defined."""
        for number, node in enumerate(self.flow.plan.nodes):
            here = self.flow.plan.scope_of[number] == self.scope
            if here and isinstance(node, VariableNode):
                VariableCollection(self.flow, number).check()


class VariableCollection(Collection):
    """A collection that is, in each round, what its definition was in the round before."""

    def set(self, definition: Collection, *, rounds: int | None = None) -> None:
        """Say what the variable is in the next round.

        With `rounds`, it changes in so many rounds only and then stays as it is: a loop that is
        cut short, such as ten rounds of PageRank.
        """
        if rounds is not None and rounds < 0:
            raise InputError(f"A loop cannot have {rounds} rounds", hint="give 0 or more")
        if self.number in self.flow.plan.definitions:
            raise InputError(f"{self!r} is defined already", hint="a variable has one definition")
        definition._check_flow(self.flow)
        found = definition._like(self)._in_scope(self.scope)
        self.flow.plan.definitions[self.number] = found.number
        if rounds is not None:
            self.flow.plan.rounds[self.number] = rounds

    def check(self) -> None:
        """Refuse a variable without a definition."""
        if self.number not in self.flow.plan.definitions:
            scope = self.flow.plan.scopes[self.scope]
            raise InputError(
                "A variable has no definition",
                where=f"loop {scope.name!r} of {self.flow.name}",
                hint="call its `set` with the collection that it is to be in the next round",
            )
