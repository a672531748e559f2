"""Regular paths as text: property paths of SPARQL, patterns of Cypher; text to tree and back.

The grammar is `grammar.lark`; what `unparse_path` writes reads as the same tree. Patterns of
Cypher are read where the two languages mean the same, and refused where they do not. Cypher finds
trails: no relationship twice in one match. A query finds walks, and reports which vertices they
end at. Whoever walks from one vertex to another also has a way without repetition that is no
longer, so that `*`, `*0..n` and `*1..n` along one direction mean the same in both. So do links
after one another that cannot be the same relationship, because their types differ. Everything else
is refused, and the hint has the property path whose walks are counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, cast

from lark import Token, UnexpectedInput

from graphtide.lang.diagnostics import Source, Span, language_error
from graphtide.lang.grammars import (
    Callbacks,
    Reader,
    broken_place,
    expected_there,
    listed_kinds,
    not_expected,
    parser_of,
)
from graphtide.lang.trees import Builder, Rule, same
from graphtide.model.errors import InputError, LanguageError
from graphtide.plan import regular_paths as paths
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


class _Excluded(NamedTuple):
    label: paths.Label
    back: bool


def _made(make: Callable[..., Any]) -> Rule:
    """A rule that makes a path of its parts."""
    return lambda _, *parts: make(*parts)


class PathBuilder(Builder):
    """Property paths, and what they share with patterns; `source` is the text being read."""

    only_path = same
    alternative = _made(lambda *parts: paths.Alternative(parts))
    sequence = _made(lambda *parts: paths.Sequence(parts))
    inverse = _made(paths.Inverse)
    any_number = _made(lambda path, _: paths.Repeat(path, 0, None))
    at_least_once = _made(lambda path, _: paths.Repeat(path, 1, None))
    at_most_once = _made(lambda path, _: paths.Repeat(path, 0, 1))
    exactly = _made(lambda path, times: paths.Repeat(path, int(times), int(times)))
    at_least = _made(lambda path, least, _: paths.Repeat(path, int(least), None))
    at_most = _made(lambda path, _, most: paths.Repeat(path, 0, int(most)))
    step = _made(paths.Step)
    except_none = _made(lambda: paths.Except(()))
    along = _made(lambda label: _Excluded(label, back=False))
    against = _made(lambda label: _Excluded(label, back=True))

    def between(
        self, path: paths.RegularPath, least: Token, _: Token, most: Token
    ) -> paths.RegularPath:
        """a{2,3}"""
        if int(most) < int(least):
            raise self.refusal(
                f"from {least} to {most} times is never", most, "the smaller number comes first"
            )
        return paths.Repeat(path, int(least), int(most))

    def except_some(self, *excluded: _Excluded) -> paths.RegularPath:
        """!(a|^b): any edge along its way but a, or any against it but b."""
        along = tuple(dict.fromkeys(item.label for item in excluded if not item.back))
        against = tuple(dict.fromkeys(item.label for item in excluded if item.back))
        return paths.Except(along or None, against or None)

    except_one = except_some

    def label(self, token: Token) -> paths.Label:
        match token.type:
            case "SIGNED" | "INT":
                return int(token)
            case "STRING":
                return token[1:-1].replace("''", "'")
            case "IRI":
                return str(token[1:-1])
            case _:
                return str(token)


_NAME = re.compile(r"[^\W\d]\w*(?:-\w+)*")
_SIGNS = {(0, None): "*", (1, None): "+", (0, 1): "?"}


def unparse_path(path: paths.RegularPath) -> str:
    """The path as a text, with as few parentheses as there can be."""
    match path:
        case paths.Alternative(parts):
            return "|".join(_within(part, paths.Alternative) for part in parts)
        case paths.Sequence(parts):
            return "/".join(_within(part, paths.Alternative, paths.Sequence) for part in parts)
        case paths.Inverse(inner):
            return "^" + _within(inner, paths.Alternative, paths.Sequence, paths.Inverse)
        case paths.Repeat(inner, least, most):
            return _within(
                inner, paths.Alternative, paths.Sequence, paths.Inverse, paths.Repeat
            ) + _times(least, most)
        case paths.Except(labels, back):
            return _excluded(labels or (), back or ())
        case paths.Step(label):
            return _label(label)


def _within(part: paths.RegularPath, *looser: type) -> str:
    text = unparse_path(part)
    return f"({text})" if isinstance(part, looser) else text


def _times(least: int, most: int | None) -> str:
    if (least, most) in _SIGNS:
        return _SIGNS[least, most]
    if most == least:
        return f"{{{least}}}"
    return f"{{{least},{'' if most is None else most}}}"


def _excluded(labels: tuple[paths.Label, ...], back: tuple[paths.Label, ...]) -> str:
    names = [*map(_label, labels), *(f"^{_label(item)}" for item in back)]
    return f"!{names[0]}" if len(names) == 1 else f"!({'|'.join(names)})"


def _label(label: paths.Label) -> str:
    if isinstance(label, int):
        return str(label)
    if _NAME.fullmatch(label):
        return label
    return "'" + label.replace("'", "''") + "'"


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


class PatternBuilder(PathBuilder):
    """Both spellings."""

    node_label = properties = same
    plain_along = _made(lambda arrow: _Link(ANY, (), arrow, repeats=False))
    plain_against = _made(lambda arrow: _Link(Inverse(ANY), (), arrow, repeats=False))
    plain_either = _made(lambda arrow: _Link(EITHER, (), arrow, repeats=False))

    def only_pattern(
        self, name: Token | None, equals: Token | None, *parts: Token | _Link | None
    ) -> RegularPath:
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

    def inside(
        self,
        name: Token | None,
        types: tuple[str, ...] | None,
        length: tuple[int, int | None, Token] | None,
        given: Token | None,
    ) -> _Inside:
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


_WORD = re.compile(r"\w+|\S")
_NOT_PATHS = (
    (
        re.compile(r"\s*(?:optional\s+)?match\b", re.I),
        "a query takes the pattern alone",
        "leave `match` and `return` out: `(a)-[:KNOWS]->(b)`",
    ),
    (
        re.compile(r"\s*(?:all)?shortest(?:paths?)?\b", re.I),
        "a query finds the shortest walk anyway",
        "write the pattern alone: its answer has the fewest edges as `hops`",
    ),
    (
        re.compile(r"\s*(?:select|ask|where)\b", re.I),
        "a query takes the property path alone",
        "write what stands between subject and object: `knows/likes*`",
    ),
)
_KINDS = {
    "NAME": "a label",
    "STRING": "a 'label'",
    "SIGNED": "a number",
    "INT": "a number",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "BANG": "`!`",
    "CIRCUMFLEX": "`^`",
    "SLASH": "`/`",
    "VBAR": "`|`",
    "STAR": "`*`",
    "PLUS": "`+`",
    "QUESTION": "`?`",
    "LBRACE": "`{`",
    "RBRACE": "`}`",
    "COMMA": "`,`",
    "COLON": "`:`",
    "OPEN": "`-[`",
    "OPEN_LEFT": "`<-[`",
    "CLOSE": "`]-`",
    "CLOSE_RIGHT": "`]->`",
    "TO_RIGHT": "`-->`",
    "TO_LEFT": "`<--`",
    "DOTS": "`..`",
}
_NESTED = re.compile(r"\s*\(\w*\)\s*\(\s*\(\w*\)\s*(-|<-)")
"""`(a) ((x)-[...`: a pattern within a pattern."""

_PATTERN = "a pattern is `(a)-[:KNOWS*1..3]->(b)`"


def explain_failure(failure: UnexpectedInput, source: Source, start: str) -> LanguageError:
    place = broken_place(failure, source, _WORD)
    if not source.text.strip():
        return language_error("there is nothing to read", place, "a path is `knows/likes*`")
    for pattern, what, hint in _NOT_PATHS:
        if pattern.match(source.text):
            return language_error(what, place, hint)
    problem = _quoted(place) or _quantified(source, place, start) or _twice(source, place)
    if problem is not None:
        return language_error(problem[0], place, problem[1])
    kinds = listed_kinds(expected_there(failure), _KINDS, most=len(_KINDS), others=False)
    return language_error(not_expected(place), place, f"expected {kinds}" if kinds else None)


def _quoted(place: Span) -> tuple[str, str] | None:
    if place.text == "'":
        return "this label is not closed on its line", "end it with '; inside it, write ''"
    if place.text in ('"', "`"):
        return "a label takes single quotes here", "write 'works for'"
    return None


def _quantified(source: Source, place: Span, start: str) -> tuple[str, str] | None:
    """Patterns with a quantifier behind a link, or behind parentheses, as newer Cypher has them."""
    of_pattern = start == "only_pattern" or _NESTED.match(source.text)
    if not of_pattern or place.text not in ("+", "*", "{", "(", "?"):
        return None
    return (
        "a quantified pattern finds trails, and a query finds walks",
        f"write a property path, such as `knows{{1,3}}`; {_PATTERN}",
    )


def _twice(source: Source, place: Span) -> tuple[str, str] | None:
    """`a*?`, `a+*`: one sign behind another."""
    before = source.text[: place.start].rstrip()
    if place.text in ("*", "+", "?", "{") and before.endswith(("*", "+", "?", "}")):
        return "one repetition cannot stand behind another", "use parentheses: `(a+)*`"
    return None


_STARTS = ("only_path", "only_pattern")
_PATTERN_START = re.compile(r"\s*(?:\w+\s*=\s*)?\([^()/|^!]*\)\s*(?:<?\s*-|$)")
"""How a pattern begins: a node, and a dash behind it. No property path has one there."""


def parse_path(text: str) -> RegularPath:
    if not isinstance(text, str):
        raise InputError(f"a path cannot be {text!r}", hint="give a text, such as 'knows/likes*'")
    start = "only_pattern" if _PATTERN_START.match(text) and not _is_group(text) else "only_path"
    return cast(RegularPath, _reader().read(Source(text), start))


def _is_group(text: str) -> bool:
    """`(a)` alone is a property path in parentheses."""
    return text.strip().endswith(")") and "-" not in re.sub(r"\w-\w", "", text) and "=" not in text


@cache
def _reader() -> Reader:
    builder = PatternBuilder()
    parser = parser_of("paths", start=list(_STARTS), transformer=Callbacks(builder))
    return Reader(parser, builder, explain_failure)
