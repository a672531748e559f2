"""Whatever is typed, the answer is a tree, views, or an error of ours: never a traceback."""

from __future__ import annotations

import contextlib
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from graphtide.lang.gvdl.lower import lower_view, lower_views
from graphtide.lang.gvdl.parse import parse_script
from graphtide.lang.gvdl.statements import CreateCollection, CreateView
from graphtide.model.errors import LanguageError, LimitError
from tests.examples import examples
from tests.property.strategies import SCHEMA

TEXTS = [
    "create view v on G edges where src.state = 'CA' and year between 1 and 5 or not (ok is null)",
    "create view collection c within ok for y in 2000..2010 step 5 [a-{y}: year <= y - 1]",
    "create view collection c sliding windows over ts from '2020-01-01' until '2020-01-09' "
    "width 2 days step 1 day timezone 'Europe/Berlin' drop partial named '{start}'",
    "create view collection c without 2 of ([a: year = 1], [b: src.active or dst.active], "
    "for i in 1..3 [c{i}: weight < i]) named 'no {names}'",
    "create view collection c tumbling windows over day from '2020-01-01' until '2021-01-01' "
    "width 1 month cross ([x: kind like 'a%'], [`y z`: kind in ('a', 'b')]) manually_ordered",
    "load graph G with vertices from 'v' and edges from 'e' separator ',' on bad rows refuse;",
    "run adaptive upto 5 comp_x 1.5 diff_x 1.0 limit 5 algo avg computation x(a=[(1,2)]) on c;",
]
PIECES = [*"'\"`[](){}<>=!,;:.-+*/\\$ \n", "--", "/*", "*/", "..", "and", "is", "null", "not", "y"]
PIECES += [
    "year",
    "src.",
    "date '",
    "1",
    "0",
    "99999999999999999999",
    "1e400",
    "{q}",
    "months",
    "é",
]


class NoData:
    """A graph without edges."""

    def bounds(self, *_: Any) -> None:
        return None

    def edges(self, *_: Any) -> list[Any]:
        return []

    vertices = edges


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """A good statement with a few pieces taken out, put in or doubled."""
    text = draw(st.sampled_from(TEXTS))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 4)))
        text = text[:start] + draw(st.sampled_from(["", *PIECES])) + text[end:]
    return text


@settings(deadline=None, max_examples=examples(200))
@given(damaged() | st.text(max_size=20))
@example("create view collection c tumbling windows over day until '9999-12-31' width 9 years")
@example("create view collection c for d in date '9999-12-01'..date '9999-12-31' [{d}: day = d]")
@example("create view collection c for d in date '9999-12-31'..date '9999-12-31' [day = d + 1 day]")
@example("create view collection c for x in 1..9e307 step 1e307 [{x}: weight < x]")
@example("create view collection c for x in 0.5..1 [{x}: weight < x + 99999999999999999999999]")
@example("create view v where ts = timestamp '0001-01-01 00:00:00+14:00'")
@example("create view v where ts = timestamp '9999-12-31 23:59:59-14:00'")
@example("create view v where ts = timestamp '2020-01-01 00:00:00+99:00'")
def test_no_text_gets_past_our_errors(text: str) -> None:
    with contextlib.suppress(LanguageError, LimitError):
        for statement in parse_script(text):
            if isinstance(statement, CreateView):
                lower_view(statement, SCHEMA)
            if isinstance(statement, CreateCollection):
                lower_views(statement, SCHEMA, NoData())
