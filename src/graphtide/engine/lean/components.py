"""Labels of connected components over a lean graph, by several threads."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.lean.parts import vertex_parts
from graphtide.engine.lean.workers import Workers
from graphtide.kernels.graph.compressed import LeanGraph
from graphtide.kernels.lean.components import begin_alone, join_first, join_rest, shorten_chains

Int32 = NDArray[np.int32]
_ASKED = 1024
"""The largest component is looked for among this many vertices."""


def component_labels(lean: LeanGraph, sign: int, workers: Workers) -> Int32:
    """The least vertex (the greatest, for sign -1) of the component of every vertex."""
    above = np.empty(lean.vertices, np.int32)
    parts = vertex_parts(lean, forward=False, backward=True)
    workers.each(lambda part: begin_alone(above, part), parts)
    workers.each(lambda part: join_first(lean.out, above, part, sign), parts)
    workers.each(lambda part: shorten_chains(above, part), parts)
    facts = sign, _largest(above)
    workers.each(lambda part: join_rest(lean.out, lean.into, above, part, facts), parts)
    workers.each(lambda part: shorten_chains(above, part), parts)
    return above


def _largest(above: Int32) -> int:
    """The root that most of some vertices have, all over the graph; any would be right."""
    sample = above[:: max(1, len(above) // _ASKED)]
    roots, counts = np.unique(sample, return_counts=True)
    return int(roots[np.argmax(counts)]) if len(roots) else -1
