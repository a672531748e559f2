"""Number and sizes of components, kept from the labels that change.

For each size it is known how many labels have it. The largest size is found by going down from the
last one: whenever it falls by so much, at least as many vertices have changed their label, so that
a move costs no more than its changes.
"""

from __future__ import annotations

from graphtide.kernels.jit import kernel
from graphtide.kernels.summaries.records import Int64, LabelCounts, Moves


@kernel
def follow_labels(moves: Moves, old: Int64, new: Int64, kept: LabelCounts, found: Int64) -> None:
    """Make all moves; `found` has a row a view: how many labels, the largest, those of one vertex.

    O(changes).
    """
    count, labels, known = kept
    for at in range(len(moves.start)):
        back = moves.back[at]
        for row in range(moves.start[at], moves.stop[at]):
            left, joined = (new[row], old[row]) if back else (old[row], new[row])
            size = count[left]
            count[left] = size - 1
            labels[size] -= 1
            labels[size - 1] += 1
            known[0] -= size == 1
            size = count[joined] + 1
            count[joined] = size
            labels[size - 1] -= 1
            labels[size] += 1
            known[0] += size == 1
            known[1] = max(known[1], size)
        slot = moves.slot[at]
        if slot >= 0:
            while known[1] > 0 and labels[known[1]] == 0:
                known[1] -= 1
            found[slot, 0], found[slot, 1], found[slot, 2] = known[0], known[1], labels[1]
