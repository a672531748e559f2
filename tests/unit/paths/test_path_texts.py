"""Regular paths as texts: both spellings, what is refused, and how that is said."""

from __future__ import annotations

import pytest

from graphtide.lang.paths import parse_path, unparse_path
from graphtide.model.errors import GraphtideError, InputError, LanguageError, LimitError
from graphtide.plan.regular_paths import (
    MOST_STATES,
    Except,
    Repeat,
    Sequence,
    Step,
    automaton_of,
    labels_of,
)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("(a)-[:KNOWS]->(b)", "KNOWS"),
        ("(a)-[:KNOWS*1..3]->(b)", "KNOWS{1,3}"),
        ("(a)-[:KNOWS*..3]->(b)", "KNOWS{1,3}"),
        ("(a)-[:KNOWS*]->(b)", "KNOWS+"),
        ("(a)-[:KNOWS*0..]->(b)", "KNOWS*"),
        ("(a)-[:KNOWS*1]->(b)", "KNOWS"),
        ("()<-[:KNOWS]-()", "^KNOWS"),
        ("()<-[:KNOWS*]-()", "(^KNOWS)+"),
        ("(a)-[:A|B*]->(b)", "(A|B)+"),
        ("(a)-[:A|:B]->(b)", "A|B"),
        ("(a)-[:`works for`]->(b)", "'works for'"),
        ("(a)-[:A]-(b)", "A|^A"),
        ("(a)<-[:A]->(b)", "A|^A"),
        ("(a)-[:A*0..]-(b)", "(A|^A)*"),
        ("(a)-->(b)", "!()"),
        ("(a)<--(b)", "^!()"),
        ("(a)--(b)", "!()|^!()"),
        ("( a ) - [ :A ] - > ( b )", "A"),
        ("(a)-[:A]->()<-[:B*]-(c)", "A/(^B)+"),
    ],
)
def test_patterns_and_paths_are_one_tree(pattern: str, path: str) -> None:
    assert parse_path(pattern) == parse_path(path)
    assert unparse_path(parse_path(pattern)) == path


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("(a)", "a"),
        ("((a|b))/c", "(a|b)/c"),
        ("^a*", "^a*"),
        ("(^a)*", "(^a)*"),
        ("a{0,1}", "a?"),
        ("a{,2}", "a{0,2}"),
        ("a{1,}", "a+"),
        ("a{3,3}", "a{3}"),
        ("!(a)", "!a"),
        ("!(a|a|^b)", "!(a|^b)"),
        ("foaf:knows", "'foaf:knows'"),
        ("<http://example.org/knows>", "'http://example.org/knows'"),
        ("'it''s'", "'it''s'"),
        (" 7 / -3 * ", "7/-3*"),
    ],
)
def test_paths_are_written_in_one_way(text: str, written: str) -> None:
    assert unparse_path(parse_path(text)) == written


@pytest.mark.parametrize(
    ("text", "what", "column", "hint"),
    [
        ("", "there is nothing to read", 1, "knows/likes*"),
        ("a//b", "'/' is not expected here", 3, "a label"),
        ("(a", "the text ends too early", 3, "`)`"),
        ("a*?", "one repetition cannot stand behind another", 3, "(a+)*"),
        ("a{3,2}", "from 3 to 2 times is never", 5, "smaller"),
        ("'a", "this label is not closed on its line", 1, "end it with '"),
        ('"a"', "a label takes single quotes here", 1, "'works for'"),
        ("a b", "'b' is not expected here", 3, "`/`"),
        ("(a)-[:A*2..3]->(b)", "at least 2 relationships", 8, "as walks: `A{2,3}`"),
        ("(a)-[:A*2]->(b)", "at least 2 relationships", 8, "as walks: `A{2}`"),
        ("(a)-[:A*]-(b)", "back along the same relationship", 8, "as walks: `(A|^A)+`"),
        ("(a)-[:A]->()-[:A]->(b)", "could be the same one", 13, "as walks: `A/A`"),
        ("(a)-->()-[:A]->(b)", "could be the same one", 9, "as walks: `!()/A`"),
        ("(a:P)-[:A]->(b)", "says nothing of the vertices", 4, "a view"),
        ("(a {age: 3})-[:A]->(b)", "says nothing of the vertices", 4, "a view"),
        ("(a)-[:A {x: 1}]->(b)", "none of its properties", 9, "a view"),
        ("(a)-[r:A]->(b)", "cannot be named 'r'", 6, "leave the name out"),
        ("p = (a)-[:A]->(b)", "cannot be named 'p'", 1, "gt.queries.Path"),
        ("(a)-[:A]->(a)", "'a' stands for one vertex in two places", 12, "Regular"),
        ("(a)-[:A*3..1]->(b)", "from 3 to 1 relationships is never", 12, "smaller"),
        ("(a)-[:A]->+(b)", "a quantified pattern finds trails", 11, "knows{1,3}"),
        ("(a) ((x)-[:A]->(y)){1,3} (b)", "a quantified pattern finds trails", 5, "knows{1,3}"),
        ("MATCH (a)-[:A]->(b)", "a query takes the pattern alone", 7, "leave `match`"),
        ("shortestPath((a)-[:A*]->(b))", "finds the shortest walk anyway", 13, "hops"),
        ("(a)-[:A]->", "the text ends too early", 11, "`(`"),
    ],
)
def test_mistakes_are_told_with_their_place(text: str, what: str, column: int, hint: str) -> None:
    with pytest.raises(LanguageError) as caught:
        parse_path(text)
    error = caught.value
    assert what in error.what
    assert f"line 1, column {column}\n" in str(error.where)
    assert "^" in str(error.where)
    assert hint in str(error.hint)


def test_the_place_is_told_by_line() -> None:
    with pytest.raises(LanguageError) as caught:
        parse_path("a/\nb/)")
    assert "line 2, column 3" in str(caught.value.where)


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(InputError, match="a path cannot be 3"):
        parse_path(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["(a{0}){1000000000}", "(a{0}/a{0}){0,99999999}", "(a{0}){9,}"])
def test_nothing_repeated_is_nothing(text: str) -> None:
    """However often: it is written out once."""
    assert automaton_of(parse_path(text)) == automaton_of(parse_path("a{0}"))


@pytest.mark.parametrize(
    "text",
    [
        "a{99999}",
        "(a{200}){200}",
        f"a{{{'9' * 400}}}",
        "(a/b){1000000}",
        "a{0,19999}",
        "(a?){3000}",
    ],
)
def test_paths_that_grow_too_large_are_refused(text: str) -> None:
    with pytest.raises(LimitError, match=r"steps.* with its repetitions written out"):
        automaton_of(parse_path(text))


def test_automata_that_grow_too_large_are_refused() -> None:
    """The label so many steps before the end: every subset of the last steps is a state."""
    with pytest.raises(LimitError, match=f"{MOST_STATES:,} states"):
        automaton_of(parse_path("(a|b)*/a/(a|b){20}"))


@pytest.mark.parametrize(
    ("text", "states"),
    [("a*", 1), ("a/b*", 2), ("a/b/c/d/e", 6), ("(a|b)*", 1), ("!()*", 1), ("a{2,4}", 5)],
)
def test_automata_are_as_small_as_they_can_be(text: str, states: int) -> None:
    assert automaton_of(parse_path(text)).states == states


def test_trees_are_checked_when_they_are_made() -> None:
    for make in (
        lambda: Sequence((Step("a"),)),
        lambda: Repeat(Step("a"), 2, 1),
        lambda: Except((), ("a",)),
        lambda: Except(None),
    ):
        with pytest.raises(GraphtideError):
            make()


def test_the_labels_of_a_path_are_known() -> None:
    assert labels_of(parse_path("^a/(b|!(c|^d))*/7")) == {"a", "b", "c", "d", 7}
