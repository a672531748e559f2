"""A dataflow as its operators see it: a plan that grows, until it is installed on the host."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from numbers import Integral
from typing import Any
from weakref import WeakSet

from graphtide.engine.dataflow.lowering import InstalledDataflow
from graphtide.engine.dataflow.meaning import Meaning, Records, one_nan
from graphtide.engine.dataflow.records import InputBatch, records
from graphtide.model.errors import InputError
from graphtide.plan.dataflow import DataflowPlan, Node, Schema, Scope, Variable, narrowed
from graphtide.plan.dataflow_expressions import column_type
from graphtide.run.dataflow.clock import VersionClock
from graphtide.run.turns import CallLock, StaysInDataflow, uninterrupted


class FlowBuilder(StaysInDataflow):
    """The plan of a dataflow, the functions and arrangements of it, and what waits to be fed."""

    def __init__(self, name: str, clock: VersionClock) -> None:
        self.clock = clock
        self.host = clock.host
        self.plan = DataflowPlan(name)
        self.functions: list[Callable[..., Any]] = []
        self.installed: InstalledDataflow | None = None
        self.held: WeakSet[Any] = WeakSet()
        """Arrangements that users hold, which they may read and share."""
        self._waiting: deque[tuple[int, InputBatch]] = deque()
        self._given_up: set[int] = set()
        self.arranged: dict[tuple[int, tuple[str, ...], str], int] = {}
        clock.flows.append(self)

    @property
    def _turns(self) -> CallLock:
        return self.clock.turns

    @property
    def name(self) -> str:
        """What the dataflow is called in pictures and errors."""
        return self.plan.name

    @property
    def closed(self) -> bool:
        """True once the dataflow has been closed."""
        return self not in self.clock.flows

    def check_open(self) -> None:
        """Refuse what a closed dataflow cannot do."""
        if self.closed:
            raise InputError(
                f"{self.name} was closed", hint="read it before, or make another beside the first"
            )

    def add(self, node: Node, scope: int, schema: Schema) -> int:
        """Add a node to the plan."""
        if self.installed is not None:
            raise InputError(
                f"{self.name} runs already, and operators that come late would miss its past",
                hint="build another with gt.Dataflow(beside=...) and import arrangements into it",
            )
        self.check_loop(scope)
        names = [name for name, _ in schema]
        if len(set(names)) < len(names):
            raise InputError(
                f"A collection cannot have the columns {', '.join(names)}: one is named twice",
                hint="give each a name of its own",
            )
        return self.plan.add(node, scope, schema)

    def add_scope(self, name: str, parent: int) -> int:
        """Add a loop to the plan."""
        self.plan.scopes.append(Scope(name, parent, self.plan.scopes[parent].depth + 1))
        return len(self.plan.scopes) - 1

    @contextmanager
    def looping(self, name: str, parent: int) -> Iterator[int]:
        """A loop of the plan while its body is written; given up where that fails.

        Whoever mistypes in the body of a loop would otherwise have to build the dataflow anew.
        """
        scope = self.add_scope(name, parent)
        try:
            yield scope
            self.check_variables(scope)
        except BaseException:
            self._give_up(scope)
            raise

    def _give_up(self, scope: int) -> None:
        """Let a loop do nothing: its variables stay as they begin, and nobody can use it."""
        plan = self.plan
        inside = {item for item in range(len(plan.scopes)) if plan.encloses(scope, item)}
        self._given_up |= inside
        for number, node in enumerate(plan.nodes):
            if isinstance(node, Variable) and plan.scope_of[number] in inside:
                plan.definitions.setdefault(number, number)

    def check_loop(self, scope: int) -> None:
        """Refuse to go on from a loop whose body failed."""
        if scope in self._given_up:
            raise InputError(
                "The body of this loop failed, and the loop was given up",
                where=f"loop {self.plan.scopes[scope].name!r} of {self.name}",
                hint="write the loop again, whole",
            )

    def add_function(self, function: Callable[..., Any]) -> int:
        """Note a function of Python; its number."""
        self.functions.append(function)
        return len(self.functions) - 1

    def install(self) -> InstalledDataflow:
        """Install the dataflow where it is not yet."""
        with self._turns.lock:
            self.check_open()
            if self.installed is None:
                self.check_variables()
                kept = {arrangement.number for arrangement in self.held}
                plan = self.plan if self.host.watch else narrowed(self.plan, kept)
                self.installed = self.host.install(plan, self.functions)
            return self.installed

    def feed(self, number: int, batch: InputBatch) -> None:
        """Let records wait for an input until its version is closed."""
        if self.installed is not None:
            self._hand_over(self.installed, number, batch)
        else:
            batch.keep()
            self._waiting.append((number, batch))

    def pour(self) -> None:
        """Hand what was inserted before the dataflow was installed to the host, each once.

        Whatever stops this: what has been handed over waits there, and the rest still here.
        """
        if self.installed is not None and not self._waiting:
            return
        installed = self.install()
        with uninterrupted():
            while self._waiting:
                self._hand_over(installed, *self._waiting[0])
                self._waiting.popleft()

    def _hand_over(self, installed: InstalledDataflow, number: int, batch: InputBatch) -> None:
        declared, read = self.plan.schemas[number], installed.plan.schemas[number]
        self.host.feed(installed.feeds[number], batch.read_as(declared, read))

    def meaning(self) -> Meaning:
        """What the dataflow comes to by its definition, of what was fed to it; before it runs."""
        inputs: dict[int, Records] = {}
        for number, batch in self._waiting:
            schema = self.plan.schemas[number]
            rows = batch.read_as(schema, schema).rows()
            facts = inputs.setdefault(number, {})
            listed = records(rows[:, :-2], schema, self.host.texts)
            for record, diff in zip(listed, rows[:, -1].tolist(), strict=True):
                fact = one_nan(record)
                facts[fact] = facts.get(fact, 0) + diff
        return Meaning(self.plan, self.functions, inputs, self.host.most_rounds)

    def check_variables(self, scope: int | None = None) -> None:
        """Refuse a variable without a definition, of one loop or of any."""
        plan = self.plan
        for number, node in enumerate(plan.nodes):
            here = scope in (None, plan.scope_of[number])
            if here and isinstance(node, Variable) and number not in plan.definitions:
                raise InputError(
                    "A variable has no definition",
                    where=f"loop {plan.scopes[plan.scope_of[number]].name!r} of {self.name}",
                    hint="call its `set` with the collection that it is to be in the next round",
                )


def schema_of(columns: dict[str, Any]) -> Schema:
    """Columns as users give them, `int`, `str | None`, `decimal(2)` and the like, as a schema."""
    if not isinstance(columns, Mapping):
        raise InputError(f"{columns!r} names no columns", hint="types={'name': int}")
    return tuple((name, column_type(name, kind)) for name, kind in columns.items())


def is_whole(value: object) -> bool:
    """Whether a value counts something: an int of Python or of NumPy."""
    return isinstance(value, Integral)
