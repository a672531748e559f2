"""A dataflow as its operators see it: a plan that grows, until it is installed on a host.

The clock of dataflows beside each other says which versions are open, and closes them. A version is
a number, or a tuple where the clock has several coordinates: then versions are only partly ordered,
and the frontier between closed and open is a set of versions none of which is before another.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from numbers import Integral
from typing import Any
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.dataflow.host import Host
from graphtide.engine.dataflow.lowering import InstalledDataflow
from graphtide.engine.dataflow.meaning import Meaning, Records, one_nan
from graphtide.engine.dataflow.records import InputBatch, records
from graphtide.kernels.dataflow.numbers import field_width, not_after, shape_of
from graphtide.model.errors import InputError
from graphtide.plan.dataflow import DataflowPlan, Node, Schema, Scope, Variable, narrowed
from graphtide.plan.dataflow_expressions import column_type
from graphtide.run.turns import CallLock, StaysInDataflow, uninterrupted

Time = int | tuple[int, ...]


class VersionClock:
    """The versions of a host, and whose turn it is of the threads that use its dataflows."""

    def __init__(self, host: Host) -> None:
        self.turns = CallLock("the dataflow")
        self.host = host
        self.flows: list[FlowBuilder] = []
        self._width = field_width(host.coordinates)
        self._shape = shape_of(host.coordinates)

    @property
    def frontier(self) -> tuple[Time, ...]:
        """The least versions that are open."""
        return tuple(self.time(word) for word in self.host.frontier)

    @property
    def version(self) -> Time:
        """The least version that is open; the first of them where there are several."""
        return self.time(self.host.frontier[0])

    def word(self, time: Time) -> int:
        """A version as the machine knows it."""
        parts = time if isinstance(time, tuple) else (time,)
        limit = 1 << (self._width - 1)
        if len(parts) != self.host.coordinates or not all(
            isinstance(part, int) and 0 <= part < limit for part in parts
        ):
            raise InputError(
                f"{time!r} is not a version of this clock",
                hint="a version is a number from 0 up"
                if self.host.coordinates == 1
                else f"a version is a tuple of {self.host.coordinates} numbers from 0 up",
            )
        found = 0
        for part in parts:
            found = found << self._width | part
        return found

    def time(self, word: int) -> Time:
        """A version as users know it."""
        if self.host.coordinates == 1:
            return word
        mask = (1 << self._width) - 1
        return tuple(
            word >> (self._width * number) & mask
            for number in reversed(range(self.host.coordinates))
        )

    def open_word(self, at: Time | None) -> int:
        """The word of a version that is still open; of the current one for None."""
        if at is None:
            if len(self.host.frontier) > 1:
                raise InputError("Several versions are open", hint="say which one with `at=`")
            return self.host.frontier[0]
        word = self.word(at)
        if not self.is_open(word):
            raise InputError(
                f"Version {at!r} is closed",
                where=f"open from {_listed(self.frontier)} on",
                hint="insert and remove at versions that are open",
            )
        return word

    def open_words(self, at: Any, count: int) -> NDArray[np.int64]:
        """The words of so many versions, one a row, all of which are still open."""
        given = np.asarray(at)
        coordinates = self.host.coordinates
        wanted = (count,) if coordinates == 1 else (count, coordinates)
        if given.shape != wanted or (count > 0 and given.dtype.kind not in "iu"):
            raise InputError(
                f"{given.dtype} versions of shape {given.shape} for {count} records",
                hint="give one version for all, or a list of one version a record",
            )
        parts = given.astype(np.int64).reshape(count, coordinates)
        if count and (parts.min() < 0 or parts.max() >= 1 << (self._width - 1)):
            raise InputError(
                f"{parts.min()} to {parts.max()} are not all versions of this clock",
                hint="versions are numbers from 0 up",
            )
        words = np.zeros(count, np.int64)
        for number in range(coordinates):
            words = words << self._width | parts[:, number]
        for word in np.unique(words).tolist() if coordinates > 1 else words[words.argsort()[:1]]:
            self.open_word(self.time(int(word)))
        return words

    @property
    def shape(self) -> int:
        """How the words of versions are divided."""
        return self._shape

    def closed_word(self, at: Time | None) -> int:
        """The word of a version that is closed; of the last one for None."""
        if at is None and self.host.coordinates == 1:
            return max(self.host.frontier[0] - 1, 0)
        if at is None:
            raise InputError("Several versions could be meant", hint="say which one with `at=`")
        word = self.word(at)
        if self.is_open(word):
            raise InputError(
                f"Version {at!r} is still open: what it holds is not known yet",
                hint="advance first",
            )
        return word

    def check_readable(self, word: int, trace: int) -> None:
        """Refuse a closed version that a trace has merged with later ones."""
        held = [*self.host.since, *self.host.held.get(trace, [])]
        if not any(not_after(bound, word, self._shape) for bound in held):
            raise InputError(
                f"Version {self.time(word)!r} has been compacted: "
                "it cannot be told from later ones",
                where=f"readable from {_listed([self.time(bound) for bound in held])} on",
                hint="take a handle with hold() before a version passes, and keep it",
            )

    def is_open(self, word: int) -> bool:
        """True for versions at or after the frontier."""
        return any(not_after(bound, word, self._shape) for bound in self.host.frontier)

    def advance(self) -> Time:
        """Close the open version, a plain number."""
        if self.host.coordinates > 1:
            raise InputError(
                "A clock of several coordinates does not know which version comes next",
                hint="say what stays open with `advance_to`, such as advance_to((0, 1), (1, 0))",
            )
        following = self.host.frontier[0] + 1
        if following >= 1 << (self._width - 1):
            return self.advance_to(following)
        return self._close([following])

    def advance_to(self, *frontier: Time) -> Time:
        """Close all versions that are not at or after one of these."""
        words = self._antichain([self.word(time) for time in frontier])
        for word in words:
            if not self.is_open(word):
                raise InputError(
                    f"Time cannot go back to {self.time(word)!r}",
                    where=f"open from {_listed(self.frontier)} on",
                    hint="advance to a version that is open",
                )
        return self._close(words)

    def _close(self, frontier: list[int]) -> Time:
        """Let the host close what is not at or after a frontier that it may go to."""
        with self.turns.moving:
            for flow in self.flows:
                flow.pour()
            try:
                self.host.close(frontier)
            except BaseException:
                with uninterrupted():
                    self.host.restore(frontier)
                raise
        return self.version

    def remove(self, flow: FlowBuilder) -> None:
        """Uninstall a dataflow; nothing where that has been done."""
        if flow in self.flows and flow.installed is not None:
            self.host.uninstall(flow.installed)
        self.flows = [other for other in self.flows if other is not flow]

    def _antichain(self, words: Sequence[int]) -> list[int]:
        if not words:
            raise InputError("Say which versions stay open", hint="advance_to(3)")
        distinct = sorted(set(words))
        return [
            word
            for word in distinct
            if not any(other != word and not_after(other, word, self._shape) for other in distinct)
        ]


def _listed(times: Sequence[Time]) -> str:
    return ", ".join(map(repr, times))


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
