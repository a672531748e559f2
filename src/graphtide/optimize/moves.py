"""Exact local moves on a path: turn a stretch round, or put a short stretch elsewhere.

The search for a good chain works on rounded distances; these moves take its result to a local
optimum of the true ones. Every pass weighs all moves of its kind at once as a matrix over two
positions, O(points**2), and makes the best, until none is left or the time is over.

The path runs from a fixed first point to a fixed last one (for a chain: the empty version, and
an end that stands for "after the last view" and whose distances are what ending there costs).
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from graphtide.optimize.tree import Numbers

Lengths = NDArray[np.float64]
LONGEST_STRETCH = 3


def improve_path(length: Lengths, path: Numbers, deadline: float) -> Numbers:
    """The path after the best moves, one at a time; never longer, same first and last point."""
    while time.monotonic() < deadline and len(path) > 3:
        along = length[np.ix_(path, path)]
        steps = along.diagonal(1)
        turned, turn_gain = _best_turn(along, steps)
        moved, move_gain = _best_move(along, steps)
        if max(turn_gain, move_gain) <= 1e-9 * max(1.0, float(steps.sum())):
            break
        path = _turn(path, *turned) if turn_gain >= move_gain else _move(path, *moved)
    return path


def _best_turn(along: Lengths, steps: Lengths) -> tuple[tuple[int, int], float]:
    """The stretch first..last whose turning round saves most, and the saving."""
    before, after = along[:-2, 1:-1], along[1:-1, 2:]
    gain = steps[:-1, None] + steps[None, 1:] - before - after
    gain[np.tril_indices(len(gain))] = 0
    first, last = np.unravel_index(gain.argmax(), gain.shape)
    return (int(first) + 1, int(last) + 1), float(gain[first, last])


def _turn(path: Numbers, first: int, last: int) -> Numbers:
    return np.concatenate([path[:first], path[first : last + 1][::-1], path[last + 1 :]])


def _best_move(along: Lengths, steps: Lengths) -> tuple[tuple[int, int, int, bool], float]:
    """The short stretch, the gap it goes to and whether it turns round, that save most."""
    best, most = (1, 1, 0, False), 0.0
    for size in range(1, min(LONGEST_STRETCH, len(along) - 2) + 1):
        first = np.arange(1, len(along) - size)
        last = first + size - 1
        freed = steps[first - 1] + steps[last] - along[first - 1, last + 1]
        for turned, (head, tail) in ((False, (first, last)), (True, (last, first))):
            added = along[:-1][:, head] + along[1:][:, tail] - steps[:, None]
            gain = freed[None, :] - added
            gap = np.arange(len(steps))[:, None]
            gain[(gap >= first - 1) & (gap <= last)] = 0
            at, stretch = np.unravel_index(gain.argmax(), gain.shape)
            if gain[at, stretch] > most:
                most = float(gain[at, stretch])
                best = (int(first[stretch]), int(last[stretch]), int(at), turned)
    return best, most


def _move(path: Numbers, first: int, last: int, gap: int, turned: bool) -> Numbers:
    """Put path[first..last] between path[gap] and path[gap + 1]."""
    stretch = path[first : last + 1]
    stretch = stretch[::-1] if turned else stretch
    if gap < first:
        return np.concatenate([path[: gap + 1], stretch, path[gap + 1 : first], path[last + 1 :]])
    return np.concatenate([path[:first], path[last + 1 : gap + 1], stretch, path[gap + 1 :]])
