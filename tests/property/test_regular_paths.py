"""Regular paths: what is written is read again, and the automaton takes the words it should."""

from __future__ import annotations

import itertools
import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from graphtide.lang.paths import parse_path, unparse_path
from graphtide.plan.regular_paths import Automaton, RegularPath, Step, automaton_of
from tests.examples import examples
from tests.property.path_trees import LABELS, oracle_node, paths

# Every edge is a character each way: of a, b, c, of a label that no path names, and of none.
LETTERS = {
    (label, back): "aAbBcCxXnN"[at]
    for at, (label, back) in enumerate(itertools.product((*LABELS, "other", None), (False, True)))
}


def pattern(node: Any, back: bool) -> str:
    """The same path for Python's own expressions; inverses swap the cases and turn sequences."""
    kind = node[0]
    if kind == "inverse":
        return pattern(node[1], not back)
    if kind == "step":
        return LETTERS[node[1], back]
    if kind == "except":
        taken = [*_left(node[1], back), *_left(node[2], not back)]
        return f"[{''.join(taken)}]"
    if kind == "repeat":
        times = f"{{{node[2]},{'' if node[3] is None else node[3]}}}"
        return f"(?:{pattern(node[1], back)}){times}"
    parts = [pattern(part, back) for part in node[1]]
    if kind == "alternative":
        return f"(?:{'|'.join(parts)})"
    return f"(?:{''.join(reversed(parts) if back else parts)})"


def _left(labels: Any, back: bool) -> list[str]:
    if labels is None:
        return []
    return [
        letter
        for (label, way), letter in LETTERS.items()
        if way == back and (not labels or (label is not None and label not in labels))
    ]


def accepts(automaton: Automaton, word: list[tuple[Any, bool]]) -> bool:
    state = 0
    for label, back in word:
        state = automaton.steps[state][automaton.letters.of(label, back=back)]
        if state < 0:
            return False
    return state in automaton.accepting


words = st.lists(st.sampled_from(list(LETTERS)), max_size=7)


@settings(max_examples=examples(200), deadline=None)
@given(paths)
def test_a_path_is_read_as_it_was_written(path: RegularPath) -> None:
    assert parse_path(unparse_path(path)) == path


@settings(max_examples=examples(60), deadline=None)
@given(st.text(st.characters(codec="utf-8", exclude_characters="\n"), min_size=1))
def test_any_text_can_be_a_label(label: str) -> None:
    assert parse_path(unparse_path(Step(label))) == Step(label)


@settings(max_examples=examples(300), deadline=None)
@given(paths, st.lists(words, min_size=1, max_size=30))
def test_the_automaton_takes_the_words_of_the_path(
    path: RegularPath, several: list[list[tuple[Any, bool]]]
) -> None:
    automaton, expression = automaton_of(path), pattern(oracle_node(path), False)
    for word in several:
        text = "".join(LETTERS[letter] for letter in word)
        assert accepts(automaton, word) == (re.fullmatch(expression, text) is not None), text


@settings(max_examples=examples(150), deadline=None)
@given(paths)
def test_no_smaller_automaton_would_do(path: RegularPath) -> None:
    """All states are reached, and words tell any two apart, also from the one without a way on."""
    automaton = automaton_of(path)
    states = range(automaton.states)
    reached = {0} | {to for row in automaton.steps for to in row if to >= 0}
    assert reached == set(states)
    apart = {
        (one, other)
        for one, other in itertools.permutations((*states, -1), 2)
        if (one in automaton.accepting) != (other in automaton.accepting)
    }
    rows = [*automaton.steps, (-1,) * automaton.letters.count]
    while True:
        more = {
            (one, other)
            for one, other in itertools.permutations((*states, -1), 2)
            if (one, other) not in apart
            and any(pair in apart for pair in zip(rows[one], rows[other], strict=True))
        }
        if not more:
            break
        apart |= more
    told = {(one, other) for one, other in itertools.permutations((*states, -1), 2)}
    empty = not automaton.accepting
    assert apart == told or (empty and automaton.states == 1)
