"""The normal form of walks, the terms of their deltas, and how they are explained."""

from __future__ import annotations

from dataclasses import replace

from graphtide.engine.walks.code import walk_code
from graphtide.plan import expressions as x
from graphtide.plan import walks as w
from graphtide.plan.walk_forms import walks_of
from graphtide.plan.walk_terms import (
    FactorVersion,
    HopFactor,
    JoinFactor,
    factors_of,
    symmetry,
    terms_of,
)
from tests.equivalence.walk_cases import BOTH, ONE, OUT, rings, triangles


def with_body(*body: w.WalkStatement) -> w.WalkProgram:
    return replace(triangles(), traverse=body)


def test_a_triangle_is_one_walk_with_one_term() -> None:
    (walk,) = walks_of(triangles())
    found = symmetry(walk)
    assert found is not None
    assert found.ordered == ("u", "v", "w")
    assert len(factors_of(walk)) == 3
    (term,) = terms_of(walk)
    assert term.once
    assert {version for _, version in term.versions} == {FactorVersion.UPTO}


def test_without_an_order_every_factor_has_its_term() -> None:
    inner = w.Step(
        "v", BOTH, "w", None, (w.When(x.Joined("u", "w", "both"), (w.SendGlobal("total", ONE),)),)
    )
    (walk,) = walks_of(with_body(w.Step("u", BOTH, "v", None, (inner,))))
    assert symmetry(walk) is None
    terms = terms_of(walk)
    assert [type(term.factor) for term in terms] == [HopFactor, HopFactor, JoinFactor]
    seen = [[version for _, version in term.versions] for term in terms]
    new, old = FactorVersion.NEW, FactorVersion.OLD
    assert seen == [[old, old], [new, old], [new, new]]


def test_what_is_sent_unequally_cannot_be_exchanged() -> None:
    outer = triangles().traverse[0]
    assert isinstance(outer, w.Step)
    order = outer.body[0]
    assert isinstance(order, w.When)
    inner = order.then[0]
    assert isinstance(inner, w.Step)
    closing = inner.body[0]
    assert isinstance(closing, w.When)
    only_u = replace(closing, then=(w.SendAt("u", "found", ONE),))
    changed = replace(outer, body=(replace(order, then=(replace(inner, body=(only_u,)),)),))
    (walk,) = walks_of(with_body(changed))
    assert symmetry(walk) is None
    assert len(terms_of(walk)) == 3


def test_a_step_back_is_a_question() -> None:
    same = x.Compare("==", x.VertexFact("w", "id"), x.VertexFact("u", "id"))
    inner = w.Step("v", OUT, "w", None, (w.When(same, (w.SendAt("w", "found", ONE),)),))
    (walk,) = walks_of(with_body(w.Step("u", OUT, "v", None, (inner,))))
    assert walk.positions == ("u", "v")
    assert walk.conditions == (x.Joined("v", "u", "out"),)
    assert walk.sends == (w.SendAt("u", "found", ONE),)


def test_a_step_back_over_edges_stays_a_hop() -> None:
    (walk,) = walks_of(rings(3))
    assert [hop.vertex for hop in walk.hops] == ["v1", "v2", "u"]
    assert len(terms_of(walk)) == 3


def test_what_contradicts_itself_is_no_walk() -> None:
    apart = x.Unary("not", x.Joined("v", "u", "both"))
    step = w.Step("u", BOTH, "v", None, (w.When(apart, (w.SendGlobal("total", ONE),)),))
    assert walks_of(with_body(step)) == ()


def test_leaves_behind_the_same_loops_are_one_walk() -> None:
    asked = x.Joined("v", "u", "out")
    one, other = w.SendAt("u", "found", ONE), w.SendAt("v", "found", ONE)
    step = w.Step("u", BOTH, "v", None, (w.When(asked, (one,), (other,)),))
    (walk,) = walks_of(with_body(step))
    assert [len(leaf.conditions) for leaf in walk.leaves] == [1, 1]
    wanted = [item.wanted for item in factors_of(walk) if isinstance(item, JoinFactor)]
    assert wanted == [None]


def test_explain_says_orders_pruning_and_why() -> None:
    assert walk_code(triangles()).explain() == [
        "walk 1: u - v, v - w",
        "    where u is joined to w",
        "    where u.id < v.id",
        "    where v.id < w.id",
        "    sends u.found(1), v.found(1), w.found(1), self.total(1)",
        "    u, v, w may be exchanged: a run from scratch orders them by degree",
        "    from scratch: u; then v from the neighbours of u [u.id < v.id]; then w from the "
        "smallest of the neighbours of v, the neighbours of u, asking the others [v.id < w.id]",
        "    delta",
        "        changed pairs at u - v [u.id != v.id]; then w from the smallest of the "
        "neighbours of v, the neighbours of u, asking the others [w.id != u.id, w.id != v.id]",
        "            sees v - w those before, u is joined to w those before",
        "            from one end only: its positions may be exchanged",
        "follows a batch by the terms of its walks: no walk reads state",
    ]


def test_explain_says_which_steps_are_gone_through_again() -> None:
    send = w.SendAt("u", "found", ONE)
    inner = w.Step("v", BOTH, "w", None, (send,))
    explained = walk_code(with_body(w.Step("u", OUT, "v", None, (send, inner)), send)).explain()
    again = [line.strip() for line in explained if "again" in line]
    assert again == ["goes through the steps of walk 2 again, which sends at a lesser depth"]
