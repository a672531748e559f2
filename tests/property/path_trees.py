"""Random regular paths, as trees of the product and as the oracle has them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from graphtide.plan.regular_paths import (
    Alternative,
    Except,
    Inverse,
    RegularPath,
    Repeat,
    Sequence,
    Step,
)

LABELS = ("a", "b", "c")
_some = st.lists(st.sampled_from(LABELS), min_size=1, max_size=2, unique=True).map(tuple)
_excepts = st.one_of(
    st.just(Except(())),
    st.builds(Except, _some),
    st.builds(lambda back: Except(None, back), _some),
    st.builds(Except, _some, _some),
)
_times = st.tuples(st.integers(0, 3), st.integers(0, 2) | st.none())


def _larger(inner: st.SearchStrategy[RegularPath]) -> st.SearchStrategy[RegularPath]:
    parts = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Inverse, inner),
        st.builds(Sequence, parts),
        st.builds(Alternative, parts),
        st.builds(
            lambda path, times: Repeat(
                path, times[0], None if times[1] is None else times[0] + times[1]
            ),
            inner,
            _times,
        ),
    )


paths = st.recursive(st.builds(Step, st.sampled_from(LABELS)) | _excepts, _larger, max_leaves=6)


def oracle_node(path: RegularPath) -> Any:
    match path:
        case Step(label):
            return ("step", label)
        case Except(labels, back):
            return ("except", labels, back)
        case Inverse(inner):
            return ("inverse", oracle_node(inner))
        case Sequence(parts):
            return ("sequence", [oracle_node(part) for part in parts])
        case Alternative(parts):
            return ("alternative", [oracle_node(part) for part in parts])
        case Repeat(inner, least, most):
            return ("repeat", oracle_node(inner), least, most)
