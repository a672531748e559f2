"""Programs that stand: what users insert, delete, read and ask for."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import graphtide as gt
from graphtide.model.errors import InputError, LimitError

CLOSURE = """
.decl edge(x: number, y: number)
.decl tc(x: number, y: number)
tc(x, y) :- edge(x, y).
tc(x, z) :- tc(x, y), edge(y, z).
.output tc
"""


def test_facts_are_a_set() -> None:
    rules = gt.datalog(CLOSURE)
    assert rules.insert("edge", [(1, 2), (1, 2), (2, 3)]) == 2
    assert rules.delete("edge", [(7, 7)]) == 0
    rules.advance()
    assert rules.insert("edge", [(1, 2)]) == 0
    assert rules.delete("edge", [(1, 2)]) == 1
    rules.advance()
    assert rules.facts("tc") == [(2, 3)]
    assert rules.changes("tc") == [
        ((1, 2), 0, 1), ((1, 3), 0, 1), ((2, 3), 0, 1), ((1, 2), 1, -1), ((1, 3), 1, -1),
    ]  # fmt: skip


def test_what_comes_and_goes_before_an_advance_leaves_nothing() -> None:
    rules = gt.datalog(CLOSURE)
    rules.insert("edge", [(1, 2)])
    rules.delete("edge", [(1, 2)])
    rules.advance()
    assert rules.facts("tc") == []
    assert rules.size("tc") == 0


def test_facts_come_as_tables() -> None:
    rules = gt.datalog(CLOSURE)
    rules.insert("edge", pa.table({"y": [2], "x": [1]}))
    rules.insert("edge", {"x": [2], "y": [3]})
    assert rules.table("tc").to_pydict() == {"x": [1, 1, 2], "y": [2, 3, 3]}


def test_a_relation_without_attributes_holds_or_does_not() -> None:
    rules = gt.datalog(
        CLOSURE + ".decl loops()\nloops() :- tc(x, x).\n.decl free()\nfree() :- !loops().\n"
        ".output loops, free"
    )
    rules.insert("edge", [(1, 2)])
    assert (rules.facts("loops"), rules.facts("free")) == ([], [()])
    rules.insert("edge", [(2, 1)])
    rules.advance()
    assert (rules.facts("loops"), rules.facts("free")) == ([()], [])
    # A relation without columns has one fact or none, and its table as many rows.
    assert (rules.table("loops").num_rows, rules.table("free").num_rows) == (1, 0)
    assert rules.query("loops()").table().num_rows == 1


def test_records_are_columns() -> None:
    rules = gt.datalog("""
        .type id = [counter: number, node: symbol]
        .decl raw(c: number, n: symbol)
        .decl made(who: id, before: id)
        made([c, n], [c - 1, n]) :- raw(c, n).
        .decl first(who: id)
        first(who) :- made(who, other), !made(other, _), other != [9, "b"].
        .output first
    """)
    rules.insert("raw", [(1, "a"), (2, "a"), (10, "b")])
    assert rules.facts("first") == [(1, "a")]
    assert rules.relations["first"] == ("who.counter", "who.node")


def test_the_least_value_of_a_key_is_kept_in_a_loop() -> None:
    rules = gt.datalog("""
        .decl road(x: symbol, y: symbol, miles: float)
        .decl far(x: symbol, miles: float)
        far(x, a) <= far(x, b) :- b <= a.
        far("home", 0.0).
        far(y, d + w) :- far(x, d), road(x, y, w).
        .output far
    """)
    rules.insert(
        "road", [("home", "a", 5.0), ("home", "b", 1.0), ("b", "a", 1.5), ("a", "home", 0.1)]
    )
    assert rules.facts("far") == [("a", 2.5), ("b", 1.0), ("home", 0.0)]
    rules.delete("road", [("b", "a", 1.5)])
    rules.advance()
    assert rules.facts("far") == [("a", 5.0), ("b", 1.0), ("home", 0.0)]


def test_files_are_read_as_souffle_has_them(tmp_path: Path) -> None:
    (tmp_path / "edge.facts").write_text("1\t2\n2\t3\n")
    (tmp_path / "named.txt").write_text("who what\na 1.5\nb 2\n")
    rules = gt.datalog(
        CLOSURE + ".input edge\n.decl n(who: symbol, what: float)\n"
        '.input n(filename="named.txt", delimiter=" ", headers=true)\n.output n',
        facts=tmp_path,
    )
    assert rules.facts("tc") == [(1, 2), (1, 3), (2, 3)]
    assert rules.facts("n") == [("a", 1.5), ("b", 2.0)]


def test_a_file_with_a_wrong_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "edge.facts").write_text("1\t2\n2\tx\n")
    with pytest.raises(InputError, match=r"(?s)'x' is no number.*edge\.facts, line 2"):
        gt.datalog(CLOSURE + ".input edge", facts=tmp_path)
    (tmp_path / "edge.facts").write_text("1\t2\n3\t9223372036854775808\n")
    with pytest.raises(InputError, match=r"(?s)beyond the 64 bits of.*edge\.facts, line 2"):
        gt.datalog(CLOSURE + ".input edge", facts=tmp_path)
    (tmp_path / "edge.facts").write_text("1 2\n")
    with pytest.raises(InputError, match="edge has 2 columns, and this line 1"):
        gt.datalog(CLOSURE + ".input edge", facts=tmp_path)


@pytest.mark.parametrize(
    ("act", "what"),
    [
        (lambda rules: rules.insert("tc", [(1, 2)]), "tc is what rules derive"),
        (lambda rules: rules.insert("egde", [(1, 2)]), "did you mean 'edge'"),
        (lambda rules: rules.facts("edge"), "edge is not put out"),
        (lambda rules: rules.insert("edge", [(1, "a")]), "cannot hold str values, such as 'a'"),
        (lambda rules: gt.datalog(CLOSURE, once=True), "no setting 'once'"),
        (lambda rules: gt.datalog(CLOSURE, edge=[(1, 2)]), r'insert\("edge", rows\)'),
    ],
)
def test_what_cannot_be_done_says_so(act: object, what: str) -> None:
    with pytest.raises(InputError, match=what):
        act(gt.datalog(CLOSURE))  # type: ignore[operator]


def test_rules_over_collections_of_a_dataflow() -> None:
    flow = gt.Dataflow()
    calls = flow.input("calls", caller=int, callee=int)
    reached = flow.rules(CLOSURE + "edge(8, 9).", edge=calls)["tc"].output()
    calls.insert([(1, 8), (1, 8)])
    flow.advance()
    assert reached.records() == {(1, 8): 1, (1, 9): 1, (8, 9): 1}
    calls.remove([(1, 8)])
    flow.advance()
    assert (1, 9) in reached.records()


def test_rules_over_collections_check_what_they_are_given() -> None:
    flow = gt.Dataflow()
    wrong = flow.input("calls", caller=int, length=float)
    with pytest.raises(InputError, match="declared with"):
        flow.rules(CLOSURE, edge=wrong)
    with pytest.raises(InputError, match="nothing says what 'edge' holds"):
        flow.rules(CLOSURE)
    with pytest.raises(InputError, match="no relation 'egde'"):
        flow.rules(CLOSURE, egde=wrong)


def test_explain_tells_strata_orders_and_rows() -> None:
    rules = gt.datalog(
        CLOSURE + "\n.decl big(n: number)\nbig(n) :- n = count : { tc(_, _) }.\n.output big"
        "\n.decl way(x: number, y: number)\nway(x, y) :- tc(x, y), !edge(x, y).\n.output way"
    )
    rules.insert("edge", [(1, 2), (2, 3)])
    rules.advance()
    assert (
        rules.explain()
        == """\
rules rules
stratum 1: edge, 2 facts given
stratum 2: tc, a loop
  line 4: tc(x, y) :- edge(x, y).
    joins edge
  line 5: tc(x, z) :- tc(x, y), edge(y, z).
    joins tc, then edge by x [1 row]
stratum 3: big, derived
  line 9: big(n) :- n = count : { tc(_, _) }.
    joins count by nothing [1 row]
stratum 4: way, derived
  line 12: way(x, y) :- tc(x, y), !edge(x, y).
    joins tc, then !edge by x, y [2 rows taken away]"""
    )


def test_a_plan_says_in_which_order_atoms_are_joined() -> None:
    text = ".decl a, b, c(x: number)\nc(x) :- a(x), b(x).{}\n.output c"
    for plan, order in ((" .plan 0:(2, 1)", "joins b, then a by x"), ("", "joins a, then b by x")):
        assert order in gt.datalog(text.format(plan)).explain()


def test_a_collection_is_given_for_what_is_not_derived() -> None:
    flow = gt.Dataflow()
    pairs = flow.input("pairs", x=int, y=int)
    with pytest.raises(InputError, match="tc is what rules derive, and is given"):
        flow.rules(CLOSURE, edge=pairs, tc=pairs)
    both = flow.rules(CLOSURE + ".input tc", edge=pairs, tc=pairs)["tc"].output()
    pairs.insert([(1, 2), (2, 3)])
    flow.advance()
    assert set(both.records()) == {(1, 2), (2, 3), (1, 3)}


def test_threads_take_turns() -> None:
    rules = gt.datalog(CLOSURE)
    edges = [(at, at + 1) for at in range(40)]

    def feed(part: int) -> None:
        for edge in edges[part::4]:
            rules.insert("edge", [edge])
            rules.advance()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(feed, range(4)))
    assert rules.size("tc") == 40 * 41 // 2


def test_relations_without_columns_are_collections_without_columns() -> None:
    flow = gt.Dataflow()
    allowed, edges = flow.input("allowed"), flow.input("edge", x=int, y=int)
    text = """
        .decl allowed() .decl edge(x: number, y: number)
        .decl some() some() :- allowed(), edge(_, _).
        .decl seen(x: number) seen(x) :- edge(x, _), some().
        .output some, seen
    """
    made = flow.rules(text, allowed=allowed, edge=edges)
    some, seen = made["some"].output(), made["seen"].output()
    edges.insert([(1, 2), (3, 4)])
    flow.advance()
    assert some.records() == seen.records() == {}
    allowed.insert([(), ()])
    flow.advance()
    assert some.records() == {(): 1}
    assert seen.records() == {(1,): 1, (3,): 1}
    edges.remove([(1, 2), (3, 4)])
    flow.advance()
    assert some.records() == seen.records() == {}


def test_numbers_divide_towards_zero_and_not_by_it() -> None:
    rules = gt.datalog("""
        .decl pair(x: number, y: number)
        .decl divided(x: number, y: number, whole: number, rest: number)
        divided(x, y, x / y, x % y) :- pair(x, y).
        .output divided
    """)
    rules.insert("pair", [(7, 2), (-7, 2), (7, -2), (-7, -2), (6, -3), (1, 0)])
    assert rules.facts("divided") == [
        (-7, -2, 3, -1), (-7, 2, -3, -1), (6, -3, -2, 0), (7, -2, -3, 1), (7, 2, 3, 1),
    ]  # fmt: skip


def test_floats_divide_by_zero_and_have_powers_where_these_are_floats() -> None:
    rules = gt.datalog("""
        .decl pair(x: float, y: float)
        .decl divided(x: float)
        divided(x / y) :- pair(x, y).
        .decl power(x: float, y: float, z: float)
        power(x, y, x ^ y) :- pair(x, y).
        .output divided, power
    """)
    rules.insert("pair", [(1.0, 0.0), (-4.0, 0.5), (0.0, -1.0)])
    assert rules.facts("divided") == [(-8.0,), (0.0,), (float("inf"),)]
    assert rules.facts("power") == [(1.0, 0.0, 1.0)]


def test_a_power_holds_more_tightly_than_the_minus_before_it() -> None:
    rules = gt.datalog("""
        .decl given(x: number)
        .decl found(x: number, a: number, b: number, c: number, d: number)
        found(x, -x ^ 2, (-x) ^ 2, -2 ^ x * 3, -x ^ - -x ^ 2) :- given(x).
        .output found
    """)
    rules.insert("given", [(1,), (2,), (3,)])
    want = [(x, -(x**2), (-x) ** 2, -(2**x) * 3, -(x ** (x**2))) for x in (1, 2, 3)]
    assert rules.facts("found") == want
    assert "(-x) ^ 2" in str(rules.why("found(1, -1, 1, -6, -1)"))


def test_a_float_beyond_all_numbers_has_none() -> None:
    rules = gt.datalog("""
        .decl given(x: float)
        .decl found(x: float, n: number)
        found(x, to_number(x)) :- given(x).
        .output found
    """)
    known = [-(2.0**63), -1.5, -0.5, 0.0, 2.5, 2.0**63 - 1024]
    beyond = [-(2.0**63) - 2048, 2.0**63, 1e300, float("inf"), -float("inf"), float("nan")]
    rules.insert("given", [(x,) for x in known + beyond])
    assert rules.facts("found") == [(x, int(x)) for x in known]


def test_an_aggregate_compares_its_own_values_with_those_around_it() -> None:
    rules = gt.datalog("""
        .decl edge(x: number, y: number)
        .decl same(x: number, n: number)
        same(x, n) :- edge(x, _), n = count : { edge(y, _), y = x }.
        .decl less(x: number, n: number)
        less(x, n) :- edge(x, _), n = sum y : { edge(y, z), z = x + 1, y < x }.
        .output same, less
    """)
    rules.insert("edge", [(1, 2), (1, 3), (2, 3), (1, 4)])
    assert rules.facts("same") == [(1, 3), (2, 1)]
    assert rules.facts("less") == [(1, 0), (2, 1)]


def test_functions_and_aggregates_may_stand_in_atoms_and_in_heads_that_are_asked_for() -> None:
    rules = gt.datalog("""
        .decl word(x: symbol, n: number)
        .decl long(x: symbol)
        long(x) :- word(x, strlen(x)).
        .decl near(x: symbol)
        near(x) :- word(x, n), word(cat(x, "s"), n + 1), word(_, strlen(x)).
        .decl often(x: symbol)
        often(x) :- word(x, count : { word(x, _) }).
        .decl again(x: symbol, n: number)
        again(cat(x, x), strlen(x) + n) :- long(x), word(x, n).
        .decl beside(x: symbol)
        beside(y) :- word(y, 7), word(x, strlen(x)), contains("u", x).
        .output long, near, often, again, beside
    """)
    rules.insert("word", [("a", 1), ("as", 2), ("tea", 2), ("tea", 4), ("cup", 7)])
    assert rules.facts("long") == [("a",), ("as",)]
    assert rules.facts("near") == [("a",)]
    assert rules.facts("often") == [("a",), ("tea",)]
    assert rules.facts("again") == [("aa", 2), ("asas", 4)]
    assert rules.facts("beside") == []
    with rules.query('again("asas", n)') as query:
        assert query.facts() == [(4,)]
        rules.insert("word", [("asas", 4), ("tea", 3)])
        rules.delete("word", [("as", 2)])
        rules.advance()
        assert query.facts() == []
    assert rules.facts("long") == [("a",), ("asas",), ("tea",)]
    assert rules.facts("often") == [("a",), ("tea",)]
    with rules.query("again(x, 6)") as query:
        assert query.facts() == [("teatea",)]


def test_atoms_meet_by_values_that_are_computed() -> None:
    rules = gt.datalog("""
        .decl day(n: number, name: symbol)
        .decl next(x: symbol, y: symbol)
        next(x, y) :- day(n, x), day(n + 1, y).
        .decl named(n: number)
        named(n) :- day(n, x), day(m, _), m * 2 = n + 1, m = strlen(x).
        .output next, named
    """)
    rules.insert("day", [(n, "d" * (n + 1)) for n in range(50)])
    assert len(rules.facts("next")) == 49
    assert rules.facts("named") == []
    assert "joins day, then day by n [49 rows]" in rules.explain()
    rules.insert("day", [(3, "xx")])
    assert rules.facts("named") == []
    rules.advance()
    assert rules.facts("named") == [(3,)]


def test_symbols_in_files_may_hold_all_but_tabs_and_line_feeds(tmp_path: Path) -> None:
    (tmp_path / "name.facts").write_bytes("a\u2028b\t1\r\nc\x0cd\re\t2\n\t3".encode())
    rules = gt.datalog(".decl name(x: symbol, n: number) .input name .output name", facts=tmp_path)
    assert rules.facts("name") == [("", 3), ("a\u2028b", 1), ("c\x0cd\re", 2)]


def test_texts_of_numpy_are_plain_texts_and_halves_of_characters_are_in_no_table() -> None:
    rules = gt.datalog(".decl name(x: symbol) .output name")
    rules.insert("name", [(np.str_("a"),)])
    rules.insert("name", [("\ud800",)])
    assert [type(x) for (x,) in rules.facts("name")] == [str, str]
    with pytest.raises(InputError, match="half of a character"):
        rules.table("name")
    with pytest.raises(InputError, match="leave such records out"):
        rules.insert("name", {"x": ["a", None]})


def test_digits_are_plain_digits(tmp_path: Path) -> None:
    (tmp_path / "name.facts").write_text("1_0\n\u0663\n12\n1e2\n")
    rules = gt.datalog(
        """
        .decl name(x: symbol)
        .input name
        .decl number(n: number)
        number(to_number(x)) :- name(x).
        .decl real(n: float)
        real(to_float(x)) :- name(x).
        .output number
        .output real
        """,
        facts=tmp_path,
    )
    assert rules.facts("number") == [(12,)]
    assert rules.facts("real") == [(12.0,), (100.0,)]
    with pytest.raises(InputError, match="'1_0' is no number"):
        gt.datalog(".decl name(n: number) .input name", facts=tmp_path)


@pytest.mark.parametrize("magic", [True, False])
def test_a_sum_beyond_64_bits_fails_those_alone_who_ask_for_it(magic: bool) -> None:
    text = """
        .decl paid(who: number, much: number)
        .decl asked(who: number)
        .decl away(who: number)
        .decl whole(who: number, much: number)
        whole(w, m) :- asked(w), m = sum x : { paid(w, x) }, !away(w).
        .output whole
    """
    rules = gt.datalog(text, magic=magic)
    rules.insert("paid", [(1, 2**63 - 1), (1, 2**62), (2, 5), (2, -6)])
    rules.insert("asked", [(2,), (3,)])
    rules.advance()
    assert rules.facts("whole") == [(2, -1), (3, 0)]
    assert rules.query("whole(2, x)").facts() == [(-1,)]
    rules.insert("asked", [(1,)])
    with pytest.raises(LimitError, match="does not fit into 64 bits"):
        rules.advance()
    rules.insert("asked", [(1,)])
    rules.insert("away", [(1,)])
    rules.advance()
    assert rules.facts("whole") == [(2, -1), (3, 0)]
    rules.delete("paid", [(1, 2**62)])
    rules.delete("away", [(1,)])
    rules.advance()
    assert rules.facts("whole") == [(1, 2**63 - 1), (2, -1), (3, 0)]
