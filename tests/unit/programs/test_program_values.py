"""Parameters: what they may be bound to, and what the bound program then says."""

from __future__ import annotations

import numpy as np
import pytest

from graphtide import algorithms
from graphtide.algorithms.paths import CappedPaths
from graphtide.model.errors import InputError
from graphtide.plan.expressions import EdgeProperty
from graphtide.plan.program_reads import expressions_in
from graphtide.plan.program_values import bind
from tests.unit.programs.library import Components, Hops, Moments, PageRank, ShortestPaths, Votes
from tests.unit.programs.sources import read


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


COSTS = """
    @gt.program
    class Costs:
        {declared}
        cost: float = 0.0
        paid = gt.Sum(float)
        kind = gt.Property(str)
        share = gt.VertexProperty(float, missing=0.5)
        iterations = 3
        def initialize(self, v): v.cost = v.share
        def traverse(self, u, e, v):
            for k in range(2):
                if e.kind == "toll":
                    v.paid(e.toll * u.share if u.cost > 0 else 0.0)
        def update(self, v): v.cost = v.paid {used}
"""


def test_properties_may_have_other_names_in_the_data() -> None:
    costs = read(COSTS.format(declared="", used=""))
    assert costs.columns == ("kind", "share", "toll")
    bound = costs(toll="fee", share="part", kind="kind")
    assert str(bound) == "Costs(kind='kind', share='part', toll='fee')"
    written = COSTS.format(declared="", used="").replace("e.toll", "e.fee")
    written = written.replace("share = ", "part = ").replace(".share", ".part")
    assert bound.program == read(written).plan
    assert bound.written == costs.plan
    assert bound.column_parameters == {"kind": "kind", "part": "share", "fee": "toll"}
    assert bound != costs()
    assert ShortestPaths(source=3, weight="my km").program.traverse[0].value.right.name == "my km"


def test_walks_read_other_names_too() -> None:
    at = algorithms.Rings(length=3, time="at")
    assert {item.name for item in expressions_in(at.program) if isinstance(item, EdgeProperty)} == {
        "at"
    }
    assert algorithms.Rings(time="time").program == algorithms.Rings.plan
    assert str(at).endswith("most=1000000, time='at')")


def test_a_parameter_goes_before_a_property_of_its_name() -> None:
    costs = read(COSTS.format(declared="toll: float = 1.0", used="+ self.toll"))
    assert costs.columns == ("kind", "share")
    assert costs(toll=2).value("toll") == 2.0
    assert CappedPaths.columns == ()


def test_one_column_is_not_read_as_two_types() -> None:
    costs = read(COSTS.format(declared="", used=""))
    with pytest.raises(InputError) as caught:
        costs(toll="kind")
    assert "'kind' stands for two properties" in caught.value.what


@pytest.mark.parametrize(
    ("program", "given", "what", "hint"),
    [
        (ShortestPaths, {}, "needs a value for 'source'", "source=..."),
        (ShortestPaths, {"source": []}, "'source' cannot be []", "the id of a vertex"),
        (ShortestPaths, {"source": None}, "'source' cannot be None", "the id of a vertex"),
        (ShortestPaths, {"sauce": 3}, "no parameter 'sauce'", "`source`"),
        (ShortestPaths, {"source": 3, "weight": 3}, "'weight' cannot be 3", "weight='...'"),
        (ShortestPaths, {"source": 3, "weight": ""}, "'weight' cannot be ''", "weight='...'"),
        (ShortestPaths, {"wait": 3}, "no parameter 'wait'", "it has source, weight"),
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
