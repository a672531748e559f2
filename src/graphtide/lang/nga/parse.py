"""Text to tree. The grammar is `grammar.lark`; `mistakes` says what went wrong."""

from __future__ import annotations

from functools import cache

from graphtide.lang.diagnostics import Source, Span, language_error
from graphtide.lang.grammars import Reader, parser_of
from graphtide.lang.nga.build import build_program
from graphtide.lang.nga.layout import Layout
from graphtide.lang.nga.mistakes import explain_failure
from graphtide.lang.nga.tree import ProgramText


def parse_program(text: str, name: str | None = None) -> ProgramText:
    """What a text says; `name` is that of its file. LanguageError where it says nothing."""
    source = Source(text.replace("\r\n", "\n"), name)
    if not source.text.strip():
        raise language_error(
            "there is nothing to read",
            Span(source, 0, 0),
            "a program is `Vertex (...)`, `Traverse (u): ...` and `Update (u): ...`",
        )
    return build_program(_reader().read(source, "program"), source)


@cache
def _reader() -> Reader:
    layout = Layout()
    parser = parser_of("nga", start="program", postlex=layout, propagate_positions=True)
    return Reader(parser, layout, explain_failure)
