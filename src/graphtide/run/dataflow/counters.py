"""Counters: what each operator of a dataflow has done so far."""

from __future__ import annotations

from graphtide.engine.dataflow.reading import rows_held
from graphtide.kernels.dataflow import layout
from graphtide.plan.dataflow import Import, Node, Reduce
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
        f"{number} {describe(flow, number)}": operator_counters(flow, number)
        for number in sorted(dweller.installed.operators)
    }


def operator_counters(flow: GrowingFlow, number: int) -> dict[str, int]:
    """The counters of one operator; none where the node is not one."""
    if flow.dweller is None or number not in flow.dweller.installed.operators:
        return {}
    done, crew = flow.dweller.installed, flow.host.crew
    node = flow.plan.nodes[number]
    fields = {**_FIELDS, **(_REDUCE if isinstance(node, Reduce) else {})}
    found = {name: crew.total(done.operators[number], at) for name, at in fields.items()}
    if number in done.traces and not isinstance(node, Import):
        found["held"] = rows_held(flow.host, done.traces[number])
    return found


def describe(flow: GrowingFlow, number: int) -> str:
    """One line that says what a node does."""
    node: Node = flow.plan.nodes[number]
    name = type(node).__name__.lower()
    details = {
        "input": lambda: repr(getattr(node, "name", "")),
        "output": lambda: repr(getattr(node, "name", "")),
        "map": lambda: ", ".join(f"{new} = {how}" for new, how in getattr(node, "columns", ())),
        "filter": lambda: str(getattr(node, "predicate", "")),
        "arrange": lambda: f"by {_key(flow, number)}",
        "import": lambda: f"by {_key(flow, number)}",
        "join": lambda: f"on {_key(flow, getattr(node, 'left', 0))}",
        "reduce": lambda: f"{getattr(node, 'reducer', '')} by {_key(flow, number)}",
        "foreign": lambda: str(getattr(node, "kind", "")),
    }
    return f"{name} {details[name]()}".strip() if name in details else name


def _key(flow: GrowingFlow, number: int) -> str:
    names = [name for name, _ in flow.plan.schemas[number][: flow.plan.key_of(number)]]
    return ", ".join(names) or "nothing"
