"""Names that stand within an aggregate alone are its own: each aggregate gets names apart.

A name that stands around the aggregate too, in the head or in the body, is one value with that: the
aggregate is computed for each such value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count

from graphtide.lang.datalog import tree


class LocalNames:
    """Renames what is local to aggregates of one rule."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def apart(
        self, heads: Iterable[tree.Atom], body: Iterable[tree.BodyLiteral]
    ) -> tuple[list[tree.Atom], list[tree.BodyLiteral]]:
        """A rule in which no two aggregates share a name that stands nowhere else."""
        listed, literals = list(heads), list(body)
        outside = {name for item in (*listed, *literals) for name in names_around(terms_of(item))}
        new = [self._literal(item, outside, {}) for item in (*listed, *literals)]
        atoms = [item for item in new[: len(listed)] if isinstance(item, tree.Atom)]
        return atoms, new[len(listed) :]

    def _literal(
        self, literal: tree.BodyLiteral, outside: set[str], renamed: dict[str, str]
    ) -> tree.BodyLiteral:
        def again(terms: tuple[tree.Term, ...]) -> tuple[tree.Term, ...]:
            return tuple(self._term(item, outside, renamed) for item in terms)

        match literal:
            case tree.Atom() | tree.Test():
                return replace(literal, arguments=again(literal.arguments))
            case tree.Comparison():
                left, right = again((literal.left, literal.right))
                return replace(literal, left=left, right=right)
            case tree.Negation():
                inner = self._literal(literal.literal, outside, renamed)
                assert isinstance(inner, tree.Atom | tree.Test)
                return replace(literal, literal=inner)
            case tree.Disjunction():
                raise AssertionError("alternatives have been taken apart")

    def _term(self, term: tree.Term, outside: set[str], renamed: dict[str, str]) -> tree.Term:
        match term:
            case tree.Variable():
                return replace(term, name=renamed.get(term.name, term.name))
            case tree.Call():
                given = tuple(self._term(item, outside, renamed) for item in term.arguments)
                return replace(term, arguments=given)
            case tree.Record():
                return replace(
                    term, fields=tuple(self._term(item, outside, renamed) for item in term.fields)
                )
            case tree.Aggregate():
                return self._aggregate(term, outside, renamed)
            case _:
                return term

    def _aggregate(
        self, term: tree.Aggregate, outside: set[str], renamed: dict[str, str]
    ) -> tree.Aggregate:
        (literals,) = term.body
        own = {name for item in literals for name in names_around(terms_of(item))}
        own |= set(names_around(() if term.target is None else (term.target,)))
        mark = next(self._numbers)
        inner = {**renamed, **{name: f"{name}@{mark}" for name in own - outside}}
        visible = outside | own
        body = tuple(self._literal(item, visible, inner) for item in literals)
        target = None if term.target is None else self._term(term.target, visible, inner)
        return replace(term, target=target, body=(body,))


def terms_of(literal: tree.BodyLiteral) -> tuple[tree.Term, ...]:
    """The terms that a literal holds."""
    match literal:
        case tree.Atom() | tree.Test():
            return literal.arguments
        case tree.Negation():
            return terms_of(literal.literal)
        case tree.Comparison():
            return (literal.left, literal.right)
        case tree.Disjunction():
            return tuple(term for part in literal.body for item in part for term in terms_of(item))


def names_around(terms: Iterable[tree.Term]) -> Iterator[str]:
    """The variables of terms, those within aggregates left out."""
    for term in terms:
        match term:
            case tree.Variable():
                yield term.name
            case tree.Call():
                yield from names_around(term.arguments)
            case tree.Record():
                yield from names_around(term.fields)
