"""`Arrangement`: a collection that is indexed, with its history, and can be shared and read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphtide.engine.dataflow.reading import read_trace
from graphtide.engine.dataflow.records import records
from graphtide.model.errors import InputError
from graphtide.plan.dataflow import Arrange, Order
from graphtide.run.dataflow.collection import Collection, Names
from graphtide.run.dataflow.handles import Handle
from graphtide.run.dataflow.times import Time
from graphtide.run.turns import Turns, in_turn

if TYPE_CHECKING:
    from graphtide.run.dataflow.flow import Dataflow


class Arrangement(Collection):
    """A collection indexed by its first columns, the key."""

    def __init__(self, flow: Dataflow, number: int) -> None:
        super().__init__(flow, number)
        self.key = flow.plan.key_of(number)

    @property
    def by(self) -> tuple[str, ...]:
        """The names of the key columns."""
        return self.names[: self.key]

    @property
    def trace(self) -> int:
        """Where the arrangement is in the machine; installs the dataflow."""
        return self.flow.install().installed.traces[self.number]

    def arrange(self, by: Names, *, order: Order = "value") -> Arrangement:
        """This arrangement itself where it is by that key already, in that order."""
        if tuple(self._names(by)) == self.by and self._order() == order:
            return self
        return super().arrange(by, order=order)

    @in_turn
    def hold(self, at: Time | None = None) -> Handle:
        """A handle that keeps the history from a version on readable; the current one for None."""
        return Handle(self, at)

    def read(self, at: Time | None = None) -> dict[tuple[Any, ...], int]:
        """All records with their multiplicities as of a version; the last closed one for None.

        A version before the last closed one can be read only while a handle holds it.
        """
        return self._read(at, None)

    def lookup(self, *key: Any, at: Time | None = None) -> dict[tuple[Any, ...], int]:
        """The same for one key: the work is in proportion to what that key has."""
        if len(key) != self.key:
            raise InputError(
                f"The key of {self!r} has {self.key} columns, not {len(key)}",
                hint=f"lookup({', '.join(self.by)})",
            )
        return self._read(at, key)

    @property
    def _turns(self) -> Turns:
        return self.flow.clock.turns

    @in_turn
    def _read(self, at: Time | None, key: tuple[Any, ...] | None) -> dict[tuple[Any, ...], int]:
        if self.scope != 0:
            raise InputError(f"{self!r} is in a loop", hint="read what leaves it: leave()")
        version = self.flow.clock.readable(at, self)
        rows = read_trace(self.flow.host, self.trace, version, self._key_words(key))
        found = records(rows, self.schema, self.flow.host.texts)
        return dict(zip(found, rows[:, -1].tolist(), strict=True))

    def _key_words(self, key: tuple[Any, ...] | None) -> list[int] | None:
        from graphtide.engine.dataflow.records import encode

        if key is None:
            return None
        schema = self.schema[: self.key]
        words = encode([key], schema, self.flow.host.texts)
        return [int(word) for word in words[0, : self.key]]

    def _order(self) -> Order:
        node = self.flow.plan.nodes[self.number]
        return node.order if isinstance(node, Arrange) else "value"

    def _check_enclosed(self, scope: int) -> None:
        """Refuse to be used in a loop that does not lie within its own."""
        if not self.flow.plan.encloses(self.scope, scope):
            self._in_scope(scope)
