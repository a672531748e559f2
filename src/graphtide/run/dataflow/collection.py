"""`Collection`: records with multiplicities that change, and the operators on them.

An operator adds nodes to the plan of its dataflow and gives a new collection; nothing runs yet.
Where an operator needs an index it arranges its input, once for each key, so that every operator
that needs the same index shares it.

Collections of a loop and of the loops around it can be used together: those from around enter the
loop. Collections of loops side by side, or from within a loop outside of it, cannot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from graphtide.model.errors import InputError
from graphtide.plan.dataflow import (
    Arrange,
    Concat,
    Consolidate,
    Enter,
    Filter,
    Foreign,
    Leave,
    Map,
    Negate,
    Node,
    Order,
    Schema,
)
from graphtide.plan.dataflow import Output as OutputNode
from graphtide.plan.dataflow_expressions import (
    BOOL,
    INT,
    Column,
    ColumnType,
    expression_type,
)
from graphtide.plan.dataflow_terms import Term, expression_of
from graphtide.run.dataflow.joins import Joining
from graphtide.run.dataflow.reductions import Reducing

if TYPE_CHECKING:
    from graphtide.run.dataflow.arrangement import Arrangement
    from graphtide.run.dataflow.flow import Dataflow
    from graphtide.run.dataflow.inputs import Output
    from graphtide.run.dataflow.loops import Loop
    from graphtide.run.dataflow.probes import Probe

Names = str | Sequence[str]


class Collection(Joining, Reducing):
    """Records of typed columns, each with a multiplicity, at every version and in every round."""

    def __init__(self, flow: Dataflow, number: int) -> None:
        self.flow = flow
        self.number = number

    def __repr__(self) -> str:
        listed = ", ".join(f"{name}: {item}" for name, item in self.schema)
        return f"<{type(self).__name__} {self.number} of {self.flow.name} ({listed})>"

    @property
    def schema(self) -> Schema:
        """Names and types of the columns."""
        return self.flow.plan.schemas[self.number]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(name for name, _ in self.schema)

    @property
    def scope(self) -> int:
        """The number of the loop that the collection belongs to, 0 for none."""
        return self.flow.plan.scope_of[self.number]

    # Operators without state

    def map(
        self,
        function: Callable[..., Any] | None = None,
        /,
        *,
        types: dict[str, type] | None = None,
        vectorised: bool = False,
        **columns: Any,
    ) -> Collection:
        """One new record for each: `map(src=col.dst, dst=col.src, hops=col.hops + 1)`.

        Or by a function of the columns, with the `types` of what it returns: one call a record,
        which is slow, or with `vectorised` (for NumPy and compiled functions) one call for many,
        with arrays. A function must give the same for the same record, always.
        """
        if function is not None:
            kind = "columns" if vectorised else "map"
            return self._foreign(kind, function, _typed(types, "map"))
        given = dict(self.schema)
        expressions = tuple((name, expression_of(item)) for name, item in columns.items())
        schema = tuple((name, expression_type(item, given)) for name, item in expressions)
        return self._linear(Map(self.number, expressions), schema)

    def select(self, *names: str, **renamed: str) -> Collection:
        """Some columns, in the order given; `new="old"` renames."""
        chosen = {**{name: name for name in names}, **renamed}
        columns: dict[str, Any] = {new: Term(Column(old)) for new, old in chosen.items()}
        return self.map(**columns)

    def filter(self, condition: Any) -> Collection:
        """The records for which a condition is true: `filter(col.age > 3)`.

        A function of the columns works too, one call a record, which is slow.
        """
        if callable(condition) and not isinstance(condition, Term):
            return self._foreign("filter", condition, self.schema)
        predicate = expression_of(condition)
        if expression_type(predicate, dict(self.schema)) is not BOOL:
            raise InputError(f"`{predicate}` is neither true nor false", hint="compare it")
        return self._linear(Filter(self.number, predicate), self.schema)

    def flat_map(self, function: Callable[..., Any], *, types: dict[str, type]) -> Collection:
        """Any number of new records for each: what a function of the columns returns. Slow."""
        return self._foreign("flat_map", function, _typed(types, "flat_map"))

    def negate(self) -> Collection:
        """The same records with opposite multiplicities."""
        return self._linear(Negate(self.number), self.schema)

    def concat(self, *others: Collection) -> Collection:
        """The records of all, multiplicities added. Columns are matched by name."""
        scope, sources = self._together(*(other._like(self) for other in others))
        node = Concat(tuple(source.number for source in sources))
        return Collection(self.flow, self.flow.add(node, scope, self.schema))

    def minus(self, other: Collection) -> Collection:
        """The records of this less those of another, multiplicities subtracted."""
        return self.concat(other.negate())

    def consolidate(self) -> Collection:
        """The same collection, equal records added up. Costs a sort; saves work behind it."""
        return self._linear(Consolidate(self.number), self.schema)

    def inspect(self, function: Callable[..., Any]) -> Collection:
        """The same collection; calls `function(record, time, diff)` for all that passes.

        The time is the version; in a loop, a tuple of the version and the rounds.
        """
        return self._foreign("inspect", function, self.schema)

    # Loops

    def enter(self, loop: Any, *, at: Any = None) -> Collection:
        """The collection within a loop, the same in every round.

        With `at`, an int for each record, a record is there from that round on only. The result
        of a loop that comes to rest at the same in the end is the same; what comes early saves
        work that what comes late would only undo.
        """
        self._check_flow(loop.flow)
        if at is None:
            return self._in_scope(loop.scope)
        delay = expression_of(at)
        if expression_type(delay, dict(self.schema)) is not INT:
            raise InputError(f"`{delay}` is not a round", hint="give an int of 0 or more")
        parent = self.flow.plan.scopes[loop.scope].parent
        node = Enter(self._in_scope(parent).number, delay)
        return Collection(self.flow, self.flow.add(node, loop.scope, self.schema))

    def leave(self) -> Collection:
        """What the collection comes to after the last round of its loop, outside of it."""
        if self.scope == 0:
            raise InputError(f"{self!r} is in no loop", hint="leave() is for what is in one")
        parent = self.flow.plan.scopes[self.scope].parent
        return Collection(self.flow, self.flow.add(Leave(self.number), parent, self.schema))

    @contextmanager
    def nested_loop(self, name: str = "loop") -> Iterator[Loop]:
        """A loop within the one that the collection is in, or outside of all."""
        from graphtide.run.dataflow.loops import Loop

        loop = Loop(self.flow, self.flow.add_scope(name, self.scope))
        yield loop
        loop.close()

    def iterate(self, step: Callable[[Collection], Collection], name: str = "loop") -> Collection:
        """Apply a step to this, then to what comes out, and so on until nothing changes."""
        from graphtide.run.dataflow.loops import Loop

        loop = Loop(self.flow, self.flow.add_scope(name, self.scope))
        variable = loop.variable(self)
        result = step(variable)
        variable.set(result)
        return result._in_scope(loop.scope).leave()

    # Index, read

    def arrange(self, by: Names, *, order: Order = "value") -> Arrangement:
        """The collection indexed by some columns, with its history, for many to share.

        `order` says how the records of a key are kept: by value, so that min, max and first are
        found at once, or by time.
        """
        from graphtide.run.dataflow.arrangement import Arrangement

        keys = self._names(by)
        rest = [name for name in self.names if name not in keys]
        ordered = self if self.names == (*keys, *rest) else self.select(*keys, *rest)
        known = self.flow.arranged
        place = (self.number, tuple(keys), order)
        if place not in known:
            node = Arrange(ordered.number, len(keys), order)
            known[place] = self.flow.add(node, self.scope, ordered.schema)
        return Arrangement(self.flow, known[place])

    def output(self, name: str = "output") -> Output:
        """A place to read the collection from, after each version."""
        from graphtide.run.dataflow.inputs import Output

        if self.scope != 0:
            raise InputError(f"{self!r} is in a loop", hint="read what leaves it: leave()")
        number = self.flow.add(OutputNode(self.number, name), 0, self.schema)
        return Output(self.flow, number)

    def probe(self) -> Probe:
        """A handle that tells which versions of the collection are complete."""
        from graphtide.run.dataflow.probes import Probe

        if self.scope != 0:
            raise InputError(f"{self!r} is in a loop", hint="probe what leaves it: leave()")
        return Probe(self)

    # What operators are made of

    def _linear(self, node: Node, schema: Schema) -> Collection:
        return Collection(self.flow, self.flow.add(node, self.scope, schema))

    def _foreign(self, kind: Any, function: Callable[..., Any], schema: Schema) -> Collection:
        node = Foreign(self.number, self.flow.add_function(function), kind)
        return self._linear(node, schema)

    def _names(self, names: Names) -> list[str]:
        """Column names as a list, each one of this collection and named once."""
        listed = [names] if isinstance(names, str) else list(names)
        for name in listed:
            if name not in self.names or listed.count(name) > 1:
                raise InputError(
                    f"{name!r} is not a column of {self!r}, or is named twice",
                    hint=f"the columns are {', '.join(self.names)}",
                )
        return listed

    def _like(self, other: Collection) -> Collection:
        """This collection with its columns in the order of another that has the same ones."""
        if dict(self.schema) != dict(other.schema):
            raise InputError(
                f"{self!r} and {other!r} have different columns",
                hint="map one to the columns of the other",
            )
        return self if self.schema == other.schema else self.select(*other.names)

    def _together(self, *others: Collection) -> tuple[int, list[Collection]]:
        """This and other collections in the innermost of their loops, and which that is."""
        everyone = [self, *others]
        for item in everyone:
            item._check_flow(self.flow)
        scope = max((item.scope for item in everyone), key=self._depth)
        return scope, [item._in_scope(scope) for item in everyone]

    def _check_flow(self, flow: Dataflow) -> None:
        """Refuse to be used in another dataflow."""
        if self.flow is not flow:
            raise InputError(
                "Collections of different dataflows cannot be used together",
                where=f"{self!r}, used in {flow.name}",
                hint="arrange in one and import_arrangement in the other",
            )

    def _depth(self, scope: int) -> int:
        return self.flow.plan.scopes[scope].depth

    def _in_scope(self, scope: int) -> Collection:
        """This collection entered into a loop around whose rounds it does not change."""
        plan = self.flow.plan
        if self.scope == scope:
            return self
        if not plan.encloses(self.scope, scope):
            raise InputError(
                f"{self!r} has the times of another loop",
                where=f"loop {plan.scopes[self.scope].name!r}, "
                f"used in {plan.scopes[scope].name or 'the outside'!r}",
                hint="leave() its loop first",
            )
        return self._entered(scope)

    def _entered(self, scope: int) -> Collection:
        return Collection(self.flow, self.flow.add(Enter(self.number), scope, self.schema))

    def _type(self, name: str) -> ColumnType:
        return dict(self.schema)[name]


def _typed(types: dict[str, type] | None, what: str) -> Schema:
    from graphtide.run.dataflow.flow import schema_of

    if not types:
        raise InputError(
            f"{what} with a function has to know the columns it makes",
            hint=f"{what}(function, types={{'name': int}})",
        )
    return schema_of(types)
