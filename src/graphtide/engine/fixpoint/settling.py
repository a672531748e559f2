"""Runs from scratch of selecting programs, as fast as they can be: each vertex settled once.

Right where messages are monotone and never overtake their source, as in fixpoint mode. Labels of
plain components come from union-find, which looks at every edge once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.binding import FIELD_TYPES
from graphtide.kernels.fixpoint.components import label_components
from graphtide.kernels.fixpoint.records import Context, Reached
from graphtide.plan.program_analysis import Selection, labels_components
from graphtide.plan.programs import AccumulatorKind, VertexProgram

Int32 = NDArray[np.int32]
_NO_ROOM = np.empty(0, np.int32)


def settled_values(
    program: VertexProgram, selection: Selection, kernels: Any, context: Context
) -> NDArray[Any]:
    """The values of the version that the graph is at, and nothing else."""
    count = len(context.graph.out.live)
    values: NDArray[Any] = np.empty(count, FIELD_TYPES[selection.type])
    queue = np.empty(count, np.int32)
    if labels_components(program, selection):
        label_components(context.graph, queue, values, _sign(selection))
    else:
        settle(kernels, context, Reached(values, _NO_ROOM, _NO_ROOM), queue)
    return values


def settle(kernels: Any, context: Context, reached: Reached, queue: Int32) -> None:
    """Values, and parents and levels where there is room; `queue` has room for all vertices."""
    starts = np.empty(len(reached.value), np.int32)
    count, in_order = kernels.begin(context, reached, 0, starts)
    starts = starts[:count]
    if not in_order:
        order = np.argsort(reached.value[starts], kind="stable")
        starts = starts[order if kernels.SIGN > 0 else order[::-1]]
    kernels.settle(context, reached, starts, queue)


def _sign(selection: Selection) -> int:
    return 1 if selection.kind is AccumulatorKind.MIN else -1
