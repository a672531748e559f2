"""Text to tree. The grammar is `grammar.lark`; `mistakes` says what went wrong."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

from graphtide.lang.datalog.build import Builder
from graphtide.lang.datalog.mistakes import explain_failure
from graphtide.lang.datalog.tree import Atom, ProgramText
from graphtide.lang.diagnostics import Source
from graphtide.lang.grammars import Callbacks, Reader, parser_of
from graphtide.model.errors import InputError


def parse_datalog(text: str, name: str | None = None) -> ProgramText:
    """What a text says; `name` is that of its file. LanguageError where it is no program."""
    return cast(ProgramText, _parsed(text, name, "program"))


def parse_goal(text: str) -> Atom:
    """One atom, as a query asks it: `?- tc("david", x).`, with or without the signs around it."""
    return cast(Atom, _parsed(text, None, "only_goal"))


def _parsed(text: str, name: str | None, start: str) -> Any:
    if not isinstance(text, str):
        raise InputError(f"a Datalog program cannot be {text!r}", hint="give its text")
    return _reader().read(Source(text.replace("\r\n", "\n"), name), start)


@cache
def _reader() -> Reader:
    builder, starts = Builder(), ["program", "only_goal"]
    parser = parser_of("datalog", start=starts, transformer=Callbacks(builder))
    return Reader(parser, builder, explain_failure)
