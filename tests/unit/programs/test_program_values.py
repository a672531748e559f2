"""Parameters: what they may be bound to, and what the bound program then says."""

from __future__ import annotations

import numpy as np
import pytest

from graphtide.model.errors import InputError
from graphtide.plan.program_values import bind
from tests.unit.programs.library import Components, Hops, Moments, PageRank, ShortestPaths, Votes


def test_values_defaults_and_settings() -> None:
    bound = PageRank(iterations=np.int64(3), damping=np.float32(0.5))
    assert bound.values == (("iterations", 3), ("tolerance", 0.0), ("damping", 0.5))
    assert (bound.iterations, bound.tolerance) == (3, 0.0)
    assert PageRank().iterations == 10
    assert Components().iterations is None
    assert Moments(rounds=0).iterations == 0
    assert str(bound) == "PageRank(iterations=3, tolerance=0.0, damping=0.5)"


def test_sizes_may_be_parameters() -> None:
    bound = Votes(labels=7)
    assert bound.size(bound.program.accumulator("votes")) == 7
    assert bound.size(bound.program.field("label")) is None
    assert Moments().size(Moments.plan.field("shape")) == 3


def test_vertices_stay_as_the_user_names_them() -> None:
    assert ShortestPaths(source="ann").value("source") == "ann"
    assert Hops(sources=["ann", "bob", "ann"]).value("sources") == ("ann", "bob")
    assert Hops(sources=np.array([3, 4])).value("sources") == (3, 4)
    assert hash(Hops(sources={1})) == hash(Hops(sources=(1,)))
    assert Hops(sources=[]).value("sources") == ()


@pytest.mark.parametrize(
    ("program", "given", "what", "hint"),
    [
        (ShortestPaths, {}, "needs a value for 'source'", "source=..."),
        (ShortestPaths, {"source": []}, "'source' cannot be []", "the id of a vertex"),
        (ShortestPaths, {"source": None}, "'source' cannot be None", "the id of a vertex"),
        (ShortestPaths, {"sauce": 3}, "no parameter 'sauce'", "`source`"),
        (ShortestPaths, {"weight": 3}, "no parameter 'weight'", "it has source"),
        (Components, {"source": 3}, "no parameter 'source'", "leave it out"),
        (Hops, {"sources": "ann"}, "'sources' cannot be 'ann'", "a list of ids"),
        (Hops, {"sources": 3}, "'sources' cannot be 3", "a list of ids"),
        (Hops, {"sources": [[]]}, "'sources' cannot be", "a list of ids"),
        (Hops, {"sources": [1], "limit": 2.0}, "'limit' cannot be 2.0", "whole number"),
        (Hops, {"sources": [1], "limit": True}, "'limit' cannot be True", "whole number"),
        (Hops, {"sources": [1], "limit": 2**63}, "'limit' cannot be", "64 bits"),
        (PageRank, {"damping": "x"}, "'damping' cannot be 'x'", "a number"),
        (PageRank, {"damping": float("nan")}, "'damping' cannot be nan", "a number"),
        (PageRank, {"damping": False}, "'damping' cannot be False", "a number"),
        (PageRank, {"iterations": -1}, "the number of iterations", "0 or more"),
        (PageRank, {"iterations": 10**12}, "1,000,000,000,000 iterations are more", "at most 10"),
        (PageRank, {"tolerance": -1}, "the tolerance", "finite"),
        (PageRank, {"tolerance": float("inf")}, "the tolerance", "finite"),
        (Votes, {"labels": 0}, "the size of votes", "1 or more"),
    ],
)
def test_mistakes(program: object, given: dict[str, object], what: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        program(**given)  # type: ignore[operator]
    assert what in caught.value.what
    assert hint in (caught.value.hint or "")


def test_parameters_are_given_by_name() -> None:
    with pytest.raises(InputError) as caught:
        ShortestPaths(3)
    assert caught.value.hint == "write ShortestPaths(source=...)"


def test_bind_takes_a_mapping() -> None:
    assert bind(ShortestPaths.plan, {"source": 3}) == ShortestPaths(source=3)
