"""Names that stand within an aggregate alone are its own: each aggregate gets names apart.

A name that stands around the aggregate too, in the head or in the body, is one value with that: the
aggregate is computed for each such value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count

from graphtide.lang.datalog.tree import (
    Aggregate,
    Atom,
    BodyLiteral,
    Call,
    Comparison,
    Disjunction,
    Negation,
    Record,
    Term,
    Test,
    Variable,
)


class LocalNames:
    """Renames what is local to aggregates of one rule."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def apart(
        self, heads: Iterable[Atom], body: Iterable[BodyLiteral]
    ) -> tuple[list[Atom], list[BodyLiteral]]:
        """A rule in which no two aggregates share a name that stands nowhere else."""
        listed, literals = list(heads), list(body)
        outside = {name for item in (*listed, *literals) for name in names_around(terms_of(item))}
        new = [self._literal(item, outside, {}) for item in (*listed, *literals)]
        atoms = [item for item in new[: len(listed)] if isinstance(item, Atom)]
        return atoms, new[len(listed) :]

    def _literal(
        self, literal: BodyLiteral, outside: set[str], renamed: dict[str, str]
    ) -> BodyLiteral:
        def again(terms: tuple[Term, ...]) -> tuple[Term, ...]:
            return tuple(self._term(item, outside, renamed) for item in terms)

        match literal:
            case Atom() | Test():
                return replace(literal, arguments=again(literal.arguments))
            case Comparison():
                left, right = again((literal.left, literal.right))
                return replace(literal, left=left, right=right)
            case Negation():
                inner = self._literal(literal.literal, outside, renamed)
                assert isinstance(inner, Atom | Test)
                return replace(literal, literal=inner)
            case Disjunction():
                raise AssertionError("alternatives have been taken apart")

    def _term(self, term: Term, outside: set[str], renamed: dict[str, str]) -> Term:
        match term:
            case Variable():
                return replace(term, name=renamed.get(term.name, term.name))
            case Call():
                given = tuple(self._term(item, outside, renamed) for item in term.arguments)
                return replace(term, arguments=given)
            case Record():
                return replace(
                    term, fields=tuple(self._term(item, outside, renamed) for item in term.fields)
                )
            case Aggregate():
                return self._aggregate(term, outside, renamed)
            case _:
                return term

    def _aggregate(self, term: Aggregate, outside: set[str], renamed: dict[str, str]) -> Aggregate:
        (literals,) = term.body
        own = {name for item in literals for name in names_around(terms_of(item))}
        own |= set(names_around(() if term.target is None else (term.target,)))
        mark = next(self._numbers)
        inner = {**renamed, **{name: f"{name}@{mark}" for name in own - outside}}
        visible = outside | own
        body = tuple(self._literal(item, visible, inner) for item in literals)
        target = None if term.target is None else self._term(term.target, visible, inner)
        return replace(term, target=target, body=(body,))


def terms_of(literal: BodyLiteral) -> tuple[Term, ...]:
    """The terms that a literal holds."""
    match literal:
        case Atom() | Test():
            return literal.arguments
        case Negation():
            return terms_of(literal.literal)
        case Comparison():
            return (literal.left, literal.right)
        case Disjunction():
            return tuple(term for part in literal.body for item in part for term in terms_of(item))


def names_around(terms: Iterable[Term]) -> Iterator[str]:
    """The variables of terms, those within aggregates left out."""
    for term in terms:
        match term:
            case Variable():
                yield term.name
            case Call():
                yield from names_around(term.arguments)
            case Record():
                yield from names_around(term.fields)
