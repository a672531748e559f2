"""Texts of L_NGA with mistakes: each is read, or refused at its place."""

from __future__ import annotations

import re

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphtide.lang.nga import nga
from graphtide.model.errors import LanguageError
from tests.examples import examples
from tests.unit.nga import listings

TEXTS = (
    listings.PAGE_RANK,
    listings.TRIANGLE_COUNT,
    listings.TRIANGLE_COUNT_IN_BRACES,
    listings.TRIANGLES,
    listings.CLUSTERING,
    *listings.LIBRARY.values(),
    *listings.ACTIVE.values(),
)
_PIECE = re.compile(r"\w+|\s+|\S")
PIECES = sorted(
    {piece for text in TEXTS for piece in _PIECE.findall(text)} | {"//", "/*", '"', "é"}
)


@st.composite
def mistaken(draw: st.DrawFn) -> str:
    """A program in which a few words are missing, doubled, exchanged or others."""
    found = _PIECE.findall(draw(st.sampled_from(TEXTS)))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(found) - 1))
        match draw(st.sampled_from(["gone", "twice", "other", "swapped", "cut"])):
            case "gone" if len(found) > 1:
                del found[at]
            case "twice":
                found.insert(at, found[at])
            case "other":
                found[at] = draw(st.sampled_from(PIECES))
            case "swapped":
                other = draw(st.integers(0, len(found) - 1))
                found[at], found[other] = found[other], found[at]
            case _:
                found = found[: at + 1]
    return "".join(found)


@given(mistaken())
@settings(max_examples=examples(250), deadline=None, suppress_health_check=list(HealthCheck))
def test_a_mistake_is_shown_at_its_place(text: str) -> None:
    error = refused(text)
    if error is not None:
        assert error.where is not None, text
        assert re.match(r"line \d+, column \d+\n", error.where), text
        assert "self." not in str(error), text
        assert "gt." not in str(error), text


def refused(text: str) -> LanguageError | None:
    try:
        nga(text).explain()
    except LanguageError as error:
        return error
    return None
