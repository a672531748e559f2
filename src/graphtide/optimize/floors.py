"""How few differences any plan of many views can do with, found without distances.

1. Every edge of the union enters at least once. In a chain, those that are not in the last view
   leave again, and the last view is no larger than the largest.
2. Take a view with no other on the way to it from the empty version: that way costs at least its
   size. Every other view that differs from all those counted is reached by a step of its own,
   which moves at least the lightest class. This is nearly met by outages: one difference a view.
"""

from __future__ import annotations

from graphtide.optimize.bounds import union_size
from graphtide.optimize.run_points import no_points
from graphtide.plan.view_runs import ViewRuns


def chain_floor(views: ViewRuns) -> int:
    """No chain needs fewer differences."""
    largest = int(views.sizes().max(initial=0))
    return max(2 * union_size(views) - largest, tree_floor(views))


def tree_floor(views: ViewRuns) -> int:
    """No tree needs fewer differences, whatever its stones."""
    different, _ = no_points(views).with_stones(views.bounds)
    sizes = different.sizes()[1:]
    if not len(sizes):
        return 0
    steps = int(sizes.min()) + (len(sizes) - 1) * int(views.weights.min())
    return max(union_size(views), steps)
