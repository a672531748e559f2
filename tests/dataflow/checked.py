"""Checked dataflows: after every batch, every collection is held to what the dataflow means.

The checker keeps what users fed, and from that alone `meaning` evaluates the whole dataflow anew,
at every version of the batch at which something changed and at their upper bounds. With that it
compares what the outputs have put out, and what has passed every other node in every round of every
loop. The order in which the machine runs operators has no part in it. This takes time and memory
without bound, and is for small inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphtide.engine.dataflow.columns import Texts
from graphtide.engine.dataflow.host import Host
from graphtide.engine.dataflow.lowering import InstalledDataflow, positions_of
from graphtide.engine.dataflow.machine import Int64
from graphtide.engine.dataflow.meaning import Frame, Meaning, Record, Records, plain, wrapped
from graphtide.engine.dataflow.records import Waiting, WaitingInputs, records
from graphtide.engine.dataflow.worker_pool import WorkerPool
from graphtide.kernels.dataflow import layout
from graphtide.kernels.dataflow.numbers import not_after, upper_bound
from graphtide.kernels.dataflow.ports import NOWHERE, first_position
from graphtide.model.errors import GraphtideError
from graphtide.plan.dataflow import DataflowPlan, Import, Input, Output
from graphtide.run.dataflow.flow import Dataflow as PlainDataflow
from graphtide.run.dataflow.flow_builder import FlowBuilder, VersionClock

Moment = tuple[int, tuple[int, ...]]
"""A version word, and the rounds of the loops around."""
Row = tuple[Record, Moment, int]
MOST_VERSIONS = 400
LAST_ROUND = 1 << 62


class Checker:
    """What was fed to one dataflow, what has passed all its collections, and the check of it."""

    def __init__(
        self,
        pool: WorkerPool,
        texts: Texts,
        dataflow: InstalledDataflow,
        functions: Sequence[Any],
        owner_of: Callable[[int], tuple[Checker, int]],
    ) -> None:
        self.pool = pool
        self.texts = texts
        self.dataflow = dataflow
        self.functions = functions
        self.owner_of = owner_of
        self.rows: dict[int, list[Row]] = {number: [] for number in range(len(dataflow.plan.nodes))}
        self._fed: dict[int, list[Row]] = {}
        self._unread: dict[int, dict[tuple[Record, int], int]] = {}
        self._meanings: dict[int, Meaning] = {}
        self._shape = int(pool.machines[0].words[layout.VERSION_SHAPE])

    def begin(self, feeds: Sequence[tuple[int, Int64]]) -> None:
        """Take note of what is fed to ports, before it is run."""
        self._meanings.clear()
        numbers = {port: number for number, port in self.dataflow.feeds.items()}
        for port, words in feeds:
            if port in numbers:
                number = numbers[port]
                self._fed.setdefault(number, []).extend(self._rows(number, words, ()))
        for number in self._outputs():
            self._unread[number] = self._waiting(number)

    def check(self, versions: Sequence[int]) -> None:
        """Take what has passed since, and compare everything at these versions."""
        for number, port in self.dataflow.addresses.watched.items():
            self._take(number, port)
        for number in self._outputs():
            self._take_output(number)
        for version in versions:
            for frame in self.meaning(version).frames():
                self._compare(frame, version)

    def changed(self) -> set[int]:
        """The versions at which something was fed or has passed, ever."""
        everything = [*self._fed.values(), *self.rows.values()]
        return {version for rows in everything for _, (version, _), _ in rows}

    def meaning(self, version: int) -> Meaning:
        """What the dataflow means at a version; what it imports is what that means elsewhere."""
        if version not in self._meanings:
            given = {}
            for number, node in enumerate(self.dataflow.plan.nodes):
                if isinstance(node, Input):
                    given[number] = self._sum(self._fed.get(number, []), (version, ()))
                elif isinstance(node, Import):
                    owner, its_number = self.owner_of(node.arrangement)
                    given[number] = owner.meaning(version).value(its_number)
            self._meanings[version] = Meaning(
                self.dataflow.plan, self.functions, given, self._most_rounds()
            )
        return self._meanings[version]

    def _compare(self, frame: Frame, version: int) -> None:
        moments = [(version, frame.rounds())]
        if frame.outer is not None and frame is frame.outer.inner[frame.loop][-1]:
            moments.append((version, (*frame.outer.rounds(), LAST_ROUND)))
        for number, expected in sorted(frame.known.items()):
            for moment in moments:
                rows = self._sum(self.rows[number], moment)
                if rows != expected:
                    self._complain(number, moment, rows, expected)

    def _outputs(self) -> list[int]:
        nodes = self.dataflow.plan.nodes
        return [number for number, node in enumerate(nodes) if isinstance(node, Output)]

    def _rows(self, number: int, words: Int64, rounds: tuple[int, ...]) -> list[Row]:
        schema = self.dataflow.plan.schemas[number]
        times = words[:, -2:].tolist()
        found = records(words, schema, self.texts)
        return [
            (self._plain(number, record), (version, rounds), diff)
            for record, (version, diff) in zip(found, times, strict=True)
        ]

    def _plain(self, number: int, record: Record) -> Record:
        schema = self.dataflow.plan.schemas[number]
        return tuple(plain(value, kind) for value, (_, kind) in zip(record, schema, strict=True))

    def _take(self, number: int, port: int) -> None:
        """Take all that has passed a node out of the port that watches it."""
        times = positions_of(self.dataflow.plan, number)
        for machine, its_port in self.pool.shards(port):
            while (position := int(first_position(machine.words, its_port))) != NOWHERE:
                words = machine.take(its_port, position)
                self.rows[number] += self._rows(number, words, times.rounds(position))

    def _waiting(self, number: int) -> dict[tuple[Record, int], int]:
        """What waits in the port of an output, for the user to read, by record and version."""
        words = self.pool.peek(self.dataflow.addresses.ports[number])
        waiting: dict[tuple[Record, int], int] = {}
        for record, (version, _), diff in self._rows(number, words, ()):
            waiting[record, version] = waiting.get((record, version), 0) + diff
        return waiting

    def _take_output(self, number: int) -> None:
        """Note what an output has put out since `begin`; it stays where the user reads it."""
        before, now = self._unread[number], self._waiting(number)
        for record, version in {*before, *now}:
            diff = now.get((record, version), 0) - before.get((record, version), 0)
            self.rows[number].append((record, (version, ()), diff))

    def _sum(self, rows: Sequence[Row], moment: Moment) -> Records:
        """What differences add up to at a moment."""
        total: Records = {}
        for record, when, diff in rows:
            if self._part_of(when, moment):
                total[record] = total.get(record, 0) + diff
        whole = {record: wrapped(count) for record, count in total.items()}
        return {record: count for record, count in whole.items() if count}

    def _part_of(self, one: Moment, other: Moment) -> bool:
        return bool(not_after(one[0], other[0], self._shape)) and all(
            a <= b for a, b in zip(one[1], other[1], strict=True)
        )

    def _most_rounds(self) -> int:
        """One round more than any in which the machine has a difference."""
        rounds = (at for rows in self.rows.values() for _, (_, at), _ in rows)
        return 2 + max((max(at, default=0) for at in rounds), default=0)

    def _complain(self, number: int, moment: Moment, found: Records, expected: Records) -> None:
        extra = {r: c for r, c in found.items() if expected.get(r) != c}
        missing = {r: c for r, c in expected.items() if found.get(r) != c}
        rounds = tuple("last" if item == LAST_ROUND else item for item in moment[1])
        raise GraphtideError(
            f"Node {number} of {self.dataflow.plan.name} is not what its definition says",
            where=f"version {moment[0]}, rounds {rounds}: it has {_few(extra)}, "
            f"and should have {_few(missing)}",
            hint="a function that gives different results for equal records can be the reason; "
            "otherwise this is a mistake in Graphtide: please report it with the dataflow",
        )


class CheckedInputs(WaitingInputs):
    """Inputs that show checkers what they hand out."""

    def __init__(self, shape: int, checkers: dict[int, Checker]) -> None:
        super().__init__(shape)
        self._checkers = checkers

    def take(self, frontier: Sequence[int]) -> tuple[list[Waiting], set[int]]:
        due, versions = super().take(frontier)
        for checker in self._checkers.values():
            checker.begin([(port, batch.rows()) for port, batch in due])
        return due, versions


class CheckedHost(Host):
    """A host that compares all its dataflows with their meaning after every batch."""

    def __post_init__(self) -> None:
        self.watch = True
        super().__post_init__()
        self._checkers: dict[int, Checker] = {}
        self._waiting = CheckedInputs(self._versions_shape(), self._checkers)

    def _versions_shape(self) -> int:
        return self.machine.field(0, layout.VERSION_SHAPE)

    def install(self, plan: DataflowPlan, functions: Sequence[Any]) -> InstalledDataflow:
        installed = super().install(plan, functions)
        self._checkers[id(installed)] = Checker(
            self.pool, self.texts, installed, functions, self._owner_of
        )
        return installed

    def uninstall(self, dataflow: InstalledDataflow) -> None:
        super().uninstall(dataflow)
        del self._checkers[id(dataflow)]

    def close(self, frontier: list[int]) -> None:
        before = self.frontier
        super().close(frontier)
        checkers = list(self._checkers.values())
        due = versions_of(checkers, self._versions_shape(), before, frontier)
        for checker in checkers:
            checker.check(due)

    def _owner_of(self, trace: int) -> tuple[Checker, int]:
        """The checker of the dataflow that made a trace, and the node that it belongs to there."""
        for dataflow in self.dataflows:
            for number, own in dataflow.addresses.traces.items():
                if own == trace and not isinstance(dataflow.plan.nodes[number], Import):
                    return self._checkers[id(dataflow)], number
        raise AssertionError("an import has an owner")


class Dataflow(PlainDataflow):
    """A dataflow that is checked after every batch where `debug` is set."""

    def __init__(self, name: str = "dataflow", *, debug: bool = False, **settings: Any) -> None:
        if debug:
            FlowBuilder.__init__(self, name, VersionClock(CheckedHost(**settings)))
        else:
            super().__init__(name, **settings)


def versions_of(
    checkers: Sequence[Checker], shape: int, closed: Sequence[int], still_open: Sequence[int]
) -> list[int]:
    """The versions between two frontiers at which something changed, and their upper bounds."""
    changed = set(closed).union(*(checker.changed() for checker in checkers))
    if shape:
        for one in list(changed):
            changed |= {int(upper_bound(one, other, shape)) for other in list(changed)}

    def at_or_after(version: int, frontier: Sequence[int]) -> bool:
        return any(not_after(bound, version, shape) for bound in frontier)

    return sorted(
        version
        for version in changed
        if at_or_after(version, closed) and not at_or_after(version, still_open)
    )[-MOST_VERSIONS:]


def _few(found: Records) -> str:
    listed = sorted(f"{record} x {count}" for record, count in found.items())[:5]
    return ", ".join(listed) or "nothing else"
