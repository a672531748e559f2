"""Words that Tab may complete: the keywords of GVDL, and what the catalog knows by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from graphtide.cli.help_texts import TOPICS
from graphtide.model.errors import GraphtideError

if TYPE_CHECKING:
    from graphtide.api.session import Session

COMMANDS = ("exit", "help", "quit")
DELIMITERS = " \t\n;,()[]{}=<>!'"
_TERMINAL = re.compile(r"^_?[A-Z_]+\.\d: /(?:\(\?:)?([a-z_]{2,}(?:\|[a-z_]+)*)", re.MULTILINE)
_PLAIN = re.compile(r"\w+(?:[-.]\w+)*")
_BEFORE_GRAPH = re.compile(r"\b(?:on|use\s+graph|(?:show|delete)\s+graph)\s+\S*$", re.IGNORECASE)
_BEFORE_RUN = re.compile(r"\b(?:show|delete)\s+run\s+\S*$", re.IGNORECASE)
_BEFORE_STORED = re.compile(
    r"\b(?:show|delete|refresh|for|on)\s+(?:view|collection|cube)\s+\S*$|^\s*run\b.*\bon\s+\S*$",
    re.IGNORECASE | re.DOTALL,
)


def candidates(line: str, word: str, session: Session) -> list[str]:
    """What may stand where the word at the end of the line stands, sorted."""
    if re.match(r"\s*help\s+\S*$", line):
        known: Sequence[str] = list(TOPICS)
    elif _BEFORE_RUN.search(line):
        known = _names(session.runs)
    elif _BEFORE_STORED.search(line):
        known = _names(session.catalog.collections)
    elif _BEFORE_GRAPH.search(line):
        known = _names(session.graphs) + _names(session.views)
    else:
        stored = _names(session.graphs) + _names(session.catalog.collections)
        first = COMMANDS if line.strip() == word.strip() else ()
        known = [*keywords(), *first, *stored, *_computations(line)]
    return sorted({item for item in known if item.lower().startswith(word.lower())})


@cache
def keywords() -> frozenset[str]:
    """The keywords as the grammar spells them, and the names of the two ends of an edge."""
    grammar = files("graphtide.lang.gvdl").joinpath("grammar.lark").read_text(encoding="utf-8")
    spelled = _TERMINAL.findall(grammar)
    return frozenset(word for words in spelled for word in words.split("|")) | {"src", "dst"}


def _computations(line: str) -> list[str]:
    """The names of computations, where one may stand."""
    if not re.match(r"\s*(?:explain\s+)?run\s+(?:\w+\s+)*\S*$", line, re.IGNORECASE):
        return []
    from graphtide.run.statements.computations import PAIRS, library

    return [*library(), *PAIRS]


def _names(list_them: Callable[[], list[str]]) -> list[str]:
    """Names as they are written in GVDL: those that are not plain words in backticks."""
    try:
        return [name if _PLAIN.fullmatch(name) else f"`{name}`" for name in list_them()]
    except (GraphtideError, OSError):
        return []
