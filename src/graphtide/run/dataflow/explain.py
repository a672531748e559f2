"""`explain`: a dataflow as text, loops indented, counters behind what has run."""

from __future__ import annotations

from graphtide.plan.dataflow import Variable, sources_of
from graphtide.plan.dataflow_describing import describe
from graphtide.run.dataflow.counters import operator_counters
from graphtide.run.dataflow.growing import GrowingFlow


def explain(flow: GrowingFlow) -> str:
    """One line a node: its number, what it does, what it reads, its columns, its counters."""
    plan = flow.plan
    lines = [f"dataflow {plan.name}"]
    scope = 0
    for number in range(len(plan.nodes)):
        here = plan.scope_of[number]
        if here != scope and here != 0:
            indent = "  " * plan.scopes[here].depth
            lines.append(f"{indent}loop {plan.scopes[here].name}")
        scope = here
        lines.append("  " * (plan.scopes[here].depth + 1) + _line(flow, number))
    return "\n".join(lines)


def _line(flow: GrowingFlow, number: int) -> str:
    plan = flow.plan
    columns = ", ".join(name.strip() for name, _ in plan.schemas[number])
    reads = " ".join(f"#{source}" for source in sources_of(plan.nodes[number]))
    parts = [f"#{number} {describe(flow.plan, number)}", f"({columns})"]
    if reads:
        parts.append(f"from {reads}")
    if isinstance(plan.nodes[number], Variable) and number in plan.definitions:
        parts.append(f"then #{plan.definitions[number]}")
    counted = operator_counters(flow, number)
    counters_text = ", ".join(f"{name} {value:,}" for name, value in counted.items() if value)
    return " ".join(parts) + (f"  [{counters_text}]" if counters_text else "")
