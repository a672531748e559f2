"""`Collection`: records with multiplicities that change, and the operators on them.

An operator adds nodes to the plan of its dataflow and gives a new collection; nothing runs yet.
Where an operator needs an index it arranges its input, once for each key, so that every operator
that needs the same index shares it. An arrangement can be read at versions that have not been
compacted; a handle keeps versions readable, and a probe says which are complete.

Collections of a loop and of the loops around it can be used together: those from around enter the
loop. Collections of loops side by side, or from within a loop outside of it, cannot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

from graphtide.engine.dataflow.reading import read_trace
from graphtide.engine.dataflow.records import encode, records
from graphtide.kernels.dataflow.numbers import not_after
from graphtide.model.elsewhere import SaysWhere
from graphtide.model.errors import InputError
from graphtide.plan.dataflow import Enter, Leave, RowOrder
from graphtide.plan.dataflow import Output as OutputNode
from graphtide.plan.dataflow import Variable as VariableNode
from graphtide.plan.dataflow_expressions import INT, expression_type
from graphtide.plan.dataflow_terms import expression_of
from graphtide.run.dataflow.aggregates import AggregateOperators
from graphtide.run.dataflow.flow_builder import FlowBuilder, Time, schema_of
from graphtide.run.dataflow.operators import JoinOperators, ReduceOperators, TransformOperators
from graphtide.run.dataflow.outputs import Output
from graphtide.run.dataflow.stages import (
    Names,
    Stage,
    added,
    arranged,
    check_flow,
    check_outside,
    computed,
    in_scope,
    like,
    selected,
)
from graphtide.run.turns import CallLock, StaysInDataflow, in_turn


class IndexedStage(Stage):
    """A stage indexed by its first columns, the key, with its history."""

    def __init__(self, flow: FlowBuilder, number: int) -> None:
        super().__init__(flow, number)
        self.key = flow.plan.key_of(number)

    @property
    def by(self) -> tuple[str, ...]:
        """The names of the key columns."""
        return self.names[: self.key]

    @property
    def trace(self) -> int:
        """Where the arrangement is in the machine; installs the dataflow."""
        installed = self.flow.install()
        traces = installed.addresses.traces
        if self.number not in traces and self.flow.host.once:
            raise InputError(
                f"{self!r} is kept without an index, since {self.flow.name} runs once",
                hint="read an output of it, or make the dataflow without `once`",
            )
        if self.number not in traces or installed.plan.schemas[self.number] != self.schema:
            raise InputError(
                f"{self!r} is kept without an index of all its columns, since nobody held it "
                f"when {self.flow.name} began to run",
                hint="make the arrangement before the first advance, and hold on to it",
            )
        return traces[self.number]

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

    def readable_word(self, at: Time | None) -> int:
        """The word of a closed version at which the arrangement can still be read."""
        clock = self.flow.clock
        word = clock.closed_word(at)
        if at is not None:
            clock.check_readable(word, self.trace)
        return word

    @property
    def _turns(self) -> CallLock:
        return self.flow.clock.turns

    @in_turn
    def _read(self, at: Time | None, key: tuple[Any, ...] | None) -> dict[tuple[Any, ...], int]:
        check_outside(self, "read")
        version = self.readable_word(at)
        rows = read_trace(self.flow.host.pool, self.trace, version, self._key_words(key))
        listed = records(rows, self.schema, self.flow.host.texts)
        return dict(zip(listed, rows[:, -1].tolist(), strict=True))

    def _key_words(self, key: tuple[Any, ...] | None) -> list[int] | None:
        if key is None:
            return None
        words = encode([key], self.schema[: self.key], self.flow.host.texts)
        return [int(word) for word in words[0, : self.key]]


class Handle(StaysInDataflow):
    """Keeps the history of an arrangement from a version on; what is before may be merged.

    History costs memory: downgrade a handle as soon as older versions are of no more use, and
    drop it (or use it in a `with` block) when no version is.
    """

    def __init__(self, arrangement: IndexedStage, at: Time | None) -> None:
        self._arrangement = arrangement
        self._clock = arrangement.flow.clock
        self._turns = self._clock.turns
        self._word: int | None = arrangement.readable_word(at)
        self._clock.host.hold(arrangement.trace, self._word)

    @property
    def version(self) -> Time:
        """The least version that the handle keeps readable."""
        return self._clock.time(self._held())

    def read(self, at: Time | None = None) -> dict[tuple[Any, ...], int]:
        """The records as of a version that is held."""
        return self._arrangement.read(at)

    @in_turn
    def downgrade(self, to: Time) -> None:
        """Give up the versions before a later one."""
        held, word = self._held(), self._clock.word(to)
        if not not_after(held, word, self._clock.shape):
            raise InputError(
                f"A handle cannot go back from {self.version!r} to {to!r}",
                hint="downgrade to a later version, or take another handle",
            )
        self._clock.host.hold(self._arrangement.trace, word)
        self._clock.host.let_go(self._arrangement.trace, held)
        self._word = word

    @in_turn
    def drop(self) -> None:
        """Hold nothing any more; a second time does nothing."""
        if self._word is not None and not self._arrangement.flow.closed:
            self._clock.host.let_go(self._arrangement.trace, self._word)
        self._word = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.drop()

    def _held(self) -> int:
        if self._word is None:
            raise InputError("The handle has been dropped", hint="take a new one with hold()")
        return self._word


class Probe:
    """Tells how far a collection has come.

    probe = degrees.probe()
    edges.insert([(1, 2)], at=3)
    flow.advance_to(4)
    probe.done(3)           # True: nothing about version 3 can change any more
    probe.frontier()        # (4,)
    """

    def __init__(self, flow: FlowBuilder) -> None:
        self._flow = flow

    def done(self, version: Time) -> bool:
        """True where the collection is complete at a version, and so at all versions before it."""
        clock = self._flow.clock
        word = clock.word(version)
        return self._has_run() and not clock.is_open(word)

    def frontier(self) -> tuple[Time, ...]:
        """The least versions that are not complete: all others are at or after one of them."""
        clock = self._flow.clock
        return clock.frontier if self._has_run() else (clock.time(0),)

    def _has_run(self) -> bool:
        flow = self._flow
        flow.check_open()
        return flow.installed is not None and flow.installed.ran

    def __repr__(self) -> str:
        listed = ", ".join(map(repr, self.frontier()))
        return f"<probe of {self._flow.name}: complete before {listed}>"


class Collection(
    TransformOperators["Collection", "Arrangement"],
    JoinOperators["Collection", "Arrangement"],
    ReduceOperators["Collection", "Arrangement"],
    AggregateOperators["Collection", "Arrangement"],
    SaysWhere,
):
    """Records of typed columns, each with a multiplicity, at every version and in every round."""

    _elsewhere = {
        "records": "keep collection.output() and ask that, behind flow.advance()",
        "changes": "keep collection.output() and ask that, behind flow.advance()",
        "delete": "inputs have remove(rows)",
    }

    def enter(self, loop: Loop, *, at: Any = None) -> Collection:
        """The collection within a loop, the same in every round.

        With `at`, an int for each record, a record is there from that round on only. The result
        of a loop that comes to rest at the same in the end is the same; what comes early saves
        work that what comes late would only undo.
        """
        check_flow(self, loop.flow)
        if at is None:
            return self._collection(in_scope(self, loop.scope))
        delay = expression_of(at)
        if expression_type(delay, dict(self.schema)) != INT:
            raise InputError(f"`{delay}` is not a round", hint="give an int of 0 or more")
        parent = self.flow.plan.scopes[loop.scope].parent
        stage, expressions = computed(in_scope(self, parent), {"": delay})
        entered = added(stage, Enter(stage.number, expressions[""]), scope=loop.scope)
        if entered.schema != self.schema:
            entered = selected(entered, {name: name for name in self.names})
        return self._collection(entered)

    def leave(self) -> Collection:
        """What the collection comes to after the last round of its loop, outside of it."""
        if self.scope == 0:
            raise InputError(f"{self!r} is in no loop", hint="leave() is for what is in one")
        self.flow.check_loop(self.scope)
        parent = self.flow.plan.scopes[self.scope].parent
        return self._collection(added(self, Leave(self.number), scope=parent))

    @contextmanager
    def nested_loop(self, name: str = "loop") -> Iterator[Loop]:
        """A loop within the one that the collection is in, or outside of all."""
        with self.flow.looping(name, self.scope) as scope:
            yield Loop(self.flow, scope)

    def iterate(self, step: Callable[[Collection], Collection], name: str = "loop") -> Collection:
        """Apply a step to this, then to what comes out, and so on until nothing changes."""
        if not callable(step):
            raise InputError(
                f"A step cannot be {step!r}",
                hint="give a function of a collection, such as `lambda reached: ...`",
            )
        with self.nested_loop(name) as loop:
            variable = loop.variable(self)
            result = step(variable)
            variable.set(result)
            return self._collection(in_scope(result, loop.scope)).leave()

    def arrange(self, by: Names, *, order: RowOrder = "value") -> Arrangement:
        """The collection indexed by some columns, with its history, for many to share.

        `order` says how the records of a key are kept: by value, so that min, max and first are
        found at once, or by time.
        """
        return self._arrangement(arranged(self, by, order))

    def output(self, name: str = "output") -> Output:
        """A place to read the collection from, after each version."""
        check_outside(self, "read")
        return Output(self.flow, added(self, OutputNode(self.number, name)).number)

    def probe(self) -> Probe:
        """A handle that tells which versions of the collection are complete."""
        check_outside(self, "probe")
        return Probe(self.flow)

    def _collection(self, made: Stage) -> Collection:
        return made if isinstance(made, Collection) else Collection(made.flow, made.number)

    def _arrangement(self, made: Stage) -> Arrangement:
        held = made if isinstance(made, Arrangement) else Arrangement(made.flow, made.number)
        self.flow.held.add(held)
        return held


class Arrangement(Collection, IndexedStage):
    """A collection indexed by its first columns, the key: it can be shared and read."""

    @in_turn
    def hold(self, at: Time | None = None) -> Handle:
        """A handle that keeps the history from a version on readable; the current one for None."""
        return Handle(self, at)


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

    def __init__(self, flow: FlowBuilder, scope: int) -> None:
        self.flow = flow
        self.scope = scope

    def variable(self, initial: Collection | None = None, /, **columns: Any) -> VariableCollection:
        """A collection that starts as `initial`, or empty with these columns."""
        if (initial is None) == (not columns):
            raise InputError(
                "A variable starts either as a collection or empty with named columns",
                hint="loop.variable(roots), or loop.variable(node=int)",
            )
        if initial is None:
            node, schema = VariableNode(None), schema_of(columns)
        else:
            check_flow(initial, self.flow)
            node, schema = VariableNode(in_scope(initial, self.scope).number), initial.schema
        return VariableCollection(self.flow, self.flow.add(node, self.scope, schema))

    @contextmanager
    def loop(self, name: str = "inner loop") -> Iterator[Loop]:
        """A loop within this one: it comes to rest in every round of this one."""
        with self.flow.looping(name, self.scope) as scope:
            yield Loop(self.flow, scope)

    def close(self) -> None:
        """Check that every variable of the loop is defined."""
        self.flow.check_variables(self.scope)


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
        check_flow(definition, self.flow)
        stage = in_scope(like(definition, self), self.scope)
        self.flow.plan.definitions[self.number] = stage.number
        if rounds is not None:
            self.flow.plan.rounds[self.number] = rounds
