"""Queries with bound arguments, which arguments are bound, and proofs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import graphtide as gt
from graphtide.model.errors import InputError, LanguageError, LimitError
from graphtide.plan.rule_demand import demanded
from graphtide.plan.rules import unstratified
from graphtide.run.rules import queries

BASE = """
.decl edge(x: number, y: number)
.decl left(x: number, y: number)
left(x, y) :- edge(x, y).
left(x, z) :- left(x, y), edge(y, z).
.decl right(x: number, y: number)
right(x, y) :- edge(x, y).
right(x, z) :- edge(x, y), right(y, z).
.decl twice(x: number, y: number)
twice(x, y) :- edge(x, y).
twice(x, z) :- twice(x, y), twice(y, z).
"""
CHAIN = [(at, at + 1) for at in range(30)] + [(50, 51)]


@pytest.mark.parametrize("relation", ["left", "right", "twice"])
def test_a_query_finds_what_a_full_run_holds(relation: str) -> None:
    rules = gt.datalog(BASE)
    rules.insert("edge", CHAIN)
    assert rules.query(f"{relation}(28, x)").facts() == [(29,), (30,)]
    assert rules.query(f"?- {relation}(x, 2).").facts() == [(0,), (1,)]
    assert rules.query(f"{relation}(0, 30)").facts() == [()]
    assert rules.query(f"{relation}(30, 0)").facts() == []
    assert rules.query(f"{relation}(x, x)").facts() == []
    assert rules.query(f"{relation}(50, _)").columns == ()


BESIDE = """
.decl e(x: number, y: number)
.decl f(x: number, y: number)
.decl a(x: number, y: number)
a(x, y) :- e(x, y).
.decl b(x: number, y: number)
b(x, y) :- f(x, y).
.decl more(x: number, y: number)
more(x, y) :- e(x, y).
more(x, z) :- more(x, y), e(y, z).
.decl less(x: number, y: number)
less(x, y) :- f(x, y).
less(x, z) :- less(x, y), f(y, z).
.decl p(x: number, y: number)
"""
PAIRS = [("a", "b"), ("b", "a"), ("a", "a"), ("more", "less"), ("less", "more"), ("more", "b")]


@pytest.mark.parametrize(("one", "other"), PAIRS)
@pytest.mark.parametrize("again", [True, False])
@pytest.mark.parametrize("magic", [True, False])
def test_atoms_beside_each_other_do_not_wait_for_each_other(
    one: str, other: str, magic: bool, again: bool
) -> None:
    """A demand reads what is derived: what is before it, or what is derived in full."""
    once_more = f"{one}(x, y), " if again else ""
    text = f"p(x, z) :- {one}(x, y), {other}(x, z), {once_more}x < 9.\n.output p"
    rules = gt.datalog(BESIDE + text, magic=magic)
    rules.insert("e", [(1, 2), (2, 3), (4, 5), (9, 1)])
    rules.insert("f", [(1, 7), (7, 8), (2, 6), (9, 1)])
    found = rules.facts("p")
    full = {name: rules.query(f"{name}(x, y)").facts() for name in (one, other)}
    there = {x for x, _ in full[one]}
    assert found == sorted({(x, z) for x, z in full[other] if x in there and x < 9})
    assert found
    assert rules.query("p(x, y)").facts() == found
    assert rules.query("p(1, y)").facts() == [(z,) for x, z in found if x == 1]
    x, z = found[-1]
    assert rules.query(f"p({x}, {z})").facts() == [()]
    assert rules.why(f"p({x}, {z})").fact == ("p", (x, z))


def test_a_query_is_kept_current_until_it_is_closed() -> None:
    rules = gt.datalog(BASE)
    rules.insert("edge", CHAIN)
    with rules.query("left(50, x)") as query:
        query.changes()
        rules.insert("edge", [(51, 0)])
        rules.delete("edge", [(1, 2)])
        rules.advance()
        assert query.facts() == [(0,), (1,), (51,)]
        assert [(row, diff) for row, _, diff in query.changes()] == [((0,), 1), ((1,), 1)]
        assert query.table().to_pydict() == {"x": [0, 1, 51]}


def test_a_stable_argument_is_bound_and_no_other() -> None:
    """The demand of `left` for its first argument never grows; that of `right` does."""
    rules = gt.datalog(BASE)
    rules.insert("edge", CHAIN)
    assert "left^bf?, derived" in rules.query("left(0, x)").explain()
    assert "left^bf?, derived" in rules.query("left(0, 30)").explain()
    assert "right^bf?, a loop" in rules.query("right(0, x)").explain()
    assert "right^fb?, derived" in rules.query("right(0, 30)").explain()


def test_a_loop_that_is_read_by_known_values_is_derived_by_them() -> None:
    """Between two marks of a chain are many blanks: all pairs of those are not derived."""
    text = """
        .decl next(x: number, y: number)
        .decl mark(x: number)
        .decl skip(x: number, y: number)
        skip(x, y) :- next(x, y).
        skip(x, z) :- skip(y, z), next(x, y), !mark(y).
        .decl result(x: number, y: number)
        result(x, y) :- mark(x), skip(x, y), mark(y).
        .output result
    """
    chain, marks = [(at, at + 1) for at in range(60)], [(0,), (30,), (60,)]
    told = []
    for magic in (True, False):
        rules = gt.datalog(text, magic=magic)
        rules.insert("next", chain)
        rules.insert("mark", marks)
        assert rules.facts("result") == [(0, 30), (30, 60)]
        told.append(rules.explain())
        rules.delete("mark", [(30,)])
        rules.advance()
        assert rules.facts("result") == [(0, 60)]
    assert "skip^fb" in told[0]
    assert "skip^fb" not in told[1]


def test_a_demand_never_comes_to_depend_on_a_negation_of_itself() -> None:
    """`p` denies `r`, which reads `q` by known values as `p` does: one demand would serve both."""
    text = """
        .decl e(x: number, y: number)
        .decl s(x: number)
        .decl q(x: number, y: number)
        q(x, y) :- e(x, y).
        q(x, z) :- e(x, y), q(y, z).
        .decl r(x: number)
        r(x) :- s(x), q(x, _).
        .decl p(x: number, y: number)
        p(x, y) :- q(x, y), !r(y).
        p(x, z) :- p(x, y), p(y, z).
    """
    rules = gt.datalog(text)
    rules.insert("e", [(1, 2), (2, 3), (3, 4), (4, 5)])
    rules.insert("s", [(2,), (4,)])
    assert rules.query("p(1, y)").facts() == [(3,), (5,)]
    asked = gt.datalog(text + ".decl a(y: number)\na(y) :- p(1, y).").program.plan
    found = demanded(asked, ["a"], (), asked=True)
    assert any(rule.head == "q^bf?" for rule in found.rules)
    assert unstratified([item.name for item in found.relations], found.rules) is None


def test_an_index_has_its_columns_in_an_order_of_its_own() -> None:
    """The program holds `g` by its third column, and the query looks it up by its first."""
    rules = gt.datalog("""
        .decl g(x: number, y: number, z: number)
        .decl f(z: number)
        .decl found(y: number)
        found(y) :- f(z), g(_, y, z).
        .output found
    """)
    rules.insert("g", [(1, 2, 3), (1, 4, 5), (6, 7, 8)])
    rules.insert("f", [(3,)])
    assert rules.facts("found") == [(2,)]
    assert rules.query("g(1, y, z)").facts() == [(2, 3), (4, 5)]
    assert rules.query("g(x, y, 8)").facts() == [(6, 7)]


def test_a_query_finds_given_facts_of_what_rules_derive() -> None:
    rules = gt.datalog("""
        .decl e(x: number, y: number)
        .decl far(x: number, n: number)
        far(x, a) <= far(x, b) :- b <= a.
        far(1, 0).
        far(y, n + 1) :- far(x, n), e(x, y).
        .decl seen(x: number)
        .input seen
        seen(y) :- seen(x), e(x, y).
    """)
    rules.insert("e", [(1, 2), (2, 3), (1, 3), (3, 1)])
    rules.insert("seen", [(2,)])
    assert rules.query("far(3, n)").facts() == [(1,)]
    assert rules.query("seen(2)").facts() == [()]
    assert rules.why("seen(1)").height == 2


def test_a_proof_is_as_short_as_can_be() -> None:
    rules = gt.datalog(BASE)
    rules.insert("edge", [(1, 2), (2, 3), (3, 4), (1, 3)])
    proof = rules.why("left(1, 4)")
    assert (
        str(proof)
        == """\
left(1, 4)    line 5: left(x, z) :- left(x, y), edge(y, z).
├─ left(1, 3)    line 4: left(x, y) :- edge(x, y).
│  └─ edge(1, 3)    given
└─ edge(3, 4)    given"""
    )
    assert (proof.height, proof.line) == (2, 5)
    assert [item.fact for item in proof.premises] == [("left", (1, 3)), ("edge", (3, 4))]
    rules.insert("edge", [(at, at + 1) for at in range(100, 400)])
    assert rules.why("left(100, 400)").height == 300


@pytest.mark.parametrize("relation", ["left", "right"])
def test_a_proof_of_a_long_chain_looks_at_few_facts(
    relation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each step of a chain looks at what its rule can use, not at all that the start reaches."""
    looks = 0
    extended = queries._extended

    def counting(*given: Any) -> Any:
        nonlocal looks
        looks += 1
        return extended(*given)

    monkeypatch.setattr(queries, "_extended", counting)
    steps = 1_500
    rules = gt.datalog(BASE)
    rules.insert("edge", [(at, at + 1) for at in range(steps)])
    proof = rules.why(f"{relation}(0, {steps})")
    assert proof.height == steps
    assert looks < 10 * steps
    assert str(proof).count("given") == steps
    assert repr(proof) == f"<proof of {relation}(0, {steps}), {proof.height} high>"


SHARED = """
.decl next(x: number, y: number)
.decl p(x: number)
p(0). p(1).
p(z) :- p(x), p(y), next(x, y), next(y, z).
"""


def test_premises_that_many_facts_share_are_said_once() -> None:
    rules = gt.datalog(SHARED)
    rules.insert("next", [(at, at + 1) for at in range(100)])
    proof = rules.why("p(100)")
    assert len(str(proof).splitlines()) == 1 + 4 * 99
    assert "p(98)    see above" in str(proof)


def test_a_proof_is_drawn(tmp_path: Path) -> None:
    rules = gt.datalog(SHARED)
    rules.insert("next", [(at, at + 1) for at in range(6)])
    path = rules.why("p(6)").draw().save(tmp_path / "proof.svg")
    drawn = path.read_text()
    assert drawn.count("<!-- p(4) -->") == 1


def test_what_does_not_hold_has_no_proof() -> None:
    rules = gt.datalog(BASE)
    rules.insert("edge", [(1, 2)])
    with pytest.raises(InputError, match="left\\(2, 1\\) does not hold"):
        rules.why("left(2, 1)")
    with pytest.raises(InputError, match="leaves values open"):
        rules.why("left(x, 2)")
    with pytest.raises(LanguageError, match="there is no relation 'lefty'"):
        rules.query("lefty(1, 2)")
    with pytest.raises(LanguageError, match="a symbol stands where a number is expected"):
        rules.query('left("a", x)')


def test_a_query_that_cannot_be_answered_leaves_the_program_as_it_was() -> None:
    columns = [f"c{number}" for number in range(130)]
    rules = gt.datalog(f"""
        .decl edge(x: number)
        .decl copy(x: number)
        copy(x) :- edge(x).
        .output copy
        .decl wide({", ".join(f"{name}: number" for name in columns)})
        wide({", ".join(f"x + {number}" for number in range(130))}) :- edge(x).
    """)
    rules.insert("edge", [1])
    for _ in range(2):
        with pytest.raises(LimitError, match="130 columns is to be kept"):
            rules.query(f"wide({', '.join(columns)})")
    rules.insert("edge", [2])
    rules.advance()
    assert rules.facts("copy") == [(1,), (2,)]


def test_sums_of_floats_in_proofs_are_exact() -> None:
    rules = gt.datalog("""
        .decl paid(who: number, much: float)
        .decl whole(much: float)
        .decl most(much: float)
        whole(m) :- m = sum x : { paid(_, x) }.
        most(m) :- m = max x : { paid(_, x) }.
        .output whole
        .output most
    """)
    rules.insert("paid", [(number, 0.1) for number in range(10)])
    assert rules.facts("whole") == [(1.0,)]
    assert rules.why("whole(1.0)").height == 1
    rules.insert("paid", [(10, 1e308), (11, 1e308), (12, -1.0)])
    rules.advance()
    assert rules.facts("whole") == [(float("inf"),)]
    assert rules.why("most(1.0e308)").height == 1


def test_what_is_not_a_number_is_itself_in_proofs() -> None:
    rules = gt.datalog("""
        .decl paid(who: number, much: float)
        .decl alike(who: number, other: number)
        .decl linked(who: number, other: number, much: float)
        alike(x, y) :- paid(x, m), paid(y, m), x != y.
        linked(x, y, m) :- alike(x, y), paid(x, m).
        linked(x, z, m) :- linked(x, y, m), alike(y, z).
        .output linked
    """)
    rules.insert("paid", [(number, float("nan")) for number in range(3)])
    assert len(rules.facts("linked")) == 9
    assert rules.why("alike(0, 2)").height == 1


def test_a_query_is_told_to_give_the_fields_of_a_record_one_by_one() -> None:
    rules = gt.datalog("""
        .type place = [x: number, y: symbol]
        .decl at(who: symbol, where: place)
        at("ann", [1, "a"]).
        .output at
    """)
    assert rules.query('at(who, 1, "a")').facts() == [("ann",)]
    with pytest.raises(gt.GraphtideError, match="fields of a record one by one") as error:
        rules.query('at(who, [1, "a"])')
    assert "at(who, where.x, where.y)" in str(error.value)
