"""Which operators of a plan Python carries out, and by what."""

from __future__ import annotations

from collections.abc import Sequence

from graphtide.engine.dataflow.dweller import rounds_of
from graphtide.engine.dataflow.foreign import Function, foreign_handler, reduce_handler
from graphtide.engine.dataflow.machine import Machine
from graphtide.engine.dataflow.making import Installed
from graphtide.engine.dataflow.text_functions import compute_handler
from graphtide.engine.dataflow.texts import Texts
from graphtide.plan.dataflow import Compute, DataflowPlan, Foreign, Reduce


def set_handlers(
    machine: Machine,
    plan: DataflowPlan,
    done: Installed,
    functions: Sequence[Function],
    texts: Texts,
) -> None:
    """Let Python carry out what is its own in a plan that has been installed."""
    for number, node in enumerate(plan.nodes):
        made = plan.schemas[number]
        if isinstance(node, Compute):
            source = plan.schemas[node.source]
            machine.handlers[done.operators[number]] = compute_handler(machine, node, source, texts)
        elif isinstance(node, Foreign):
            machine.handlers[done.operators[number]] = foreign_handler(
                machine,
                node,
                functions[node.function],
                (plan.schemas[node.source], made),
                texts,
                rounds_of(plan, number),
            )
        elif isinstance(node, Reduce) and node.reducer == "function":
            key = plan.key_of(node.source)
            source = plan.schemas[node.source]
            machine.handlers[done.operators[number]] = reduce_handler(
                machine,
                functions[node.argument],
                (source[:key], source[key:], made[key:]),
                texts,
            )
