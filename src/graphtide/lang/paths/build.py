"""What the parser meets becomes a tree: one method for each rule of the grammar."""

from __future__ import annotations

from typing import NamedTuple

from lark import Token

from graphtide.lang.diagnostics import Source, Span, language_error
from graphtide.model.errors import LanguageError
from graphtide.plan import regular_paths as paths


class _Excluded(NamedTuple):
    label: paths.Label
    back: bool


class PathBuilder:
    """Property paths, and what they share with patterns; `source` is the text being read."""

    source: Source

    def span(self, token: Token) -> Span:
        """Where a token stands."""
        start = token.start_pos or 0
        return Span(self.source, start, start + len(token))

    def refusal(self, what: str, token: Token, hint: str) -> LanguageError:
        """The error for what is written at a token."""
        return language_error(what, self.span(token), hint)

    def only_path(self, path: paths.RegularPath) -> paths.RegularPath:
        """A whole text."""
        return path

    def alternative(self, *parts: paths.RegularPath) -> paths.RegularPath:
        """a|b"""
        return paths.Alternative(parts)

    def sequence(self, *parts: paths.RegularPath) -> paths.RegularPath:
        """a/b"""
        return paths.Sequence(parts)

    def inverse(self, path: paths.RegularPath) -> paths.RegularPath:
        """^a"""
        return paths.Inverse(path)

    def any_number(self, path: paths.RegularPath, _: Token) -> paths.RegularPath:
        """a*"""
        return paths.Repeat(path, 0, None)

    def at_least_once(self, path: paths.RegularPath, _: Token) -> paths.RegularPath:
        """a+"""
        return paths.Repeat(path, 1, None)

    def at_most_once(self, path: paths.RegularPath, _: Token) -> paths.RegularPath:
        """a?"""
        return paths.Repeat(path, 0, 1)

    def exactly(self, path: paths.RegularPath, times: Token) -> paths.RegularPath:
        """a{2}"""
        return paths.Repeat(path, int(times), int(times))

    def at_least(self, path: paths.RegularPath, least: Token, _: Token) -> paths.RegularPath:
        """a{2,}"""
        return paths.Repeat(path, int(least), None)

    def at_most(self, path: paths.RegularPath, _: Token, most: Token) -> paths.RegularPath:
        """a{,3}"""
        return paths.Repeat(path, 0, int(most))

    def between(
        self, path: paths.RegularPath, least: Token, _: Token, most: Token
    ) -> paths.RegularPath:
        """a{2,3}"""
        if int(most) < int(least):
            raise self.refusal(
                f"from {least} to {most} times is never", most, "the smaller number comes first"
            )
        return paths.Repeat(path, int(least), int(most))

    def step(self, label: paths.Label) -> paths.RegularPath:
        """An edge with a label."""
        return paths.Step(label)

    def except_none(self) -> paths.RegularPath:
        """!()"""
        return paths.Except(())

    def except_one(self, excluded: _Excluded) -> paths.RegularPath:
        """!a, !^a"""
        return self.except_some(excluded)

    def except_some(self, *excluded: _Excluded) -> paths.RegularPath:
        """!(a|^b): any edge along its way but a, or any against it but b."""
        along = tuple(dict.fromkeys(item.label for item in excluded if not item.back))
        against = tuple(dict.fromkeys(item.label for item in excluded if item.back))
        return paths.Except(along or None, against or None)

    def along(self, label: paths.Label) -> _Excluded:
        """A label that is excluded along the way of edges."""
        return _Excluded(label, back=False)

    def against(self, label: paths.Label) -> _Excluded:
        """A label that is excluded against it."""
        return _Excluded(label, back=True)

    def label(self, token: Token) -> paths.Label:
        """A name, a number or a text."""
        match token.type:
            case "SIGNED" | "INT":
                return int(token)
            case "STRING":
                return token[1:-1].replace("''", "'")
            case "IRI":
                return str(token[1:-1])
            case _:
                return str(token)
