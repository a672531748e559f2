"""Take operators out of a machine, with all the blocks that are theirs alone."""

from __future__ import annotations

from collections.abc import Iterable

from graphtide.engine.dataflow.machine import Machine
from graphtide.kernels.dataflow import layout
from graphtide.kernels.dataflow.seen import drop_seen
from graphtide.kernels.dataflow.traces import drop_trace, remove_reader


def remove(
    machine: Machine, operators: Iterable[int], ports: Iterable[int], traces: Iterable[int]
) -> None:
    """Free operators with their edges, ports and traces; none of them may be scheduled."""
    for operator in operators:
        _remove_operator(machine, operator)
    for port in ports:
        machine.drop_port(port)
    for trace in traces:
        drop_trace(machine.words, trace)


def _remove_operator(machine: Machine, operator: int) -> None:
    for side in (layout.OP_LEFT, layout.OP_RIGHT):
        trace = machine.field(operator, side)
        if trace:
            remove_reader(machine.words, trace, operator)
    for edge in machine.edges(operator):
        machine.release(machine.field(edge, layout.EDGE_PROGRAM))
        if machine.field(edge, layout.EDGE_FAULTS):
            machine.drop_port(machine.field(edge, layout.EDGE_FAULTS))
        machine.release(edge)
    if machine.field(operator, layout.OP_RESULTS):
        machine.drop_port(machine.field(operator, layout.OP_RESULTS))
    if machine.field(operator, layout.OP_TODO):
        drop_trace(machine.words, machine.field(operator, layout.OP_TODO))
    machine.release(machine.field(operator, layout.OP_ARGUMENTS))
    machine.release(machine.field(operator, layout.OP_TEXTS))
    if machine.field(operator, layout.OP_SEEN):
        drop_seen(machine.words, machine.field(operator, layout.OP_SEEN))
    _remove_outboxes(machine, operator)
    machine.handlers.pop(operator, None)
    machine.release(operator)


def _remove_outboxes(machine: Machine, operator: int) -> None:
    table = machine.field(operator, layout.OP_OUTBOXES)
    if table:
        for port in machine.words[table : table + machine.workers].tolist():
            if port != machine.field(operator, layout.OP_PORT):
                machine.drop_port(port)
        machine.release(table)
