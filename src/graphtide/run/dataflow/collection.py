"""`Collection`: records with multiplicities that change, and the operators on them.

An operator adds nodes to the plan of its dataflow and gives a new collection; nothing runs yet.
Where an operator needs an index it arranges its input, once for each key, so that every operator
that needs the same index shares it. What is indexed, or defined by itself in a loop, is a
collection too: all that make each other stand here together.

Collections of a loop and of the loops around it can be used together: those from around enter the
loop. Collections of loops side by side, or from within a loop outside of it, cannot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from graphtide.model.elsewhere import SaysWhere
from graphtide.model.errors import InputError
from graphtide.plan.dataflow import Enter, Leave, RowOrder
from graphtide.plan.dataflow import Output as OutputNode
from graphtide.plan.dataflow import Variable as VariableNode
from graphtide.plan.dataflow_expressions import expression_type
from graphtide.plan.dataflow_terms import expression_of
from graphtide.plan.dataflow_types import INT
from graphtide.run.dataflow.aggregates import Aggregating
from graphtide.run.dataflow.computed import computed
from graphtide.run.dataflow.growing import GrowingFlow, schema_of
from graphtide.run.dataflow.handles import Handle
from graphtide.run.dataflow.indexed import IndexedStage
from graphtide.run.dataflow.joins import Joining
from graphtide.run.dataflow.operators import Transforming
from graphtide.run.dataflow.outputs import Output
from graphtide.run.dataflow.probes import Probe
from graphtide.run.dataflow.reductions import Reducing
from graphtide.run.dataflow.stages import (
    Names,
    Stage,
    added,
    arranged,
    check_flow,
    check_outside,
    in_scope,
    like,
    selected,
)
from graphtide.run.dataflow.times import Time
from graphtide.run.turns import in_turn


class Collection(
    Transforming["Collection", "Arrangement"],
    Joining["Collection", "Arrangement"],
    Reducing["Collection", "Arrangement"],
    Aggregating["Collection", "Arrangement"],
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

    def __init__(self, flow: GrowingFlow, scope: int) -> None:
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
