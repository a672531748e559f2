"""Blocks by indentation: where lines begin deeper behind a head, and where they come back.

A head is a line that begins with For, If, Else or the name of a function. Lines that go on deeper
behind any other line continue it, and within parentheses and braces indentation means nothing, so
that programs in braces are laid out as one likes. Indentation is counted in characters; a line
that mixes tabs and spaces is refused.

The lexer hands on every end of a line, so that it reads the first word of the next one only after
the parser knows whether a block ended there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lark import Token

from graphtide.lang.diagnostics import Source, Span, language_error

_HEADS = ("FUNCTION", "_FOR", "_IF", "_ELSE")
_OPENS = ("_OPEN", "_BRACKET", "_BRACE")
_CLOSES = ("_CLOSE", "_BRACKET_END", "_BRACE_END")
_INDENT = re.compile(r"[ \t]*")
_BLANK = re.compile(r"[ \t\f\r]*(?://[^\n]*|/\*(?:[^*\n]|\*(?!/))*\*/[ \t\r]*)?(?:\n|\Z)")


class Layout:
    """What the parser asks for tokens behind the lexer; one text at a time."""

    always_accept = ("_NEWLINE",)

    def __init__(self) -> None:
        self.source = Source("")

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        """The tokens of a text, with those that open and close blocks in place of its lines."""
        levels, depth = [self._first_column()], 0
        head, begins, token = False, True, Token("_DEDENT", "")
        for token in stream:
            if token.type != "_NEWLINE":
                head = token.type in _HEADS if begins else head
                begins = False
                depth += (token.type in _OPENS) - (token.type in _CLOSES)
                yield token
            elif depth == 0 and not _BLANK.match(self.source.text, token.end_pos or 0):
                yield from self._next_line(token, levels, head and not begins)
                begins = True
        for _ in levels[1:]:
            yield Token.new_borrow_pos("_DEDENT", "", token)

    def _next_line(self, newline: Token, levels: list[int], head: bool) -> Iterator[Token]:
        """What the line behind a newline opens and closes."""
        start = newline.end_pos or 0
        indent = self._indent(start)
        column, place = len(indent), start + len(indent)
        if head and column > levels[-1] and self.source.text[place] != "{":
            levels.append(column)
            yield Token.new_borrow_pos("_INDENT", "", newline)
        closed = False
        while column < levels[-1] and len(levels) > 1:
            levels.pop()
            closed = True
            yield Token.new_borrow_pos("_DEDENT", "", newline)
        before = self.source.text[:start].rstrip()
        if column > levels[-1] and (closed or before.endswith((";", "}"))):
            raise language_error(
                "this line stands deeper than those of its block",
                Span(self.source, place, place + 1),
                "indent what stands in one block alike; For, If, Else and functions open blocks",
            )

    def _first_column(self) -> int:
        for line in self.source.text.split("\n"):
            if line.strip():
                return len(line) - len(line.lstrip())
        return 0

    def _indent(self, start: int) -> str:
        matched = _INDENT.match(self.source.text, start)
        indent = matched.group() if matched else ""
        if " " in indent and "\t" in indent:
            raise language_error(
                "tabs and spaces are mixed in front of this line",
                Span(self.source, start, start + len(indent)),
                "indent with spaces alone, or put blocks in braces",
            )
        return indent
