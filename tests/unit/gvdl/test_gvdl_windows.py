"""Windows, example by example; the definition is in docs/reference/gvdl.md."""

from __future__ import annotations

from collections.abc import Callable

Views = Callable[[str], dict[str, str]]


def ends(predicate: str) -> tuple[str, str]:
    low, high = predicate.split(" and ")
    cut = "timestamp '", "date '"
    for word in cut:
        low, high = low.replace(word, ""), high.replace(word, "")
    return low.split()[-1].strip("'"), high.split()[-1].strip("'")


def test_tumbling_windows_of_numbers_start_at_the_smallest(views: Views) -> None:
    assert views("tumbling windows over year width 4") == {
        "2001": "year >= 2001 and year < 2005",
        "2005": "year >= 2005 and year < 2009",
        "2009": "year >= 2009 and year < 2013",
    }


def test_the_last_window_is_partial_where_it_ends_past_the_end(views: Views) -> None:
    assert list(views("tumbling windows over year width 4 drop partial")) == ["2001", "2005"]
    # 2010 is the largest, so that 2011 is just past it and no window ends later.
    assert list(views("tumbling windows over year width 5 drop partial")) == ["2001", "2006"]
    cut = views("tumbling windows over year from 2000 until 2010 width 4")
    assert list(cut.values())[-1] == "year >= 2008 and year < 2010"


def test_sliding_windows_go_on_while_they_start_before_the_end(views: Views) -> None:
    assert views("sliding windows over year from 0 until 10 width 5 step 4") == {
        "0..5": "year >= 0 and year < 5",
        "4..9": "year >= 4 and year < 9",
        "8..10": "year >= 8 and year < 10",
    }


def test_expanding_windows_go_on_until_the_first_that_reaches_the_end(views: Views) -> None:
    assert views("expanding windows over year from 0 until 10 width 4 step 3") == {
        "until-4": "year >= 0 and year < 4",
        "until-7": "year >= 0 and year < 7",
        "until-10": "year >= 0 and year < 10",
    }
    assert list(views("expanding windows over year from 0 until 10 width 4")) == [
        "until-4",
        "until-8",
        "until-10",
    ]
    assert list(views("expanding windows over year from 0 until 10 width 4 drop partial")) == [
        "until-4",
        "until-8",
    ]


def test_decimal_widths_do_not_drift(views: Views) -> None:
    assert list(views("tumbling windows over weight width 0.1")) == ["0.1", "0.2", "0.3"]


def test_time_windows_start_at_the_unit_of_their_width(views: Views) -> None:
    starts = {
        "second": "2020-01-05T13:45:10",
        "minute": "2020-01-05T13:45:00",
        "hour": "2020-01-05T13:00:00",
        "day": "2020-01-05",
        "week": "2019-12-30",
        "month": "2020-01-01",
        "year": "2020-01-01",
    }
    for unit, start in starts.items():
        text = f"tumbling windows over ts until '2020-01-05 13:45:11' width 1 {unit}"
        assert list(views(text)) == [start]


def test_calendar_steps_are_counted_from_the_start(views: Views) -> None:
    found = views("tumbling windows over day from '2019-01-31' until '2019-05-31' width 1 month")
    assert list(found) == ["2019-01-31", "2019-02-28", "2019-03-31", "2019-04-30"]
    leap = views("tumbling windows over day from '2020-02-29' until '2025-01-01' width 1 year")
    assert list(leap) == ["2020-02-29", "2021-02-28", "2022-02-28", "2023-02-28", "2024-02-29"]


def test_days_follow_the_clocks_and_hours_do_not(views: Views) -> None:
    text = "tumbling windows over ts from '2020-03-28' until '2020-03-31' width {} {}"
    days = views(text.format("1 day", "timezone 'Europe/Berlin'"))
    assert list(days) == ["2020-03-28", "2020-03-29", "2020-03-30"]
    assert [ends(item) for item in days.values()] == [
        ("2020-03-27T23:00:00Z", "2020-03-28T23:00:00Z"),
        ("2020-03-28T23:00:00Z", "2020-03-29T22:00:00Z"),
        ("2020-03-29T22:00:00Z", "2020-03-30T22:00:00Z"),
    ]
    hours = views(text.format("24 hours", "timezone 'Europe/Berlin'"))
    assert list(hours) == ["2020-03-28", "2020-03-29", "2020-03-30T01:00:00"]


def test_a_time_that_does_not_exist_moves_forward_by_the_gap(views: Views) -> None:
    text = "tumbling windows over ts from '2020-03-28 02:30' until '2020-03-31' width 1 day"
    assert list(views(text + " timezone 'Europe/Berlin'")) == [
        "2020-03-28T02:30:00",
        "2020-03-29T03:30:00",
        "2020-03-30T02:30:00",
    ]


def test_a_time_that_happens_twice_is_the_earlier_and_names_stay_apart(views: Views) -> None:
    text = "tumbling windows over ts from '2020-10-25 01:00' until '2020-10-25 04:00' width 1 hour"
    assert list(views(text + " timezone 'Europe/Berlin'")) == [
        "2020-10-25T01:00:00",
        "2020-10-25T02:00:00+02:00",
        "2020-10-25T02:00:00+01:00",
        "2020-10-25T03:00:00",
    ]
    days = "tumbling windows over ts from '2020-10-24 02:30' until '2020-10-27' width 1 day"
    found = views(days + " timezone 'Europe/Berlin'")
    assert ends(list(found.values())[1])[0] == "2020-10-25T00:30:00Z"


def test_mixed_steps_take_months_before_days(views: Views) -> None:
    text = "sliding windows over day from '2020-01-30' until '2020-02-01' width 1 month step 1 day"
    assert list(views(text + " named '{index}: {start} {end}'")) == [
        "1: 2020-01-30 2020-02-01",
        "2: 2020-01-31 2020-02-01",
    ]
    uncut = views(text.replace("until '2020-02-01' ", "") + " named '{start} {end}'")
    assert list(uncut)[:2] == ["2020-01-30 2020-02-29", "2020-01-31 2020-03-01"]


def test_windows_over_endpoints_and_with_loop_variables(views: Views) -> None:
    found = views(
        "for k in 1..2 { tumbling windows over year from k until k + 1 width 1 named 'k{k}' }"
    )
    assert found == {"k1": "year >= 1 and year < 2", "k2": "year >= 2 and year < 3"}
    assert views("tumbling windows over src._vertex from 0 until 2 width 2") == {
        "0": "src._vertex >= 0 and src._vertex < 2"
    }


def test_the_largest_int_has_no_end_past_it(views: Views) -> None:
    text = "tumbling windows over year from 9223372036854775800 width 10 until 9223372036854775807"
    assert list(views(text).values()) == [
        "year >= 9223372036854775800 and year < 9223372036854775807"
    ]


def test_the_end_of_the_calendar_is_an_end(views: Views) -> None:
    found = views("tumbling windows over day from '9998-01-01' until '9999-12-31' width 1 year")
    assert list(found.values())[-1] == "day >= date '9999-01-01' and day < date '9999-12-31'"


def test_widths_have_short_forms(views: Views) -> None:
    for short, long in [("7d", "7 days"), ("W", "1 week"), ("36h", "36 hours"), ("1mo", "1 month")]:
        text = "tumbling windows over ts until '2020-02-05' width "
        assert views(text + short) == views(text + long)
