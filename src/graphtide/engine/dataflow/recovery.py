"""What is done when a batch failed, or holds a record without a word.

What a batch adds to a trace has an open version, and what was there before has a closed one:
merging moves no row across the frontier between them. Between batches nothing waits in any port. So
a machine is as it was before a batch once all that waits is dropped and all rows of open versions
have been weeded out of its traces. Both hold where versions are plain numbers. Only batches of a
trace that hold open versions are made anew. Merges that have begun are broken off. A block that a
kernel had in hand when it failed is lost memory; no row is lost.

Records for which an edge has no word wait at the edge (see `kernels.dataflow.sending`). They are
added up once the batch is over: rows of one edge that add up to nothing are no fault, and where a
sum is left a version has the record, and the batch must fail.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from graphtide.engine.dataflow.lowering import InstalledDataflow, PlanAddresses, own_traces
from graphtide.engine.dataflow.machine import Int64, Machine
from graphtide.engine.dataflow.reading import batch_rows
from graphtide.engine.dataflow.worker_pool import WorkerPool
from graphtide.kernels.dataflow import layout
from graphtide.kernels.dataflow.numbers import not_after
from graphtide.kernels.dataflow.ports import NOWHERE, first_position, take_bucket
from graphtide.kernels.dataflow.traces import add_batch
from graphtide.plan.dataflow import DataflowPlan, Import, Join, Output, Reduce

_BEGUN = (
    layout.OP_LEFT_NEWS,
    layout.OP_LEFT_AT,
    layout.OP_RIGHT_NEWS,
    layout.OP_RIGHT_AT,
    layout.OP_PHASE,
)
"""What an operator notes of work that it has still to do."""


def restore(pool: WorkerPool, dataflows: Iterable[InstalledDataflow], frontier: int) -> None:
    """Forget all that the machines know of versions from a frontier on."""
    pool.drop_mail()
    for worker, machine in enumerate(pool.machines):
        machine.drop_messages()
        machine.words[layout.STAGED] = machine.words[layout.FAULTS] = 0
        for dataflow in dataflows:
            addresses = dataflow.shards[worker]
            # Before its first batch a dataflow has nothing; in it, it may import old versions.
            first = frontier if dataflow.ran else 0
            _drop_waiting(machine, dataflow.plan, addresses, first)
            for trace in own_traces(dataflow.plan, addresses).values():
                _weed(machine, trace, first)
            if not dataflow.ran:
                _announce_imports(machine, dataflow.plan, addresses)


def _drop_waiting(
    machine: Machine, plan: DataflowPlan, addresses: PlanAddresses, frontier: int
) -> None:
    """Leave nothing to do, and nothing to read but rows of closed versions."""
    for operator in addresses.operators.values():
        for field in _BEGUN:
            machine.set_field(operator, field, 0)
        machine.release(machine.field(operator, layout.OP_ANSWER))
        machine.set_field(operator, layout.OP_ANSWER, 0)
        outboxes = machine.field(operator, layout.OP_OUTBOXES)
        ports = machine.words[outboxes : outboxes + machine.workers].tolist() if outboxes else []
        faults = [machine.field(edge, layout.EDGE_FAULTS) for edge in machine.edges(operator)]
        for port in (*ports, *faults, machine.field(operator, layout.OP_RESULTS)):
            _empty(machine, port)
    for number, port in addresses.ports.items():
        if isinstance(plan.nodes[number], Output):
            rows = machine.take(port)
            machine.feed(port, rows[rows[:, -2] < frontier])
        else:
            _empty(machine, port)


def _empty(machine: Machine, port: int) -> None:
    words = machine.words
    while port and words[port + layout.PORT_COUNT]:
        position = words[words[port + layout.PORT_LIST]]
        machine.release(int(take_bucket(words, port, position)))


def _announce_imports(machine: Machine, plan: DataflowPlan, addresses: PlanAddresses) -> None:
    """Let all of what a plan imports be news, as it was before the first batch of the plan."""
    for number, node in enumerate(plan.nodes):
        reads: list[tuple[int, int]] = []
        if isinstance(node, Import):
            reads = [(number, layout.OP_LEFT_NEWS)]
        elif isinstance(node, Join):
            reads = [(node.left, layout.OP_LEFT_NEWS), (node.right, layout.OP_RIGHT_NEWS)]
        elif isinstance(node, Reduce):
            reads = [(node.source, layout.OP_LEFT_NEWS)]
        for source, news in reads:
            if isinstance(plan.nodes[source], Import):
                machine.set_field(addresses.operators[number], news, 2)


def _weed(machine: Machine, trace: int, frontier: int) -> None:
    """Take the rows of open versions out of a trace."""
    fresh = machine.field(trace, layout.TRACE_FRESH)
    batches = _unmerged(machine, trace)
    closed = [batch for batch in batches if not _has_open(machine, batch, frontier)]
    _set_slots(machine, trace, closed)
    mixed = [batch for batch in batches if batch not in closed]
    if fresh and _has_open(machine, fresh, frontier):
        machine.set_field(trace, layout.TRACE_FRESH, 0)
        mixed.append(fresh)
    for batch in mixed:
        rows = batch_rows(machine, trace, batch, 0, machine.field(batch, layout.BATCH_KEYS))
        machine.release(batch)
        _add_rows(machine, trace, rows[rows[:, -2] < frontier])


def _unmerged(machine: Machine, trace: int) -> list[int]:
    """The batches in the slots of a trace, oldest first; merges that have begun are given up."""
    slots = machine.field(trace, layout.TRACE_SLOTS)
    batches: list[int] = []
    for slot in range(
        slots,
        slots + machine.field(trace, layout.TRACE_SLOT_COUNT) * layout.SLOT_WORDS,
        layout.SLOT_WORDS,
    ):
        batches += [machine.field(slot, layout.SLOT_OLDER), machine.field(slot, layout.SLOT_NEWER)]
        if machine.field(slot, layout.SLOT_RESULT):
            machine.release(machine.field(slot, layout.SLOT_RESULT))
            machine.release(machine.field(slot, layout.SLOT_CODES))
    return [batch for batch in batches if batch]


def _has_open(machine: Machine, batch: int, frontier: int) -> bool:
    times_at = machine.field(batch, layout.BATCH_TIMES_AT)
    end = times_at + 2 * machine.field(batch, layout.BATCH_TIMES)
    return bool((machine.words[times_at + 1 : end : 2] >= frontier).any())


def _set_slots(machine: Machine, trace: int, batches: list[int]) -> None:
    """Let a trace have these batches, each in a slot of its own."""
    slot = machine.field(trace, layout.TRACE_SLOTS)
    for batch in batches:
        machine.words[slot : slot + layout.SLOT_WORDS] = 0
        machine.set_field(slot, layout.SLOT_OLDER, batch)
        machine.set_field(slot, layout.SLOT_SIZE, machine.field(batch, layout.BATCH_ROWS))
        slot += layout.SLOT_WORDS
    machine.set_field(trace, layout.TRACE_SLOT_COUNT, len(batches))


def _add_rows(machine: Machine, trace: int, rows: Int64) -> None:
    """Put rows of key, values, position, version and diff back into a trace."""
    for position in np.unique(rows[:, -3]).tolist():
        there = np.delete(rows[rows[:, -3] == position], -3, axis=1)
        bucket = machine.store(np.concatenate([[len(there), len(there)], there.reshape(-1)]))
        add_batch(machine.words, trace, bucket, position)


def find_fault(
    pool: WorkerPool, dataflows: Iterable[InstalledDataflow], still_open: Sequence[int]
) -> int | None:
    """An operator, in the first machine, of which an edge has no word for a record that is there.

    Takes out all that has waited for it, but for versions that are still open.
    """
    if not any(machine.words[layout.FAULTS] for machine in pool.machines):
        return None
    for machine in pool.machines:
        machine.words[layout.FAULTS] = 0
    for dataflow in dataflows:
        for operator in dataflow.addresses.operators.values():
            shards = list(pool.shards(operator))
            edges = zip(*(machine.edges(its_own) for machine, its_own in shards), strict=True)
            for same in edges:
                total = Counter[tuple[int, ...]]()
                for (machine, _), edge in zip(shards, same, strict=True):
                    _add_up_faults(
                        machine, machine.field(edge, layout.EDGE_FAULTS), still_open, total
                    )
                if any(total.values()):
                    return operator
    return None


def _add_up_faults(
    machine: Machine, port: int, still_open: Sequence[int], total: Counter[tuple[int, ...]]
) -> None:
    """Add the rows that wait in a port to a total, by record, version and position."""
    shape = machine.field(0, layout.VERSION_SHAPE)
    staying = []
    while (position := int(first_position(machine.words, port))) != NOWHERE:
        for row in machine.take(port, position).tolist():
            *record, version, diff = row
            if any(not_after(bound, version, shape) for bound in still_open):
                staying.append((position, row))
            else:
                total[(*record, version, position)] += diff
    for position, row in staying:
        machine.feed(port, np.array([row], np.int64), position)
    machine.words[layout.FAULTS] += len(staying)
