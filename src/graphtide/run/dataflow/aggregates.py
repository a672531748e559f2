"""Aggregates: counts, sums, means, least and greatest values of each key, any number at once.

Counts and sums are weights that are added up as they change, all of a key together: tag 0 counts
the records, and each sum has tags of its own. An int is added up in two halves, so that a sum
beyond 64 bits is noticed; a float in its limbs, so that a sum is exact, rounded once, and never
depends on what has come and gone. Least and greatest values, and what is counted once each, have
reductions of their own, joined by the key. Nulls count for nothing: an aggregate of nulls alone is
null, or 0 where it counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from graphtide.kernels.dataflow.numbers import FLOAT_TAGS
from graphtide.model.errors import InputError
from graphtide.plan.dataflow import Reduce, SumKind, Weigh
from graphtide.plan.dataflow_expressions import FLOAT, INT, ColumnType, expression_type
from graphtide.plan.dataflow_terms import Term, col, expression_of, operation, where
from graphtide.run.dataflow.operators import concatenated, distinct, ends, paired
from graphtide.run.dataflow.stages import (
    Indexed,
    Names,
    One,
    OperatorMixin,
    Stage,
    added,
    arranged,
    checked_names,
    mapped,
    selected,
)

_TAG, _WEIGHT, _MISSING = " tag", " weight", " missing"


@dataclass(frozen=True)
class ColumnAggregate:
    """A count, sum, mean, least or greatest value: see `count`, `total` and those beside them."""

    kind: str
    of: Any = None


def count(of: str | Term | None = None) -> ColumnAggregate:
    """How many records there are, for `aggregate`; of a column, how many have a value."""
    return ColumnAggregate("count", of)


def total(of: str | Term) -> ColumnAggregate:
    """The sum of a column or of an expression, for `aggregate`."""
    return ColumnAggregate("total", of)


def mean(of: str | Term) -> ColumnAggregate:
    """The mean of a column or of an expression, a float, for `aggregate`."""
    return ColumnAggregate("mean", of)


def minimum(of: str | Term) -> ColumnAggregate:
    """The least value of a column or of an expression, for `aggregate`."""
    return ColumnAggregate("minimum", of)


def maximum(of: str | Term) -> ColumnAggregate:
    """The greatest value of a column or of an expression, for `aggregate`."""
    return ColumnAggregate("maximum", of)


def count_distinct(of: str | Term) -> ColumnAggregate:
    """How many different values a column or an expression has, for `aggregate`."""
    return ColumnAggregate("distinct", of)


class AggregateOperators(OperatorMixin[One, Indexed]):
    """Counts and sums of `Collection`. All give arrangements by their key."""

    def count(self, by: Names | None = None, name: str = "count") -> Indexed:
        """How many records each key has; each distinct record, where no key is named.

        `by=()` counts all records together.
        """
        return self.aggregate(self.names if by is None else by, **{name: count()})

    def sum(self, column: str, *, by: Names, name: str | None = None) -> Indexed:
        """The sum of a column for each key, added up as it changes.

        It is exact: one of ints or decimals that is beyond 64 bits is an error, and one of floats
        is rounded once and does not depend on the past.
        """
        (checked,) = checked_names(self, column)
        return self.aggregate(by, **{name or checked: total(checked)})

    def aggregate(self, by: Names, **parts: ColumnAggregate) -> Indexed:
        """Several aggregates for each key: `aggregate("city", n=count(), most=maximum("age"))`.

        Counts and sums cost work in proportion to the changes. So do the others where few records
        of a key come before the least or greatest; each of them is a reduction of its own.
        """
        keys = checked_names(self, by)
        if not parts:
            raise InputError("No aggregate is named", hint="aggregate(by, n=count())")
        for name, part in parts.items():
            if not isinstance(part, ColumnAggregate):
                raise InputError(
                    f"{name}={part!r} is no aggregate",
                    hint="use count, total, mean, minimum, maximum or count_distinct: "
                    f"{name}=gt.dataflow.count()",
                )
        if taken := set(keys) & set(parts):
            raise InputError(
                f"{', '.join(sorted(taken))} would name a key and an aggregate: one is named twice",
                hint="give the aggregate another name",
            )
        return self._arrangement(_aggregated(self, keys, parts))


def _aggregated(source: Stage, keys: list[str], parts: dict[str, ColumnAggregate]) -> Stage:
    given, columns = _with_columns(source, keys, parts)
    kinds = dict(given.schema)
    weights = _Weights(keys)
    made: dict[str, Any] = {}
    joined: list[Stage] = []
    for number, (name, part) in enumerate(parts.items()):
        of = columns.get(name)
        if part.kind in ("count", "total", "mean"):
            made[name] = weights.result(part.kind, of, kinds.get(of or "", INT))
            continue
        hidden = f" {number}"
        joined.append(_own(given, keys, part.kind, of or "", hidden))
        made[name] = col[hidden]
    same = {repr(item): name for name, item in made.items() if repr(item) in weights.outputs}
    if not joined and len(same) == len(parts):
        return weights.reduced(given, same)
    stages = [weights.reduced(given, {}), *joined] if weights.outputs else joined
    whole = stages[0]
    for stage in stages[1:]:
        whole = paired(arranged(whole, keys), stage)
    return arranged(mapped(whole, {key: col[key] for key in keys} | made), keys)


def _with_columns(
    source: Stage, keys: list[str], parts: dict[str, ColumnAggregate]
) -> tuple[Stage, dict[str, str]]:
    """The keys and a column for all that is aggregated, and its name for each part."""
    names: dict[str, str] = {}
    columns: dict[str, Any] = {key: col[key] for key in keys}
    known: dict[Any, str] = {}
    for name, part in parts.items():
        if part.of is None:
            continue
        term = col[part.of] if isinstance(part.of, str) else part.of
        expression = expression_of(term)
        _check(part, expression_type(expression, dict(source.schema)), expression)
        if expression not in known:
            known[expression] = f" of {len(known)}"
            columns[known[expression]] = term
        names[name] = known[expression]
    return mapped(source, columns), names


def _check(part: ColumnAggregate, kind: ColumnType, shown: object) -> None:
    """Refuse to add up what is no number."""
    if part.kind in ("total", "mean") and kind.kind not in ("int", "float", "decimal"):
        raise InputError(f"Column `{shown}` is {kind}, which cannot be added up")


class _Weights:
    """What is to be added up for each key: weights by tag, and what is made of the sums."""

    def __init__(self, keys: list[str]) -> None:
        self.keys = keys
        self.tags = 1
        self.outputs: dict[str, tuple[SumKind, int, ColumnType]] = {}
        self._columns: list[tuple[Any, Any]] = []
        self._sums: dict[tuple[str, str | None], str] = {}

    def result(self, kind: str, of: str | None, given: ColumnType) -> Any:
        """An expression, over the sums, for one aggregate."""
        if kind == "count":
            return col[self._count(of if given.nullable else None)]
        summed = col[self._total(of or "", given)]
        there = col[self._count(of if given.nullable else None)] if given.nullable else None
        if kind == "mean":
            times = col[self._count(of if given.nullable else None)]
            summed = summed / times if given.kind != "decimal" else summed.as_float() / times
        return summed if there is None else where(there == 0, None, summed)

    def reduced(self, source: Stage, names: dict[str, str]) -> Stage:
        """The reduction; `names` are other names for some of its sums."""
        keys: dict[str, Any] = {key: col[key] for key in self.keys}
        counted = mapped(source, keys | {_TAG: 0})
        weighted = [
            _weighed(mapped(source, keys | {_TAG: tag, _WEIGHT: weight}))
            for tag, weight in self._columns
        ]
        ordered = arranged(concatenated(counted, weighted) if weighted else counted, self.keys)
        listed = self.outputs
        made = tuple((names.get(name, name), kind) for name, (_, _, kind) in listed.items())
        outputs = tuple((kind, tag) for kind, tag, _ in listed.values())
        node = Reduce(ordered.number, "sums", self.tags, outputs)
        return added(ordered, node, (*ordered.schema[: len(self.keys)], *made))

    def _count(self, of: str | None) -> str:
        """The sum that counts records, or those with a value."""
        if ("count", of) not in self._sums:
            tag = 0 if of is None else self._take(1)
            if of is not None:
                self._columns.append((tag, where(col[of].is_null(), 0, 1)))
            self._sums["count", of] = self._output("plain", tag, INT)
        return self._sums["count", of]

    def _total(self, of: str, given: ColumnType) -> str:
        """The sum of a column, its nulls as nothing."""
        if ("total", of) not in self._sums:
            value = col[of].or_else(_zero(given)) if given.nullable else col[of]
            tags = self._floats(value) if given.plain == FLOAT else self._halves(value)
            kind: SumKind = "float" if given.plain == FLOAT else "whole"
            self._sums["total", of] = self._output(kind, tags[0], given.plain)
        return self._sums["total", of]

    def _halves(self, value: Term) -> list[int]:
        """An int as low and high half, the low one of any sign: small ints have no other."""
        first = self._take(2)
        word = operation("word", value)
        high = (word // (1 << 31) + 1) // 2
        self._columns += [(first, word - high * (1 << 32)), (first + 1, high)]
        return [first, first + 1]

    def _floats(self, value: Term) -> list[int]:
        """A float as three limbs, with tags that tell which of all limbs they are."""
        first = self._take(FLOAT_TAGS)
        limb = operation("limb", value)
        self._columns += [
            (limb + (first + part), operation(f"part {part}", value)) for part in range(3)
        ]
        return [first, first + 1, first + 2]

    def _take(self, tags: int) -> int:
        first = self.tags
        self.tags += tags
        return first

    def _output(self, kind: SumKind, tag: int, made: ColumnType) -> str:
        name = f" sum {len(self.outputs)}"
        self.outputs[name] = (kind, tag, made)
        return name


def _zero(given: ColumnType) -> int | float | Decimal:
    """Nothing, of a type that can be added up."""
    if given.kind == "decimal":
        return Decimal(0).scaleb(-given.scale)
    return 0.0 if given.kind == "float" else 0


def _weighed(source: Stage) -> Stage:
    return added(source, Weigh(source.number, _WEIGHT), source.schema[:-1])


def _own(source: Stage, keys: list[str], kind: str, of: str, name: str) -> Stage:
    """A reduction of its own: one value a key, under a name."""
    columns: dict[str, Any] = {key: col[key] for key in keys}
    if kind == "distinct":
        different = distinct(mapped(source, columns | {name: col[of]}))
        weights = _Weights(keys)
        given = dict(source.schema)[of]
        made = weights.result("count", name, given)
        return arranged(mapped(weights.reduced(different, {}), columns | {name: made}), keys)
    if kind == "maximum" or not dict(source.schema)[of].nullable:
        chosen = mapped(source, columns | {name: col[of]})
        return ends(chosen, "max" if kind == "maximum" else "min", 1, keys, [name])
    # A null sorts before all values: those that are there come first.
    chosen = mapped(source, columns | {_MISSING: col[of].is_null(), name: col[of]})
    least = ends(chosen, "min", 1, keys, [_MISSING, name])
    return arranged(selected(least, {item: item for item in (*keys, name)}), keys)
