"""`Dataflow`: what users build collections in, feed, and advance."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from typing import Any

from graphtide.engine.dataflow.host import Host
from graphtide.engine.dataflow.machine import DEFAULT_FUEL, DEFAULT_MEMORY
from graphtide.engine.dataflow.paths import MOST_ROUNDS
from graphtide.engine.dataflow.worker_pool import MOST_WORKERS
from graphtide.model.errors import InputError
from graphtide.plan.dataflow import Import, Input
from graphtide.run.dataflow.collection import Arrangement, Collection, Loop
from graphtide.run.dataflow.flow_builder import FlowBuilder, Time, VersionClock, is_whole, schema_of
from graphtide.run.dataflow.inputs import InputCollection
from graphtide.run.dataflow.reports import counters, draw, explain
from graphtide.run.rules.build import rules_on
from graphtide.run.turns import in_turn


class Dataflow(FlowBuilder):
    """Collections, and the operators that keep them current, version after version.

        flow = gt.Dataflow()
        edges = flow.input("edges", src=int, dst=int)
        degrees = edges.count(by="src").output()
        edges.insert([(1, 2), (1, 3)])
        flow.advance()
        degrees.records()       # {(1, 2): 1}

    A dataflow is built first and runs then: with the first `advance` it is installed, and no
    operators can be added. Another one `beside` it may be built at any time; both share the clock
    and the memory, and the new one can import arrangements of the old one. Threads may share a
    dataflow that is built: each call waits for the one before it.

    `memory` bounds the bytes it may take. `effort` is how many rows of merging each new row pays
    for. A join that has sent `fuel` rows pauses, and so many rows wait for an operator before
    they are added up: less of it takes less memory where few distinct records come of many pairs.
    A loop that has gone round `most_rounds` times, rounded up to a power of two, is refused as one
    that never comes to rest; loops within loops can count less far.
    With `once`, it is for one answer: it takes insertions alone, at one version, and runs once.
    Records that only ever come are then kept without times, which makes loops several times faster.
    With `workers`, so many threads share the work of large batches, each for the keys whose hash is
    its own and with an equal part of `memory`; answers are the same. The page "Keep any computation
    current" of the documentation says where that pays.
    """

    def __init__(
        self,
        name: str = "dataflow",
        *,
        beside: Dataflow | None = None,
        coordinates: int = 1,
        memory: int = DEFAULT_MEMORY,
        effort: int = 4,
        fuel: int = DEFAULT_FUEL,
        most_rounds: int = MOST_ROUNDS,
        once: bool = False,
        workers: int = 1,
    ) -> None:
        if beside is None:
            if fuel < 1:
                raise InputError(f"fuel cannot be {fuel}", hint="give a number of rows, 1 or more")
            if most_rounds < 1:
                raise InputError(f"most_rounds cannot be {most_rounds}", hint="give 1 or more")
            if not is_whole(workers) or not 1 <= workers <= MOST_WORKERS:
                raise InputError(
                    f"workers cannot be {workers!r}", hint=f"give a number from 1 to {MOST_WORKERS}"
                )
            host = Host(
                coordinates=coordinates,
                memory=memory,
                effort=effort,
                fuel=fuel,
                most_rounds=most_rounds,
                once=once,
                workers=workers,
            )
            clock = VersionClock(host)
        else:
            beside.check_open()
            if beside.host.once:
                raise InputError(
                    f"{beside.name} runs once, and nothing can come beside it",
                    hint="make it without `once`",
                )
            given = (coordinates, memory, effort, fuel, most_rounds, once, workers)
            if given != (1, DEFAULT_MEMORY, 4, DEFAULT_FUEL, MOST_ROUNDS, False, 1):
                raise InputError(
                    f"{name} shares clock, memory and settings with {beside.name}",
                    hint="give those settings to the first dataflow",
                )
            clock = beside.clock
        super().__init__(name, clock)

    @property
    def version(self) -> Time:
        """The version that is open: what is inserted now belongs to it."""
        return self.clock.version

    def input(self, name: str, /, **columns: Any) -> InputCollection:
        """A collection that users insert into and remove from.

        Columns are int, float, bool, str, datetime.date, datetime.datetime or `decimal(2)`;
        `int | None` where values may be missing.
        """
        number = self.add(Input(name), 0, schema_of(columns))
        return InputCollection(self, number)

    def rules(self, text: str | PathLike[str], /, **given: Collection) -> dict[str, Collection]:
        """What a Datalog program derives from collections: `flow.rules(text, edge=edges)["tc"]`.

        The relations that `.output` names, as collections in which every fact is once. `given` are
        the relations that rules do not derive, by name; their columns are taken in their order,
        and how often a record is there does not matter.
        """
        return rules_on(self, text, given)

    @in_turn
    def import_arrangement(self, arrangement: Arrangement, *, history: bool = False) -> Arrangement:
        """An arrangement of a dataflow beside this one, without a copy.

        What it holds comes in at the current version or, with `history`, at the versions at which
        it came about, as far as they have not been compacted.
        """
        if not isinstance(arrangement, Arrangement):
            raise InputError(
                f"{arrangement!r} is no arrangement",
                hint="arrange it in its own dataflow before that runs: edges.arrange('src')",
            )
        if arrangement.flow.clock is not self.clock:
            raise InputError(
                f"{arrangement.flow.name} and {self.name} do not share a clock",
                hint=f"make the new one with gt.Dataflow(beside={arrangement.flow.name})",
            )
        if arrangement.scope != 0:
            raise InputError(
                f"{arrangement!r} is in a loop, whose rounds {self.name} does not have",
                hint="import what leaves it: arrange behind leave()",
            )
        shared = self.host.share(arrangement.trace)
        node = Import(shared, arrangement.key, history)
        return Arrangement(self, self.add(node, 0, arrangement.schema))

    @contextmanager
    def loop(self, name: str = "loop") -> Iterator[Loop]:
        """A loop outside of all others; see `Loop` for loops within it."""
        with self.looping(name, 0) as scope:
            yield Loop(self, scope)

    @in_turn
    def advance(self) -> Time:
        """Close the open version of all dataflows beside this one; the version that is open now.

        Where that fails, the version stays open, and what was inserted for it is gone; see the page
        "Keep any computation current" of the documentation.
        """
        return self.clock.advance()

    @in_turn
    def advance_to(self, *frontier: Time) -> Time:
        """Close all versions before a later one, in one go; out-of-date ones cannot be reopened."""
        return self.clock.advance_to(*frontier)

    @in_turn
    def close(self) -> None:
        """Take the dataflow and all it holds out of the memory that it shares.

        Nothing can be read from it or inserted any more; a second time does nothing.
        """
        self.clock.remove(self)

    @in_turn
    def explain(self) -> str:
        """The operators, the loops, and what they have done, as text."""
        return explain(self)

    @in_turn
    def draw(self) -> str:
        """The same as a picture, in SVG."""
        return draw(self)

    @in_turn
    def counters(self) -> dict[str, dict[str, int]]:
        """What each operator has taken in, sent, holds, recomputed and skipped."""
        return counters(self)
