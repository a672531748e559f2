"""The words that the editor of the page knows are those of the grammar and of the library."""

from __future__ import annotations

import re
from importlib.resources import files

from graphtide.run.statements.computations import computations_table

SCRIPT = (files("graphtide.web") / "static" / "parts" / "gvdl_words.js").read_text()
GRAMMAR = (files("graphtide.lang.gvdl") / "grammar.lark").read_text()


def words_of_grammar() -> set[str]:
    """The words of all terminals that are keywords; units of time are none."""
    words: set[str] = set()
    for pattern in re.findall(r"^(?!UNIT\b)[A-Z_]+\.\d: /(.*)/i$", GRAMMAR, re.MULTILINE):
        if r"\d" not in pattern:
            words |= _spelled(re.sub(r"\(\?[!=].*$", "", pattern))
    return words


def _spelled(pattern: str) -> set[str]:
    """All words that a pattern of alternatives matches, apart where white space divides them."""
    pattern = pattern.replace(r"\s+", " ").replace("[12]", "(?:1|2)")
    inner = re.search(r"\(\?:([^()]*)\)(\??)", pattern)
    if inner is None:
        return {word for one in pattern.split("|") for word in one.split() if len(word) > 1}
    choices = [*inner[1].split("|"), *([""] if inner[2] else [])]
    if "|" in pattern[: inner.start()] + pattern[inner.end() :]:
        parts = _alternatives(pattern)
        if len(parts) > 1:
            return set().union(*map(_spelled, parts))
    before, after = pattern[: inner.start()], pattern[inner.end() :]
    return set().union(*(_spelled(before + choice + after) for choice in choices))


def _alternatives(pattern: str) -> list[str]:
    """The alternatives of a pattern that stand in no group."""
    parts, depth = [""], 0
    for sign in pattern:
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if sign == "|" and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return parts


def test_keywords_are_those_of_the_grammar() -> None:
    """Neither more nor fewer."""
    listed = re.search(r"KEYWORDS = new Set\(\s*`([^`]*)`", SCRIPT)
    assert listed is not None
    assert set(listed[1].split()) == words_of_grammar()


def test_computations_are_those_of_the_library() -> None:
    """By the names that `show computations` gives them."""
    listed = re.findall(r'^  \["(\w+)", "[^"]*"\],$', SCRIPT, re.MULTILINE)
    assert sorted(listed) == sorted(computations_table().column("computation").to_pylist())
