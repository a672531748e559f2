"""Each part of the planner against the slow way to the same answer."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtide.optimize.bounds import raise_bound
from graphtide.optimize.tree import (
    Tree,
    bypass_idle_stones,
    distances_between,
    edge_lengths,
    minimum_spanning_tree,
    view_distances,
)
from graphtide.plan.collection import ViewMatrix
from tests.examples import examples
from tests.oracle import planning as slow
from tests.property.view_matrices import as_plain, matrices

quick = settings(deadline=None, max_examples=examples(60))


@st.composite
def trees(draw, fewest=2, most=6):
    points = draw(st.integers(fewest, most))
    parents = [-1] + [draw(st.integers(0, at - 1)) for at in range(1, points)]
    return np.array(parents, dtype=np.intp)


@quick
@given(matrices(most_weight=2**33))
def test_distances_are_the_sums_of_the_classes_that_differ(matrix):
    versions, weights = as_plain(matrix)
    points = [0, *versions]
    expected = [[slow.price(a, b, weights) for b in points] for a in points]
    assert view_distances(matrix).tolist() == expected
    rows = np.vstack([np.zeros((1, matrix.classes), dtype=bool), matrix.membership.T])
    assert distances_between(rows, rows, matrix.weights).tolist() == expected


@quick
@given(st.integers(0, 2**32 - 1), st.integers(1, 90), st.sampled_from([3, 2**23, 2**30]))
def test_distances_of_many_views_are_exact_whatever_the_weights(seed, views, heaviest):
    random = np.random.default_rng(seed)
    share = random.choice([0.01, 0.1, 0.5, 0.97], size=(120, 1))
    membership = random.random((120, views)) < share
    weights = random.integers(1, heaviest + 1, 120)
    found = view_distances(ViewMatrix(membership, weights))
    padded = np.hstack([np.zeros((120, 1), dtype=bool), membership])
    for left in range(0, views + 1, 7):
        differ = padded != padded[:, [left]]
        assert found[left].tolist() == [
            int(weights[differ[:, at]].sum()) for at in range(views + 1)
        ]


@quick
@given(matrices(most_views=4))
def test_spanning_tree_is_the_cheapest_tree_without_stones(matrix):
    versions, weights = as_plain(matrix)
    distance = view_distances(matrix)
    found = minimum_spanning_tree(distance)
    assert edge_lengths(distance, found).sum() == slow.best_tree(versions, weights)
    assert sorted(found.order.tolist()) == list(range(matrix.views + 1))


@quick
@given(matrices(fewest_views=1, most_views=5))
def test_raised_bounds_stay_below_every_tour_and_chain(matrix):
    versions, weights = as_plain(matrix)
    distance = view_distances(matrix)
    orders = list(slow.permutations(versions))
    tour = min(slow.chain_price([*order, 0], weights) for order in orders)
    chain = slow.best_chain(versions, weights)
    for found in (1, 2, 5):
        assert raise_bound(distance, "tour", found * tour, 1.0) <= tour
        assert raise_bound(distance, "chain", found * chain, 1.0) <= chain


@quick
@given(trees(fewest=1, most=9), st.data())
def test_idle_stones_are_bypassed_and_all_else_stays(parents, data):
    terminals = data.draw(st.integers(1, len(parents)))
    tree, kept = bypass_idle_stones(Tree(parents, np.arange(len(parents))), terminals)
    assert kept[:terminals].tolist() == list(range(terminals))
    children = np.bincount(tree.parents[1:], minlength=len(tree.parents))
    assert (children[terminals:] >= 2).all()
    assert sorted(tree.order.tolist()) == list(range(len(kept)))
    for at, above in enumerate(tree.parents.tolist()):
        if at:
            ancestors = [int(kept[at])]
            while ancestors[-1] > 0:
                ancestors.append(int(parents[ancestors[-1]]))
            assert next(x for x in ancestors[1:] if x in kept) == kept[above]
