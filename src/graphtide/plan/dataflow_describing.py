"""What a node of a dataflow does, in a few words: for explanations, pictures and errors."""

from __future__ import annotations

from graphtide.plan.dataflow import DataflowPlan, Node


def describe(plan: DataflowPlan, number: int) -> str:
    """One line that says what a node does."""
    node: Node = plan.nodes[number]
    name = type(node).__name__.lower()
    details = {
        "input": lambda: repr(getattr(node, "name", "")),
        "output": lambda: repr(getattr(node, "name", "")),
        "map": lambda: ", ".join(f"{new} = {how}" for new, how in getattr(node, "columns", ())),
        "filter": lambda: str(getattr(node, "predicate", "")),
        "arrange": lambda: f"by {_key(plan, number)}",
        "import": lambda: f"by {_key(plan, number)}",
        "join": lambda: f"on {_key(plan, getattr(node, 'left', 0))}",
        "reduce": lambda: f"{getattr(node, 'reducer', '')} by {_key(plan, number)}",
        "foreign": lambda: str(getattr(node, "kind", "")),
    }
    return f"{name} {details[name]()}".strip() if name in details else name


def _key(plan: DataflowPlan, number: int) -> str:
    names = [name for name, _ in plan.schemas[number][: plan.key_of(number)]]
    return ", ".join(names) or "nothing"
