"""Text to tree. The grammar is `grammar.lark`; `mistakes` says what went wrong."""

from __future__ import annotations

import threading
from functools import cache

from lark import Lark, UnexpectedInput

from graphtide.lang.diagnostics import Source, Span, language_error
from graphtide.lang.grammars import parser_of
from graphtide.lang.nga.build import build_program
from graphtide.lang.nga.layout import Layout
from graphtide.lang.nga.mistakes import explain_failure
from graphtide.lang.nga.tree import ProgramText

# The layout holds the text that is being read.
_READING = threading.Lock()


def parse_program(text: str, name: str | None = None) -> ProgramText:
    """What a text says; `name` is that of its file. LanguageError where it says nothing."""
    source = Source(text.replace("\r\n", "\n"), name)
    if not source.text.strip():
        raise language_error(
            "there is nothing to read",
            Span(source, 0, 0),
            "a program is `Vertex (...)`, `Traverse (u): ...` and `Update (u): ...`",
        )
    parser, layout = _parser()
    with _READING:
        layout.source = source
        try:
            tree = parser.parse(source.text)
        except UnexpectedInput as failure:
            raise explain_failure(failure, source) from None
    return build_program(tree, source)


@cache
def _parser() -> tuple[Lark, Layout]:
    layout = Layout()
    return parser_of("nga", start="program", postlex=layout, propagate_positions=True), layout
