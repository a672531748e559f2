"""Hypothesis strategies for class matrices, and the same matrix as the plain oracle reads it."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from graphtide.plan.collection import EMPTY_VERSION, ViewMatrix
from tests.oracle import planning as slow


@st.composite
def matrices(draw, most_classes=6, most_views=6, most_weight=40, fewest_views=0):
    """Class matrices with empty, full and repeated views well represented."""
    classes = draw(st.integers(0, most_classes))
    full = (1 << classes) - 1
    version = st.one_of(st.integers(0, full), st.sampled_from([0, full]))
    views = draw(st.lists(version, min_size=fewest_views, max_size=most_views))
    weights = draw(st.lists(st.integers(1, most_weight), min_size=classes, max_size=classes))
    membership = [[view >> row & 1 for view in views] for row in range(classes)]
    table = np.array(membership, dtype=bool).reshape(classes, len(views))
    return ViewMatrix(table, np.array(weights, dtype=np.int64))


def as_plain(matrix):
    """The views as ints and the weights as a list."""
    empty = [0] * matrix.views
    return slow.versions_of(matrix.membership.tolist()) or empty, matrix.weights.tolist()


def check_fits(plan, views):
    """Each view is reached once, depth first, by sorted lists of classes that make it."""
    assert plan.classes == views.classes
    assert sorted(plan.view_steps) == list(range(views.views))
    assert len(plan.steps) == views.views + plan.stones
    way = []
    for at, step in enumerate(plan.steps):
        while way and way[-1] != step.parent:
            way.pop()
        assert way or step.parent == EMPTY_VERSION
        way.append(at)
        for listed in (step.inserted, step.deleted):
            assert listed.tolist() == sorted(set(listed.tolist()))
    for step, held in zip(plan.steps, plan.versions(), strict=True):
        assert step.view is None or np.array_equal(held, views.held(step.view))
