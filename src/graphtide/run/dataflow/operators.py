"""The operators of collections: record by record, joins, and one result per key.

Operators that look at one record keep nothing. Joins arrange both sides by the key and cost work in
proportion to the smaller side's changes. Of reductions, min, max, first and last read their records
in order and stop at the last one that matters; distinct and threshold keep multiplicities; a
function of Python gets all records of a key whenever one has changed. Counts, sums and several
results at once are in `aggregates`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from graphtide.model.errors import InputError
from graphtide.plan.dataflow import (
    Concat,
    Consolidate,
    Filter,
    Foreign,
    Join,
    Negate,
    Reduce,
    ReducerName,
    Schema,
)
from graphtide.plan.dataflow_expressions import (
    Column,
    Constant,
    Expression,
    Operation,
    expression_type,
)
from graphtide.plan.dataflow_terms import Term, col, expression_of, operation
from graphtide.run.dataflow.flow_builder import is_whole, schema_of
from graphtide.run.dataflow.stages import (
    Indexed,
    Names,
    One,
    OperatorMixin,
    Stage,
    added,
    arranged,
    check_flow,
    check_name,
    check_stage,
    checked_names,
    computed,
    like,
    mapped,
    mapped_plainly,
    selected,
    together,
    with_nulls,
)


class TransformOperators(OperatorMixin[One, Indexed]):
    """The operators of `Collection` that keep nothing."""

    def map(
        self,
        function: Callable[..., Any] | None = None,
        /,
        *,
        types: dict[str, type] | None = None,
        vectorised: bool = False,
        **columns: Any,
    ) -> One:
        """One new record for each: `map(src=col.dst, dst=col.src, hops=col.hops + 1)`.

        Or by a function of the columns, with the `types` of what it returns: one call a record,
        which is slow, or with `vectorised` (for NumPy and compiled functions) one call for many,
        with arrays. A function must give the same for the same record, always.
        """
        if function is None:
            return self._collection(mapped(self, columns))
        kind = "columns" if vectorised else "map"
        return self._foreign(kind, function, _typed(types, "map"))

    def select(self, *names: str, **renamed: str) -> One:
        """Some columns, in the order given; `new="old"` renames."""
        for name in names:
            check_name(self, name)
        return self._collection(selected(self, {**{name: name for name in names}, **renamed}))

    def filter(self, condition: Any) -> One:
        """The records for which a condition is true: `filter(col.age > 3)`.

        Where a null leaves it unknown, it is not. A function of the columns works too, one call a
        record, which is slow.
        """
        if callable(condition) and not isinstance(condition, Term):
            return self._foreign("filter", condition, self.schema)
        predicate = expression_of(condition)
        if expression_type(predicate, dict(self.schema)).kind != "bool":
            raise InputError(f"`{predicate}` is neither true nor false", hint="compare it")
        return self._collection(filtered(self, predicate))

    def flat_map(self, function: Callable[..., Any], *, types: dict[str, type]) -> One:
        """Any number of new records for each: what a function of the columns returns. Slow."""
        return self._foreign("flat_map", function, _typed(types, "flat_map"))

    def negate(self) -> One:
        """The same records with opposite multiplicities."""
        return self._collection(negated(self))

    def concat(self, *others: One) -> One:
        """The records of all, multiplicities added. Columns are matched by name."""
        return self._collection(concatenated(self, others))

    def minus(self, other: One) -> One:
        """The records of this less those of another, multiplicities subtracted."""
        return self._collection(concatenated(self, [negated(other)]))

    def consolidate(self) -> One:
        """The same collection, equal records added up. Costs a sort; saves work behind it."""
        return self._collection(added(self, Consolidate(self.number)))

    def inspect(self, function: Callable[..., Any]) -> One:
        """The same collection; calls `function(record, time, diff)` for all that passes.

        The time is the version; in a loop, a tuple of the version and the rounds.
        """
        return self._foreign("inspect", function, self.schema)

    def _foreign(self, kind: Any, function: Callable[..., Any], schema: Schema) -> One:
        node = Foreign(self.number, self.flow.add_function(function), kind)
        return self._collection(added(self, node, schema))


def filtered(source: Stage, predicate: Expression) -> Stage:
    stage, expressions = computed(source, {"": predicate})
    passed = added(stage, Filter(stage.number, expressions[""]))
    return passed if stage is source else selected(passed, {name: name for name in source.names})


def negated(source: Stage) -> Stage:
    return added(source, Negate(source.number))


def concatenated(first: Stage, others: Sequence[Stage]) -> Stage:
    """The records of all, with the columns of the first."""
    for other in others:
        check_stage(other)
    widest = with_nulls(first, others)
    scope, sources = together(widest, *(like(other, widest) for other in others))
    node = Concat(tuple(source.number for source in sources))
    return added(widest, node, scope=scope)


def _typed(types: dict[str, type] | None, what: str) -> Schema:
    if not types:
        raise InputError(
            f"{what} with a function has to know the columns it makes",
            hint=f"{what}(function, types={{'name': int}})",
        )
    return schema_of(types)


class ReduceOperators(OperatorMixin[One, Indexed]):
    """The reductions of `Collection`. All give arrangements by their key."""

    def reduce(self, function: Callable[..., Any], *, by: Names, types: dict[str, type]) -> Indexed:
        """What `function(key, records)` returns for each key: a list of records.

        `records` is a list of pairs of a record, without its key, and its multiplicity, in order.
        It is called for every key whose records have changed, which is slow.
        """
        source = arranged(self, by)
        schema = source.schema[: len(checked_names(self, by))] + schema_of(types)
        number = self.flow.add_function(function)
        node = Reduce(source.number, "function", number)
        return self._arrangement(added(source, node, schema))

    def distinct(self) -> Indexed:
        """Each record that is there, once."""
        return self.threshold(1)

    def threshold(self, least: int) -> Indexed:
        """Each record that is there at least so many times, once."""
        if least < 1:
            raise InputError(
                f"A threshold of {least} would hold for all records there could be",
                hint="give 1 or more",
            )
        return self._arrangement(distinct(self, least))

    def min(self, *, by: Names, of: Names | None = None) -> Indexed:
        """The least record of each key: by the first column of `of`, then the next."""
        return self._arrangement(ends(self, "min", 1, by, of))

    def max(self, *, by: Names, of: Names | None = None) -> Indexed:
        """The greatest record of each key."""
        return self._arrangement(ends(self, "max", 1, by, of))

    def first(self, count: int, *, by: Names, of: Names | None = None) -> Indexed:
        """The least records of each key, so many, counted with their multiplicities."""
        return self._arrangement(ends(self, "first", count, by, of))

    def top(self, count: int, *, by: Names, of: Names | None = None) -> Indexed:
        """The greatest records of each key, so many, counted with their multiplicities."""
        return self._arrangement(ends(self, "last", count, by, of))


def distinct(source: Stage, least: int = 1) -> Stage:
    """Each record that is there at least so many times, once."""
    ordered = arranged(source, source.names)
    return added(ordered, Reduce(ordered.number, "threshold", least))


def ends(source: Stage, reducer: ReducerName, count: int, by: Names, of: Names | None) -> Stage:
    """The first or last records of each key, by some columns.

    A text among them gets a column of its first bytes before it, which is dropped behind.
    """
    keys = checked_names(source, by)
    rest = [name for name in source.names if name not in keys]
    values = rest if of is None else checked_names(source, of)
    if not is_whole(count) or count < 1 or not values:
        raise InputError(
            f"{reducer} of {count} records by {', '.join(values) or 'no column'}",
            hint="ask for at least one record, by at least one column that is not in the key",
        )
    kinds = dict(source.schema)
    columns: dict[str, Any] = {name: col[name] for name in keys}
    texts: list[int] = []
    for name in values:
        if kinds[name].kind == "str":
            columns[f" first bytes of {name}"] = operation("prefix", col[name])
            texts.append(len(columns) - len(keys))
        columns[name] = col[name]
    ordered = arranged(mapped(source, columns), keys)
    reduced = added(ordered, Reduce(ordered.number, reducer, count, texts=tuple(texts)))
    if not texts:
        return reduced
    return arranged(selected(reduced, {name: name for name in (*keys, *values)}), keys)


On = str | Sequence[str] | Mapping[str, str]
"""Columns with the same name on both sides, or left names with their right names."""


class JoinOperators(OperatorMixin[One, Indexed]):
    """The joins of `Collection`. Each costs work in proportion to the smaller side's changes."""

    def join(self, other: One, on: On) -> One:
        """Every pair of records with equal keys: the key, the rest of this, the rest of the other.

        Multiplicities multiply. A column of the other side whose name is taken gets `_right`
        behind it. Both sides are arranged by the key, which is shared with all who need the same.
        """
        return self._collection(joined(self, other, on))

    def join_map(self, other: One, /, on: On, **columns: Any) -> One:
        """A join whose pairs are mapped: `join_map(edges, on="node", node=col.dst, hops=...)`."""
        return self._collection(mapped(joined(self, other, on), columns))

    def semijoin(self, other: One, on: On) -> One:
        """The records whose key the other side has, with their own multiplicities."""
        return self._collection(semijoined(self, other, on))

    def antijoin(self, other: One, on: On) -> One:
        """The records whose key the other side does not have."""
        return self._collection(antijoined(self, other, on))

    def left_join(self, other: One, on: On) -> One:
        """A join that keeps the records without a partner: what the other side has is null there.

        The columns of the other side may be null then. Costs an antijoin more than a join.
        """
        return self._collection(left_joined(self, other, on))

    def join_where(self, other: One, condition: Any) -> One:
        """Every pair of records for which a condition is true, such as `col.low <= col.price`.

        A column of the other side whose name is taken gets `_right` behind it. All pairs are made
        and looked at: that takes the product of both sides, and is for a small one.
        """
        return self.join(other, on=()).filter(condition)  # type: ignore[attr-defined, no-any-return]


def antijoined(left: Stage, right: Stage, on: On) -> Stage:
    """The records of the left side whose key the right side does not have."""
    return concatenated(left, [negated(semijoined(left, right, on))])


def left_joined(left: Stage, right: Stage, on: On) -> Stage:
    """Every pair of records with equal keys, and the records of the left side without one."""
    pairs = joined(left, right, on)
    alone = antijoined(left, right, on)
    columns: dict[str, Any] = {name: Operation("or null", (Column(name),)) for name in pairs.names}
    columns |= {name: Column(name) for name in left.names}
    nulls: dict[str, Any] = {
        name: Constant(None, kind.or_null()) for name, kind in pairs.schema
    } | {name: Column(name) for name in left.names}
    return concatenated(mapped_plainly(pairs, columns), [mapped_plainly(alone, nulls)])


def joined(left: Stage, right: Stage, on: On) -> Stage:
    """Every pair of records with equal keys. A null equals nothing."""
    return paired(*_sides(left, right, on))


def paired(one: Stage, other: Stage) -> Stage:
    """Every pair of records of two arrangements with the same key, nulls included."""
    scope, _ = together(one, other)
    return added(one, Join(one.number, other.number), _joined_schema(one, other), scope)


def semijoined(left: Stage, right: Stage, on: On) -> Stage:
    """The records of the left side whose key the right side has."""
    lefts, rights = _names(on)
    keys = selected(right, dict(zip(lefts, rights, strict=True)))
    rows = selected(joined(left, distinct(keys), lefts), {name: name for name in left.names})
    return like(rows, left)


def _names(on: On) -> tuple[list[str], list[str]]:
    if isinstance(on, str):
        return [on], [on]
    if isinstance(on, Mapping):
        return list(on), list(on.values())
    return list(on), list(on)


def _sides(left: Stage, right: Stage, on: On) -> tuple[Stage, Stage]:
    lefts, rights = _names(on)
    check_flow(right, left.flow)
    types = [dict(left.schema).get(name) for name in lefts]
    others = [dict(right.schema).get(name) for name in rights]
    if not all(
        one is None or other is None or one.plain == other.plain
        for one, other in zip(types, others, strict=True)
    ):
        raise InputError(
            f"The keys of {left!r} and {right!r} have different types",
            hint="map one of them to the type of the other",
        )
    return arranged(_there(left, lefts), lefts), arranged(_there(right, rights), rights)


def _there(source: Stage, keys: list[str]) -> Stage:
    """The records without a null in their key, each column of which then has no nulls."""
    kinds = dict(source.schema)
    nullable = [name for name in keys if name in kinds and kinds[name].nullable]
    if not nullable:
        return source
    tests = [Operation("not", (Operation("is null", (Column(name),)),)) for name in nullable]
    stage = source
    for test in tests:
        stage = filtered(stage, test)
    known: dict[str, Any] = {name: Column(name) for name in source.names}
    known |= {name: Operation("there", (Column(name),)) for name in nullable}
    return mapped_plainly(stage, known)


def _joined_schema(left: Stage, right: Stage) -> Schema:
    taken = set(left.names)
    columns = list(left.schema)
    for name, column_type in right.schema[right.flow.plan.key_of(right.number) :]:
        free = name
        while free in taken:
            free += "_right"
        taken.add(free)
        columns.append((free, column_type))
    return tuple(columns)
