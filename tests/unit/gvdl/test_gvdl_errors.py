"""Mistakes: each error says what, where and what to do."""

from __future__ import annotations

import pytest

from graphtide.lang.gvdl.lower import lower_views
from graphtide.lang.gvdl.parse import parse_script, parse_statement, parse_views
from graphtide.lang.gvdl.tree import And, Compare, Literal, PropertyName
from graphtide.model.errors import InputError, LanguageError, LimitError
from graphtide.plan.predicates import Operator
from tests.unit.gvdl.conftest import SCHEMA, Lower, WrittenFacts


def test_an_error_shows_line_column_caret_and_hint() -> None:
    with pytest.raises(LanguageError) as caught:
        parse_script("show graphs;\ncreate view v\n  wehre year > 5;", name="calls.gvdl")
    assert str(caught.value) == (
        "'wehre' is not expected here\n"
        "  at: calls.gvdl, line 3, column 3\n"
        "    3 |   wehre year > 5;\n"
        "      |   ^^^^^\n"
        "  try: did you mean `where`?"
    )


def test_a_long_line_is_cut_around_the_caret() -> None:
    text = "create view v where " + " and ".join(f"a{i} = {i}" for i in range(200)) + " adn b = 1"
    with pytest.raises(LanguageError) as caught:
        parse_statement(text)
    line, carets = str(caught.value).splitlines()[2:4]
    assert len(line) < 120
    assert line[carets.index("^") : carets.rindex("^") + 1] == "adn"


@pytest.mark.parametrize(
    ("text", "what", "hint"),
    [
        ("creat view v where a = 1", "'creat'", "`create`"),
        ("create view v where a = 1 adn b = 2", "'adn'", "`and`"),
        ("create view v where a =< 1", "=<", "`<=`"),
        ("create view v where a = 1 && b = 2", "&&", "`and`"),
        ("create view collection c for y in 0..9 [{y}: t < y * 4]", "`*`", "a `step`"),
        ("create view v where a / 2 > 3", "`/`", "`y + 1`"),
        ("create view v where a = 'x", "not closed", "end it with '"),
        ("create view v where `a = 1", "not closed", "end it with `"),
        ("create view v where a = 1 /* so", "not closed", "*/"),
        ("create view v where (a = 1", "ends too early", "`)`"),
        ("create view v on G", "ends too early", "`where`"),
        ("create view v where x.a = 1", "neither end", "`src.`"),
        ("create view v where dst.city = New York", "'York'", "quotes: 'New York'"),
        ("create view v where year > 5 and city = New York;", "'York'", "quotes: 'New York'"),
        ("run bfs(source=LHR) on c", "a text in single quotes", "quotes: 'LHR'"),
        ("run bfs(sources=['a', b]) on c", "a text in single quotes", "quotes: 'b'"),
        ("create view v where a = date '2020-02-30'", "not a date", "2020-01-31"),
        ("create view v where a = timestamp '2020-01-01 25:00'", "not a timestamp", "'Z'"),
        ("create view v where (a = 1) is null", "only a property", "is not true"),
        ("create view v where a = 1e999", "too large", ""),
        ('load graph with edges from "e.csv"', "string is expected", "single quotes"),
        ("load graph G from 'e.csv' destination 'a'", "'destination'", "`dst`"),
        ("load graph G from 'e.csv' src", "ends too early", "a name"),
        ("load graph G from 'e.csv' src a src b", "src is given twice", "leave one"),
        ("set threads 0 and process_id 0", "threads cannot be 0", "from 1 to 10,000"),
        ("set threads 10001", "threads cannot be 10001", "from 1 to 10,000"),
        ("set threads -1 and process_id 0", "'-'", "a number"),
        ("set threads four", "'four'", "a number"),
        ("create view v where year = (2019)", "no parentheses", "`... = 2019`"),
        ("create view v where year = (2019, 2020)", "edge only", "`... in (6, 7)`"),
        ("create view v where src.e = (2019, 2020)", "edge only", "`e = (6, 7)`"),
        ("show view 'a'", "name is expected", "backticks"),
        ("show graphs of mine", "have no name", "`show graph NAME`"),
        ("show computations of mine", "'of'", "`;`"),
        ("create aggregated cube c with vertices", "aggregated cubes", "group by"),
        ("create view v vertices group by a > 3", "in parentheses", "(city, age > 30)"),
        ("create view v vertices group by [a > 3]", "in parentheses", "(city, age > 30)"),
        ("create view v vertices aggregate count()", "not expected", "`*`"),
        ("generate cube c 1 2 3 4 initial 'f'", "random cubes", "for i in"),
        ("window cube c 1 2 3 4 5 initial 'f'", "windows over random", "sliding windows"),
        ("load cube c 1 2 from 'd' with prefix 'p'", "loading a cube", "create view collection"),
        ("load graph with edges type e:(n,n) from 'e'", "types of vertices", "`graphtide load"),
        ("load graph with vertices type n from 'v' and edges from 'e'", "types of", "label"),
        ("show schema", "of that kind", "`show graph NAME`"),
        ("create view collection c where year > 5", "views in brackets", "within"),
        ("create view collection c sliding windows over ts", "no width", "width 7 days"),
        ("create view collection c tumbling windows over ts width 1.5 hours", "whole", "smaller"),
        ("create view collection c [my view-{y}: a = 1]", "spaces", "[`my view-{y}`: ...]"),
        ("create view collection c ['a b': a = 1]", "backticks", "[`a b`: ...]"),
        ("create view v where src.first-name = 'x'", "'-' in it", "`first-name`"),
        ("", "one statement is expected", ""),
        ("show graphs; show views", "not 2", "script"),
    ],
)
def test_mistakes_in_the_text(text: str, what: str, hint: str) -> None:
    with pytest.raises(LanguageError) as caught:
        parse_statement(text)
    assert what in caught.value.what
    assert hint in (caught.value.hint or "")
    assert caught.value.where is not None


@pytest.mark.parametrize(
    ("text", "what", "hint"),
    [
        (
            "load graph G with edges from 'e' and vertices from 'v'",
            "vertices stand before",
            "with vertices",
        ),
        ("load graph G with edges 'e.csv'", "`from` is missing", "from 'FILE'"),
        ("load graph G with vertices from 'v.csv'", "needs edges", "and edges from"),
        ("load graph G from 'e.csv', separator ';'", "no commas", "one after the other"),
        ("load graph G from 'e.csv' replace", "in front", "`load or replace graph"),
        ("load graph G from 'e.csv' columns (a, b)", "by what they are", "`src 'COLUMN'"),
        ("load graph G from 'e.csv' src = 'a'", "no `=`", "src 'COLUMN'"),
        ("load graph G from 'e.csv' delimiter ';'", "'delimiter'", "`separator`"),
        ("load graph 'G' from 'e.csv'", "a name is expected", "backticks"),
        ("create collection c on G [a > 1]", "`create view collection`", "NAME on GRAPH"),
        ("create view v as select * from G", "not a query", "edges where"),
        ("create view on G where a > 1", "the view has no name", "NAME on GRAPH"),
        ("create view collection on G [a > 1]", "the collection has no name", "NAME on GRAPH"),
        ("create view collection c [a > 1] and [a < 2]", "are a list", "commas"),
        ("create view collection c for y in 1-9 [a > y]", "two dots", "2000..2020"),
        ("create view collection c for y in [1, 9] [a > y]", "in parentheses", "(2018, 2019)"),
        ("create view v where a in 5", "in parentheses", "(2018, 2019)"),
        ("create view v where count(a) > 3", "no function 'count'", "`year > 2019`"),
        ("create view v where a ~ 'x'", "`~`", "`like`"),
        ("run wcc", "on what to run", "`run wcc on NAME`"),
        ("run bfs(1) on c", "by name", "source='ann'"),
        ("run bfs(source: 1) on c", "`=` between", "source='ann'"),
        ("run bfs(source=ann) on c", "single quotes", "'ann'"),
        ("run wcc on c save to 'd'", "what is saved", "`save results to"),
        ("show graphs G", "have no name", "`show graph NAME`"),
        ("drop graph G", "'drop'", "`delete`"),
        ("describe G", "'describe'", "`show`"),
        ("set threads = 4", "whole number", "`set threads 4`"),
        ("set threads 2.5", "whole number", "`set threads 4`"),
        ("help", "'help'", "begins with `advance`, `create`"),
    ],
)
def test_habits_of_other_languages(text: str, what: str, hint: str) -> None:
    test_mistakes_in_the_text(text, what, hint)


@pytest.mark.parametrize(
    ("text", "what", "hint", "marked"),
    [
        ("[yaer > 5]", "no property 'yaer'", "did you mean `year`", "yaer"),
        ("[state = 'CA']", "edges have no property", "`src.state` or `dst.state`", "state"),
        ("[dst = 'LHR']", "edges have no property 'dst'", "write `dst.id`", "dst"),
        ("[Source = 'LHR']", "edges have no property", "write `src.id`", "Source"),
        ("[note = hello]", "no property 'hello'", "single quotes: 'hello'", "hello"),
        ("[dst.id = LHR]", "no property 'LHR'", "single quotes: 'LHR'", "LHR"),
        ("[src.state in ('CA', NY)]", "constants only", "single quotes: 'NY'", "NY"),
        ("[year = soon]", "no property 'soon'", "edges have", "soon"),
        ("[src.year = 5]", "vertices have no property", "write `year`", "src.year"),
        ('[src.state = "CA"]', "no property 'CA'", "single quotes: 'CA'", '"CA"'),
        ("[year < '5']", "does not compare with a string", "without quotes", "'5'"),
        ("[note = 5]", "does not compare with a number", "single quotes", "5"),
        ("[src.active = 1]", "does not compare", "true or false", "1"),
        ("[src.active < true]", "no order", "`=` or `<>`", "src.active"),
        ("[year = null]", "null cannot be compared", "is null", "null"),
        ("[null <> year]", "null cannot be compared", "is null", "null"),
        ("[day = '2020-13-01']", "is not one", "2020-01-31", "'2020-13-01'"),
        ("[day > timestamp '2020-01-01 10:00:00']", "does not compare", "date", None),
        ("[year = 99999999999999999999]", "64 bits", "", "99999999999999999999"),
        ("[year = note]", "do not compare", "", "note"),
        ("[day = ts]", "do not compare", "", "ts"),
        ("[year like 'a']", "`like` is for strings", "", "year"),
        (r"[note like 'a\d']", "backslash", "escapes", None),
        ("[note like 5]", "must be a string", "'CA%'", "5"),
        ("[year in (1, y)]", "constants only", "`or`", "y"),
        ("[5 in (5, 6)]", "a property is expected", "first", "5"),
        ("[year]", "not a condition", "compare it", "year"),
        ("['x']", "not a condition", "compare it", "'x'"),
        ("[year < z + 1]", "no loop variable 'z'", "no loop", "z"),
        ("[year < $z]", "no loop variable 'z'", "no loop", "$z"),
        ("[a: year = 1], [a: year = 2]", "two views are called 'a'", "apart", "a"),
        ("for y in 1..3 [b: year = y]", "two views are called 'b'", "{y}", "b"),
        ("for y in 3..1 [b{y}: year = y]", "no values", "negative step", "3..1"),
        ("for y in 1..3 step 0 [b{y}: year = y]", "steps by a number", "", "0"),
        ("for y in 1..'a' [b{y}: year = y]", "a number to a string", "one kind", None),
        ("for y in 'a'..'b' [b{y}: year = 1]", "no range of a string", "list", None),
        (
            "for d in '2025-01-01'..'2025-12-31' [{d}: day = d]",
            "no range",
            "2025-01-01..2025",
            None,
        ),
        ("for s in (CA, NY) [{s}: src.state = s]", "no one value", "quote strings", "CA"),
        (
            "for d in date '2020-01-01'..date '2020-02-01' step 1 hour [{d}: day = d]",
            "dates",
            "",
            None,
        ),
        ("[a{z}: year = 1]", "nothing is called {z}", "", "a{z}"),
        ("for y in 1..2 [a{z}: year = 1]", "nothing is called {z}", "{y}", "a{z}"),
        ("tumbling windows over note width 5", "windows go over", "", "note"),
        ("tumbling windows over year width 1 day", "plain number", "", "1 day"),
        ("tumbling windows over ts width 5", "7 days", "", "5"),
        ("tumbling windows over day width 1 hour", "time of day", "days", "1 hour"),
        ("tumbling windows over year width 0", "more than 0", "", "0"),
        ("tumbling windows over year width 5 step 5", "step by their width", "sliding", "5"),
        ("sliding windows over year width 5", "need a step", "tumbling", None),
        ("tumbling windows over day width 1 day timezone 'UTC'", "no time zone", "leave", None),
        ("tumbling windows over ts width 1 day timezone 'Mars'", "unknown time zone", "UTC", None),
        ("tumbling windows over year from 5 until 5 width 1", "no windows", "exclusive", "5"),
        ("tumbling windows over year from empty width 1", "constant", "", "empty"),
        ("tumbling windows over empty width 1", "no edge has a value", "`from` and `until`", None),
        ("without 3 of ([a: true], [b: true])", "3 of 2", "1 to 2", "without 3"),
        ("without 0 of ([a: true], [b: true])", "0 of 2", "1 to 2", "without 0"),
        ("without 1 of (tumbling windows over year width 9 drop empty)", "empty", "leave", None),
        ("without each vertex where src.state = 'CA'", "no meaning", "`state`", "src.state"),
        ("within yaer > 5 [true]", "no property 'yaer'", "year", "yaer"),
    ],
)
def test_mistakes_in_the_meaning(
    text: str, what: str, hint: str, marked: str | None, lower: Lower
) -> None:
    with pytest.raises(LanguageError) as caught:
        lower(text)
    assert what in caught.value.what
    assert hint in (caught.value.hint or "")
    assert caught.value.where is not None
    if marked is not None:
        line, carets = caught.value.where.splitlines()[1:3]
        assert line[carets.index("^") : carets.rindex("^") + 1] == marked


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("for y in 1..1000000000 [a{y}: year = y]", "1,000,000,000"),
        ("for y in 1..1000 for z in 1..1000 [{y}-{z}: year = y]", "1,000,000"),
        ("without 5 of (for i in 1..100 [c{i}: year = i])", "75,287,520"),
        ("for y in 1..400 [a{y}: year = y] cross for z in 1..400 [b{z}: year = z]", "160,000"),
        ("sliding windows over ts width 1 second step 1 millisecond", "209,690,001"),
        ("for y in 1..500 { for z in 1..y [{y}-{z}: year = z] }", "at least 100,128"),
    ],
)
def test_too_many_views_are_counted_and_not_built(text: str, count: str, lower: Lower) -> None:
    with pytest.raises(LimitError) as caught:
        lower(text)
    assert count in caught.value.what


def test_no_matching_edge_to_remove(facts: WrittenFacts) -> None:
    facts.edges = lambda where, limit: []  # type: ignore[method-assign]
    with pytest.raises(LanguageError, match="no edges to remove"):
        lower_views(parse_views("without each edge where year > 5"), SCHEMA, facts)


def test_deep_nesting_is_an_error_and_long_chains_are_not(lower: Lower) -> None:
    with pytest.raises(LanguageError, match="nested more than"):
        lower("[" + "not " * 5000 + "true]")
    with pytest.raises(LanguageError, match="nested more than"):
        lower("[" + "(year = 1 or " * 3000 + "true" + ")" * 3000 + "]")
    assert len(lower("[" + " or ".join(["year = 1"] * 5000) + "]").views) == 1


def test_trees_are_checked_when_built() -> None:
    with pytest.raises(InputError, match="two or more"):
        And((Compare(Operator.EQ, PropertyName("year"), Literal(1)),))
