"""Counters: what each operator of a dataflow has done so far."""

from __future__ import annotations

from typing import Any

from graphtide.engine.dataflow.reading import rows_held
from graphtide.kernels.dataflow import layout
from graphtide.plan.dataflow import Import, Reduce, sources_of
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


def operator_facts(flow: GrowingFlow) -> dict[str, Any]:
    """All nodes of a dataflow with what they have done, and which reads which, as JSON has it.

    Nodes that are no operators of their own, such as maps, are worked out along the way: they hold
    no rows, and their time is that of whoever sends.
    """
    flow.install()
    plan = flow.plan
    seconds = operator_seconds(flow)
    nodes = [_node_facts(flow, number, seconds) for number in range(len(plan.nodes))]
    edges = [
        [source, number] for number, node in enumerate(plan.nodes) for source in sources_of(node)
    ]
    edges += [[definition, variable] for variable, definition in plan.definitions.items()]
    loops = [
        {"id": number, "name": scope.name, "parent": scope.parent or None}
        for number, scope in enumerate(plan.scopes)
        if number
    ]
    return {"name": plan.name, "operators": nodes, "edges": edges, "loops": loops}


def operator_seconds(flow: GrowingFlow) -> dict[int, float]:
    """The seconds that each operator took: its share of the time that the machine ran."""
    installed, crew = flow.install().installed.operators, flow.host.crew
    cycles = {
        number: crew.total(operator, layout.OP_CYCLES) for number, operator in installed.items()
    }
    others = (
        crew.total(operator, layout.OP_CYCLES)
        for other in flow.clock.flows
        if other is not flow and other.dweller is not None
        for operator in other.dweller.installed.operators.values()
    )
    seconds = sum(machine.seconds for machine in crew.machines)
    whole = max(1, sum(cycles.values()) + sum(others))
    return {number: seconds * count / whole for number, count in cycles.items()}


def _node_facts(flow: GrowingFlow, number: int, seconds: dict[int, float]) -> dict[str, Any]:
    counted = operator_counters(flow, number)
    return {
        "id": number,
        "name": describe(flow.plan, number),
        "kind": type(flow.plan.nodes[number]).__name__.lower(),
        "rows": counted.get("held", 0),
        "seconds": round(seconds.get(number, 0.0), 6),
        "loop": flow.plan.scope_of[number] or None,
        "came": counted.get("in", 0),
        "sent": counted.get("out", 0),
        "activations": counted.get("activations", 0),
    }
