"""Counters: what each operator of a dataflow has done so far."""

from __future__ import annotations

from graphtide.engine.dataflow.reading import rows_held
from graphtide.kernels.dataflow import layout
from graphtide.plan.dataflow import Import, Reduce
from graphtide.plan.dataflow_describing import describe
from graphtide.run.dataflow.growing import GrowingFlow

_FIELDS = {
    "activations": layout.OP_ACTIVATIONS,
    "in": layout.OP_IN,
    "out": layout.OP_OUT,
}
_REDUCE = {
    "recomputed": layout.OP_RECOMPUTED,
    "unchanged": layout.OP_EMPTY,
    "skipped": layout.OP_SKIPPED,
}


def counters(flow: GrowingFlow) -> dict[str, dict[str, int]]:
    """For each operator: activations, rows in, out and held; for reductions also looks at keys.

    `recomputed` looks read the input, `unchanged` ones of them for nothing; `skipped` ones did
    not have to read it.
    """
    dweller = flow.install()
    return {
        f"{number} {describe(flow.plan, number)}": operator_counters(flow, number)
        for number in sorted(dweller.installed.operators)
    }


def operator_counters(flow: GrowingFlow, number: int) -> dict[str, int]:
    """The counters of one operator; none where the node is not one."""
    if flow.dweller is None or number not in flow.dweller.installed.operators:
        return {}
    done, crew = flow.dweller.installed, flow.host.crew
    node = flow.plan.nodes[number]
    fields = {**_FIELDS, **(_REDUCE if isinstance(node, Reduce) else {})}
    counts = {name: crew.total(done.operators[number], at) for name, at in fields.items()}
    if number in done.traces and not isinstance(node, Import):
        counts["held"] = rows_held(flow.host, done.traces[number])
    return counts
