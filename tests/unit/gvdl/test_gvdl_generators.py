"""Generators, example by example: names, predicates and what is asked of the data."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from graphtide.lang.gvdl.facts import NamedEdge
from graphtide.lang.gvdl.lower import lower_view, lower_views
from graphtide.lang.gvdl.parse import parse_predicate, parse_statement, parse_views
from graphtide.lang.gvdl.resolve import resolve_predicate
from graphtide.lang.gvdl.statements import CreateView
from graphtide.lang.gvdl.tree import Duration, PropertyName, View, Windows
from graphtide.model.errors import LanguageError
from tests.unit.gvdl.conftest import SCHEMA, Lower, WrittenFacts

Views = Callable[[str], dict[str, str]]


def test_plain_views_are_named_by_their_place(views: Views) -> None:
    assert views("[year < 5], [b: year < 6] [year < 7]") == {
        "view-1": "year < 5",
        "b": "year < 6",
        "view-3": "year < 7",
    }


def test_properties_are_found_by_case_or_else_by_the_only_name_like_it(views: Views) -> None:
    found = views("[a: ID < 5 and YEAR = 2 and u.State = 'CA'], [b: `note 2` = 'x' and _edge = 3]")
    assert found == {
        "a": "id < 5 and year = 2 and src.state = 'CA'",
        "b": "`Note 2` = 'x' and _edge = 3",
    }


def test_a_literal_on_the_left_is_flipped(views: Views) -> None:
    assert views("[a: 5 < year and 5 >= year and 5 = year]") == {
        "a": "year > 5 and year <= 5 and year = 5"
    }


def test_conditions_of_constants_are_worked_out(views: Views) -> None:
    found = views("for k in 1..2 [{k}: k = 1 or year = k], [c: not (1 > 2) and true is true]")
    assert found == {"1": "true or year = 1", "2": "year = 2", "c": "true"}


def test_truth_tests(views: Views) -> None:
    found = views("[a: src.c0 is true], [b: (src.c0 or dst.c0) is not true], [c: src.c0 is false]")
    assert found == {
        "a": "(src.c0 = true) is true",
        "b": "not (src.c0 = true or dst.c0 = true) is true",
        "c": "(not src.c0 = true) is true",
    }


def test_times_without_an_offset_are_in_the_time_zone() -> None:
    written = parse_predicate(
        "ts >= '2020-07-01' and ts < date '2020-07-02' "
        "and ts <> timestamp '2020-07-01 10:00' and ts = timestamp '2020-07-01T10:00:00.5+01:00'"
    )
    assert str(resolve_predicate(written, SCHEMA, timezone="Europe/Berlin")) == (
        "ts >= timestamp '2020-06-30T22:00:00Z' and ts < timestamp '2020-07-01T22:00:00Z' "
        "and ts <> timestamp '2020-07-01T08:00:00Z' "
        "and ts = timestamp '2020-07-01T09:00:00.500000Z'"
    )


def test_loops(views: Views) -> None:
    assert views("for k in 2000..2010 step 5 [upto-{k}: year <= k]") == {
        "upto-2000": "year <= 2000",
        "upto-2005": "year <= 2005",
        "upto-2010": "year <= 2010",
    }
    assert views("for k in 3..1 step -1 [{k}: year = k - 1]") == {
        "3": "year = 2",
        "2": "year = 1",
        "1": "year = 0",
    }
    assert list(views("for w in 0..0.3 step 0.1 [{w}: weight < w]").values()) == [
        "weight < 0.0",
        "weight < 0.1",
        "weight < 0.2",
        "weight < 0.3",
    ]


def test_loops_nest_and_have_bodies_of_several_views(views: Views) -> None:
    found = views("for k in 1..2 for s in ('CA', 'NY') { [a-{k}-{s}: year = k and src.state = s] }")
    assert list(found) == ["a-1-CA", "a-1-NY", "a-2-CA", "a-2-NY"]
    assert found["a-2-CA"] == "year = 2 and src.state = 'CA'"
    assert list(views("for k in 1..2 { [a{k}: year = k], [b{k}: year < k] }")) == [
        "a1",
        "b1",
        "a2",
        "b2",
    ]
    assert list(views("for k in 1..2 for s in (true, 'x') [year = k]")) == [
        "k=1, s=true",
        "k=1, s=x",
        "k=2, s=true",
        "k=2, s=x",
    ]


def test_loops_over_dates(views: Views) -> None:
    text = "for d in date '2020-01-31'..date '2020-03-31' step 1 month"
    assert views(text + " [{d}: day >= d and day < d + 1 month]") == {
        "2020-01-31": "day >= date '2020-01-31' and day < date '2020-02-29'",
        "2020-02-29": "day >= date '2020-02-29' and day < date '2020-03-29'",
        "2020-03-31": "day >= date '2020-03-31' and day < date '2020-04-30'",
    }
    hours = "for t in timestamp '2020-01-01 22:00'..timestamp '2020-01-02 00:00' step 1 hour"
    assert list(views(hours + " [{t}: ts < t]")) == [
        "2020-01-01T22:00:00",
        "2020-01-01T23:00:00",
        "2020-01-02",
    ]


def test_a_loop_variable_wins_over_a_property_but_not_over_its_quoted_name(views: Views) -> None:
    assert views("for y in 7..7 [a: year = y and year < $y and `y` = y + 1]") == {
        "a": "year = 7 and year < 7 and y = 8"
    }


def test_names_of_properties_may_have_holes(views: Views) -> None:
    found = views("for i in 1..2 [c{i}: src.c{i} or dst.c{i}]")
    assert found["c2"] == "src.c2 = true or dst.c2 = true"


def test_products(views: Views) -> None:
    found = views("for k in 1..2 [y{k}: year = k] cross ([a: weight < 1], [b: weight < 2])")
    assert list(found) == ["y1 * a", "y1 * b", "y2 * a", "y2 * b"]
    assert found["y2 * a"] == "year = 2 and weight < 1"
    three = views("[a: year = 1] cross [b: year = 2] cross [c: year = 3]")
    assert three == {"a * b * c": "year = 1 and year = 2 and year = 3"}


def test_combinations(views: Views, lower: Lower) -> None:
    found = views("without 2 of ([a: year = 1], [b: src.c0 or dst.c0], [c: year = 3])")
    assert found == {
        "without a, b": "not (year = 1) is true and not (src.c0 = true or dst.c0 = true) is true",
        "without a, c": "not (year = 1) is true and not (year = 3) is true",
        "without b, c": "not (src.c0 = true or dst.c0 = true) is true and not (year = 3) is true",
    }
    named = views("without 1 of ([a: year = 1], [year = 2]) named 'no-{names}-{index}'")
    assert list(named) == ["no-a-1", "no-view-2-2"]
    assert len(lower("without 5 of (for i in 0..9 [c{i}: src.c{i} or dst.c{i}])").views) == 252


def test_each_edge_is_removed_in_turn(views: Views, facts: WrittenFacts) -> None:
    found = views("within weight > 0 without each edge where year > 5")
    assert found == {
        "without a-b#0": "weight > 0 and _edge <> 0",
        "without b-c": "weight > 0 and _edge <> 1",
        "without a-b#2": "weight > 0 and _edge <> 2",
    }
    assert str(facts.where) == "weight > 0 and year > 5"
    assert facts.asked == 1
    assert views("without each pair of edges")["without a-b#0, b-c"] == "_edge <> 0 and _edge <> 1"


def test_each_value_is_removed_in_turn(views: Views, facts: WrittenFacts) -> None:
    found = views("within weight > 0 without each value of note where year > 5")
    assert found == {
        "without it's": "weight > 0 and not (note = 'it\\'s') is true",
        "without x": "weight > 0 and not (note = 'x') is true",
    }
    assert str(facts.where) == "weight > 0 and year > 5"
    assert facts.asked == 1
    pairs = views("without each pair of values of year named '{names}/{index}'")
    assert list(pairs) == ["2001, 2002/1", "2001, 2003/2", "2002, 2003/3"]
    with pytest.raises(LanguageError, match="no values to remove"):
        views("without each value of src.state")
    with pytest.raises(LanguageError, match="edges have no property 'nota'"):
        views("without each value of nota")


def test_each_vertex_is_removed_in_turn(views: Views, facts: WrittenFacts) -> None:
    found = views("without each vertex where state = 'CA' and ID <> 'x' named 'out {names}'")
    assert found["out b"] == "src._vertex <> 1 and dst._vertex <> 1"
    assert str(facts.where) == "src.state = 'CA' and src.id <> 'x'"
    pairs = views("without each pair of vertices")
    assert list(pairs) == ["without a, b", "without a, c", "without b, c"]
    assert pairs["without a, c"] == (
        "src._vertex <> 0 and dst._vertex <> 0 and src._vertex <> 2 and dst._vertex <> 2"
    )


def test_the_base_is_part_of_every_view_and_of_every_question(facts: WrittenFacts) -> None:
    base = resolve_predicate(parse_predicate("src.state = 'CA'"), SCHEMA)
    written = parse_views("within weight > 0 tumbling windows over year width 10")
    lowered = lower_views(written, SCHEMA, facts, base=base)
    shared = "src.state = 'CA' and weight > 0"
    assert str(lowered.views[0].predicate) == f"{shared} and year >= 2001 and year < 2011"
    assert str(facts.where) == shared


def test_a_view_on_a_view() -> None:
    base = resolve_predicate(parse_predicate("year > 5"), SCHEMA)
    statement = parse_statement("create view v on w edges where src.active")
    assert isinstance(statement, CreateView)
    lowered = lower_view(statement, SCHEMA, base=base)
    assert (lowered.name, str(lowered.predicate)) == ("v", "year > 5 and src.active = true")


def test_windows_that_may_be_dropped_are_told_by_name(lower: Lower) -> None:
    lowered = lower("tumbling windows over year width 5 drop empty, [all: true]")
    assert [view.name for view in lowered.views] == ["2001", "2006", "all"]
    assert lowered.drop_empty == {"2001", "2006"}
    pairs = lower("tumbling windows over year width 5 drop empty cross [all: true]")
    assert pairs.drop_empty == {"2001 * all", "2006 * all"}


def test_trees_built_by_hand_need_no_text(facts: WrittenFacts) -> None:
    windows = Windows("tumbling", PropertyName("day"), Duration(1, "month"))
    active = View(PropertyName("active", "src"), name="active")
    lowered = lower_views([active, windows], SCHEMA, facts)
    assert [view.name for view in lowered.views][:3] == ["active", "2020-01-01", "2020-02-01"]


def test_thousands_of_views_take_less_than_a_second(facts: WrittenFacts) -> None:
    parse_views("[true]")
    many = [NamedEdge(i, f"v{i}", f"v{i + 1}") for i in range(4582)]
    facts.edges = lambda where, limit: many  # type: ignore[method-assign]
    start = time.process_time()
    outages = lower_views(parse_views("without each edge"), SCHEMA, facts)
    text = "expanding windows over ts from '2020-01-01' until '2021-01-01' width 3 hours"
    windows = lower_views(parse_views(text), SCHEMA, facts)
    assert (len(outages.views), len(windows.views)) == (4582, 2928)
    assert time.process_time() - start < 3


def test_dates_stand_in_ranges_and_conditions_as_they_are(views: Views) -> None:
    quoted = "for d in date '2025-01-30'..date '2025-02-02' [{d}: day >= d and day < d + 1 day]"
    bare = "for d in 2025-01-30..2025-02-02 [{d}: day >= d and day < d + 1 day]"
    assert views(bare) == views(quoted)
    assert list(views(bare)) == ["2025-01-30", "2025-01-31", "2025-02-01", "2025-02-02"]
    months = "for d in 2025-01-01..2025-12-31 step 1 month [{d}: ts >= d and ts < d + 1 month]"
    assert len(views(months)) == 12
    assert views("[a: ts >= 2025-01-01T10:00Z and day in (2025-01-02, 2025-1-3)]") == {
        "a": "ts >= timestamp '2025-01-01T10:00:00Z' and day in (date '2025-01-02', "
        "date '2025-01-03')"
    }
    assert views("tumbling windows over ts from 2025-01-01 until 2025-01-03 width 1d") == views(
        "tumbling windows over ts from '2025-01-01' until '2025-01-03' width 1 day"
    )
    assert views("[2025-01-30: year = 1]") == {"2025-01-30": "year = 1"}


def test_a_date_that_is_none_is_told(views: Views) -> None:
    with pytest.raises(LanguageError, match=r"2025-02-30 is not a date(?s:.)*2020-01-31"):
        views("for d in 2025-02-01..2025-02-30 [{d}: day = d]")
