"""Text to tree. The grammar is `grammar.lark`; `mistakes` says what went wrong."""

from __future__ import annotations

import threading
from functools import cache
from typing import Any, cast

from lark import Lark, UnexpectedInput
from lark.exceptions import VisitError

from graphtide.lang.datalog.build import Builder
from graphtide.lang.datalog.mistakes import explain_failure
from graphtide.lang.datalog.tree import Atom, ProgramText
from graphtide.lang.diagnostics import Source
from graphtide.lang.grammars import Callbacks, parser_of
from graphtide.model.errors import GraphtideError, InputError

# One builder serves all texts and holds the one being read.
_READING = threading.Lock()


def parse_datalog(text: str, name: str | None = None) -> ProgramText:
    """What a text says; `name` is that of its file. LanguageError where it is no program."""
    return cast(ProgramText, _parsed(text, name, "program"))


def parse_goal(text: str) -> Atom:
    """One atom, as a query asks it: `?- tc("david", x).`, with or without the signs around it."""
    return cast(Atom, _parsed(text, None, "only_goal"))


def _parsed(text: str, name: str | None, start: str) -> Any:
    if not isinstance(text, str):
        raise InputError(f"a Datalog program cannot be {text!r}", hint="give its text")
    source = Source(text.replace("\r\n", "\n"), name)
    parser, builder = _parser()
    with _READING:
        builder.source = source
        try:
            return parser.parse(source.text, start=start)
        except UnexpectedInput as failure:
            raise explain_failure(failure, source) from None
        except VisitError as failure:
            if isinstance(failure.orig_exc, GraphtideError):
                raise failure.orig_exc from None
            raise


@cache
def _parser() -> tuple[Lark, Builder]:
    builder = Builder()
    starts = ["program", "only_goal"]
    return parser_of("datalog", start=starts, transformer=Callbacks(builder)), builder
