"""Walk classes with mistakes: each is read, or refused at its place."""

from __future__ import annotations

import re
import warnings
from itertools import pairwise

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from graphtide.model.errors import GraphtideError, LanguageError
from tests.examples import examples
from tests.property.test_walk_meaning import HEAD, TAIL, WALKS
from tests.unit.programs.sources import define

_PIECE = re.compile(r"\w+|\s+|\S")
_WORD = re.compile(r"\w+|[^\w\s]")
WORDS = sorted({word for walk in WALKS for word in _WORD.findall(walk)} | {"self", "z", "None"})


@st.composite
def mistaken(draw: st.DrawFn) -> str:
    """A walk in which a few words are others."""
    found = _PIECE.findall(draw(st.sampled_from(WALKS)))
    places = [at for at, piece in enumerate(found) if not piece.isspace()]
    for _ in range(draw(st.integers(1, 3))):
        found[draw(st.sampled_from(places))] = draw(st.sampled_from(WORDS))
    return HEAD + "".join(found) + TAIL


@given(mistaken())
@settings(max_examples=examples(200), deadline=None, suppress_health_check=list(HealthCheck))
def test_a_mistake_is_shown_at_its_place(text: str) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "walked", "exec")
    except SyntaxError:
        assume(False)
    error = refused(text)
    if isinstance(error, LanguageError):
        assert re.match(r"<program \d+>, line \d+, column \d+\n", error.where or ""), text


def refused(text: str) -> GraphtideError | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = define(text, pairwise=pairwise)["Walked"]
        program.explain()
        program(source=1, among=[2])
    except GraphtideError as error:
        return error
    return None
