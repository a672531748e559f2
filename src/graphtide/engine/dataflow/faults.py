"""Records for which an edge has no word: added up once a batch is over, and told if any is left.

An edge keeps such a record, with its version and diff, and sends nothing for it (see
`kernels.dataflow.faults`). Rows of one edge that add up to nothing would have sent rows that add up
to nothing, so nothing is missing without them: a join sends such pairs of records that it has still
to take away. Where a sum is left, a version has the record, and the batch must fail.

Only rows of one edge are added up, of all workers. Where a collection is taken away from another
one, the two come along edges of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from graphtide.engine.dataflow.crew import Crew
from graphtide.engine.dataflow.dweller import Dweller
from graphtide.engine.dataflow.machine import Machine
from graphtide.kernels.dataflow import layout
from graphtide.kernels.dataflow.ports import NOWHERE, first_position
from graphtide.kernels.dataflow.times import not_after


def find_fault(crew: Crew, dwellers: Iterable[Dweller], still_open: Sequence[int]) -> int | None:
    """An operator, in the first machine, of which an edge has no word for a record that is there.

    Takes out all that has waited for it, but for versions that are still open.
    """
    if not any(machine.words[layout.FAULTS] for machine in crew.machines):
        return None
    for machine in crew.machines:
        machine.words[layout.FAULTS] = 0
    for dweller in dwellers:
        for operator in dweller.installed.operators.values():
            shards = list(crew.shards(operator))
            edges = zip(*(machine.edges(its_own) for machine, its_own in shards), strict=True)
            for same in edges:
                total = Counter[tuple[int, ...]]()
                for (machine, _), edge in zip(shards, same, strict=True):
                    _add_up(machine, machine.field(edge, layout.EDGE_FAULTS), still_open, total)
                if any(total.values()):
                    return operator
    return None


def _add_up(
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
