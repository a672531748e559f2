"""Where statements end, checked against the parser: cut text means what the whole text means."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtide.cli.shell import is_blank, split_statements
from graphtide.lang.gvdl.parse import parse_script
from tests.examples import examples

STATEMENTS = [
    "show graphs",
    "create view v on g edges where a = 'x;y' and b = 'it''s; so'",
    "create view v on g\n edges where a = 'back\\';slash' and `odd;name` = 1",
    'create view "a;b" on g edges where year > 1 -- not the end; yet\n',
    "/* not; this */ show views /* ** ; */",
    "delete graph g --;",
]


@settings(deadline=None, max_examples=examples(60))
@given(
    picked=st.lists(st.sampled_from(STATEMENTS), max_size=5),
    blank=st.sampled_from(["", " ", "\n", " -- said;\n", "/* ; */"]),
)
def test_line_by_line_gives_the_statements_of_the_whole(picked: list[str], blank: str) -> None:
    script = "".join(f"{blank}{text}\n;{blank}" for text in picked)
    found, pending = [], ""
    for line in script.splitlines():
        complete, pending = split_statements(pending + line + "\n")
        found += parse_script(complete)
    assert is_blank(pending)
    assert found == list(parse_script(script))


@pytest.mark.parametrize(
    ("text", "complete", "rest"),
    [
        ("show graphs", "", "show graphs"),
        ("show graphs; show", "show graphs;", " show"),
        ("a = ';'", "", "a = ';'"),
        ("/* ; still open", "", "/* ; still open"),
        ("a = 'forgotten;\nshow graphs;", "a = 'forgotten;\nshow graphs;", ""),
    ],
)
def test_ends(text: str, complete: str, rest: str) -> None:
    assert split_statements(text) == (complete, rest)


@pytest.mark.parametrize("text", ["", " \n", "-- words", "/* a; b */ ;; -- c\n"])
def test_blank(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", ["x", "-- words\nshow", "/* open"])
def test_not_blank(text: str) -> None:
    assert not is_blank(text)
