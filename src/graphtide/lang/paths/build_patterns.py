"""Patterns of Cypher as regular paths, where the two mean the same; refused where they do not.

Cypher finds trails: no relationship twice in one match. A query finds walks, and reports which
vertices they end at. Whoever walks from one vertex to another also has a way without repetition
that is no longer, so that `*`, `*0..n` and `*1..n` along one direction mean the same in both. So do
links after one another that cannot be the same relationship, because their types differ.
Everything else is refused, and the hint has the property path whose walks are counted.
"""

from __future__ import annotations

from typing import NamedTuple

from lark import Token

from graphtide.lang.diagnostics import Span, language_error
from graphtide.lang.paths.build import PathBuilder
from graphtide.lang.paths.unparse import unparse_path
from graphtide.plan.regular_paths import (
    ANY,
    EITHER,
    Alternative,
    Inverse,
    RegularPath,
    Repeat,
    Sequence,
    Step,
)

_TRAILS = "Cypher takes no relationship twice in a match, and a query counts walks, which may"


class _Inside(NamedTuple):
    types: tuple[str, ...]
    length: tuple[int, int | None] | None
    token: Token | None


class _Link(NamedTuple):
    path: RegularPath
    types: tuple[str, ...]
    token: Token
    repeats: bool


class Builder(PathBuilder):
    """Both spellings."""

    def only_pattern(
        self, name: Token | None, equals: Token | None, *parts: Token | _Link | None
    ) -> RegularPath:
        """A whole pattern: nodes, and links between them."""
        if name is not None:
            raise self.refusal(
                f"the path cannot be named '{name}': a query answers with ends, not with paths",
                name,
                "leave the name out; `gt.queries.Path` and `query.path()` tell a path",
            )
        links = [part for part in parts if isinstance(part, _Link)]
        if not links:
            whole = Span(self.source, 0, len(self.source.text.rstrip()))
            raise language_error(
                "a pattern has a relationship at least", whole, "write `(a)-[:KNOWS]->(b)`"
            )
        self._check_names([part for part in parts if isinstance(part, Token)])
        self._check_same(links)
        paths = tuple(link.path for link in links)
        return paths[0] if len(paths) == 1 else Sequence(paths)

    def node(self, name: Token | None, *labels_and_properties: Token | None) -> Token | None:
        """(a), (), and what is refused of (a:Person {age: 3})."""
        said = [item for item in labels_and_properties if item is not None]
        if said:
            raise self.refusal(
                "a regular path says nothing of the vertices that it leads through",
                said[0],
                "leave it out, and run the query on a view whose edges satisfy that",
            )
        return name

    def node_label(self, name: Token) -> Token:
        """:Person"""
        return name

    def properties(self, given: Token) -> Token:
        """{age: 3}"""
        return given

    def inside(
        self,
        name: Token | None,
        types: tuple[str, ...] | None,
        length: tuple[int, int | None, Token] | None,
        given: Token | None,
    ) -> _Inside:
        """What stands in the brackets of a link."""
        if given is not None:
            raise self.refusal(
                "a regular path reads the label of an edge, and none of its properties",
                given,
                "leave it out, and run the query on a view whose edges satisfy that",
            )
        if name is not None:
            raise self.refusal(
                f"the relationship cannot be named '{name}': a query answers with ends",
                name,
                "leave the name out: `-[:KNOWS]->`",
            )
        least_most = None if length is None else (length[0], length[1])
        return _Inside(types or (), least_most, None if length is None else length[2])

    def types(self, *names: str) -> tuple[str, ...]:
        """:A|B"""
        return tuple(dict.fromkeys(names))

    def type_name(self, name: Token) -> str:
        """A type; quoted by backticks where it is no plain name."""
        return name[1:-1] if name.type == "QUOTED" else str(name)

    def any_length(self, star: Token, *_: Token) -> tuple[int, int | None, Token]:
        """*"""
        return 1, None, star

    def fixed_length(self, star: Token, times: Token) -> tuple[int, int | None, Token]:
        """*2"""
        return int(times), int(times), star

    def length_from(self, star: Token, least: Token, _: Token) -> tuple[int, int | None, Token]:
        """*2.."""
        return int(least), None, star

    def length_to(self, star: Token, _: Token, most: Token) -> tuple[int, int | None, Token]:
        """*..3"""
        return self._ordered(star, 1, most)

    def length_between(
        self, star: Token, least: Token, _: Token, most: Token
    ) -> tuple[int, int | None, Token]:
        """*1..3"""
        return self._ordered(star, int(least), most)

    def along_link(self, opened: Token, inside: _Inside, _: Token) -> _Link:
        """-[...]->"""
        return self._link(opened, inside, _along(inside.types))

    def against_link(self, opened: Token, inside: _Inside, _: Token) -> _Link:
        """<-[...]-"""
        return self._link(opened, inside, Inverse(_along(inside.types)))

    def either_link(self, opened: Token, inside: _Inside, _: Token) -> _Link:
        """-[...]-"""
        path = _along(inside.types)
        both = Alternative((path, Inverse(path))) if inside.types else EITHER
        if inside.length is not None and inside.length[0] == 1 and inside.length != (1, 1):
            assert inside.token is not None
            raise self.refusal(
                "back along the same relationship is a walk, and no match of Cypher",
                inside.token,
                f"{_TRAILS}; as walks: `{unparse_path(Repeat(both, *inside.length))}`, "
                "or from 0 on: `*0..`",
            )
        return self._link(opened, inside, both)

    def plain_along(self, arrow: Token) -> _Link:
        """-->"""
        return _Link(ANY, (), arrow, repeats=False)

    def plain_against(self, arrow: Token) -> _Link:
        """<--"""
        return _Link(Inverse(ANY), (), arrow, repeats=False)

    def plain_either(self, arrow: Token) -> _Link:
        """--"""
        return _Link(EITHER, (), arrow, repeats=False)

    def _ordered(self, star: Token, least: int, most: Token) -> tuple[int, int | None, Token]:
        if int(most) < least:
            raise self.refusal(
                f"from {least} to {most} relationships is never",
                most,
                "the smaller number comes first",
            )
        return least, int(most), star

    def _link(self, opened: Token, inside: _Inside, path: RegularPath) -> _Link:
        if inside.length is None or inside.length == (1, 1):
            return _Link(path, inside.types, opened, repeats=False)
        repeated = Repeat(path, *inside.length)
        if inside.length[0] >= 2:
            assert inside.token is not None
            raise self.refusal(
                f"at least {inside.length[0]} relationships means something else in Cypher",
                inside.token,
                f"{_TRAILS}; as walks: `{unparse_path(repeated)}`",
            )
        return _Link(repeated, inside.types, opened, repeats=True)

    def _check_same(self, links: list[_Link]) -> None:
        """Refuse two links that may be the same relationship."""
        for at, link in enumerate(links):
            for other in links[:at]:
                if not link.types or not other.types or set(link.types) & set(other.types):
                    whole = unparse_path(Sequence(tuple(item.path for item in links)))
                    raise self.refusal(
                        "two relationships of one type could be the same one",
                        link.token,
                        f"{_TRAILS}; as walks: `{whole}`",
                    )

    def _check_names(self, names: list[Token]) -> None:
        for at, name in enumerate(names):
            if name in names[:at]:
                raise self.refusal(
                    f"'{name}' stands for one vertex in two places",
                    name,
                    "name the start and the target in the query: gt.queries.Regular(path, start, "
                    "target)",
                )


def _along(types: tuple[str, ...]) -> RegularPath:
    if not types:
        return ANY
    steps = tuple(map(Step, types))
    return steps[0] if len(steps) == 1 else Alternative(steps)
