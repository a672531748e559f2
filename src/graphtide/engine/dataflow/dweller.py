"""A dataflow that lives on a host: its plan, and what became of it in the machine."""

from __future__ import annotations

from dataclasses import dataclass

from graphtide.engine.dataflow.foreign import Rounds
from graphtide.engine.dataflow.making import Installed
from graphtide.kernels.dataflow.times import field_width
from graphtide.plan.dataflow import DataflowPlan, Import
from graphtide.plan.dataflow_describing import describe


@dataclass
class Dweller:
    """A dataflow on the host: its plan, what became of it in each machine, where inputs are fed.

    `ran` tells that it has taken part in a run: before, even old versions may lack what it imports.
    """

    plan: DataflowPlan
    shards: tuple[Installed, ...]
    feeds: dict[int, int]
    ran: bool = False

    @property
    def installed(self) -> Installed:
        """What became of it in the first machine, whose addresses everybody else knows."""
        return self.shards[0]

    def told(self, worker: int, operator: int) -> str | None:
        """What an operator of a worker's machine does; None where it is of another dataflow."""
        for number, found in self.shards[worker].operators.items():
            if found == operator:
                return f"#{number} {describe(self.plan, number)}, of dataflow {self.plan.name}"
        return None


def rounds_of(plan: DataflowPlan, number: int) -> Rounds:
    """How positions are divided where a node stands."""
    depths = max(plan.depth(), 1)
    depth = plan.scopes[plan.scope_of[number]].depth
    return Rounds(field_width(depths), depths, depth)


def own_traces(plan: DataflowPlan, done: Installed) -> dict[int, int]:
    """The traces that a plan made itself: not those that it imports."""
    return {
        number: trace
        for number, trace in done.traces.items()
        if not isinstance(plan.nodes[number], Import)
    }
