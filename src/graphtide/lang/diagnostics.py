"""Texts of programs, and where in them a mistake stands: line, column, the line itself, a caret.

A span remembers its source, so that an error found long after parsing (an unknown property, a view
name used twice) still points at its cause. Trees built by hand have no spans; their errors say what
is wrong and show no place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from graphtide.model.errors import InputError, LanguageError

_SHOWN = 100
_MARGIN = 40
_QUOTED = 100
_LONG_WORD = re.compile(rf"\S{{{_QUOTED},}}")


@dataclass(frozen=True)
class Source:
    """A text that was parsed, and the file it came from if there was one."""

    text: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """The characters from `start` up to `end` of a source."""

    source: Source
    start: int
    end: int

    @property
    def line(self) -> int:
        """The number of the line it starts on, from 1."""
        return self.source.text.count("\n", 0, self.start) + 1

    @property
    def column(self) -> int:
        """The number of the character in its line, from 1."""
        return self.start - self._line_start() + 1

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]

    def _line_start(self) -> int:
        return self.source.text.rfind("\n", 0, self.start) + 1

    def line_text(self) -> str:
        """The whole line it starts on, without its end."""
        start = self._line_start()
        end = self.source.text.find("\n", start)
        return self.source.text[start : None if end < 0 else end].rstrip("\r")


def language_error(what: str, span: Span | None, hint: str | None = None) -> LanguageError:
    """The error for a mistake at a span; without a span it only says what is wrong.

    Words of the text are quoted in full where people can read them, and shortened beyond.
    """
    where = render_span(span) if span else None
    quoted = span.text if span and span.end - span.start > _QUOTED else None
    what, hint = _shortened(what, quoted), _shortened(hint, quoted) if hint else hint
    error = LanguageError(what, where=where, hint=hint)
    error.place = (span.start, span.end) if span else None
    return error


def _shortened(said: str, quoted: str | None) -> str:
    if len(said) <= _QUOTED:
        return said
    if quoted:
        said = said.replace(quoted, _middle_out(quoted))
    return _LONG_WORD.sub(lambda word: _middle_out(word.group()), said)


def _middle_out(text: str) -> str:
    return f"{text[: _MARGIN * 3 // 2]}…{text[-_MARGIN // 2 :]}"


def render_span(span: Span) -> str:
    """`line 2, column 5`, then the line of text with carets under the span.

    A very long line is cut to the part around the carets.
    """
    line, column = span.line, span.column
    text = span.line_text().replace("\t", " ")
    width = max(1, min(span.end - span.start, len(text) - column + 1))
    text, column, width = _cut(text, column, width)
    number = str(line)
    gutter = " " * len(number)
    place = f"line {line}, column {span.column}"
    if span.source.name:
        place = f"{span.source.name}, {place}"
    carets = " " * (column - 1) + "^" * width
    return f"{place}\n    {number} | {text}\n    {gutter} | {carets}"


def _cut(text: str, column: int, width: int) -> tuple[str, int, int]:
    if len(text) <= _SHOWN:
        return text, column, width
    start = max(0, min(column - 1 - _MARGIN, len(text) - _SHOWN))
    shown = text[start : start + _SHOWN]
    before, after = "… " if start else "", " …" if start + _SHOWN < len(text) else ""
    place = column - start
    return before + shown + after, place + len(before), min(width, _SHOWN - place + 1)


def text_of(path: Path, language: str) -> str:
    """What a file of some language says; InputError where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"'{path}' is not text in UTF-8", hint="save it as UTF-8") from None
    except OSError as error:
        raise InputError(
            f"cannot read '{path}': {error.strerror or error}",
            hint=f"name a file of {language}; a relative one is looked for in {Path.cwd()}, "
            "where Graphtide was started",
        ) from None


def is_file_name(text: object, suffix: str) -> bool:
    """Whether a text is the name of a file of programs, and no program."""
    return isinstance(text, str) and text.endswith(suffix) and "\n" not in text
