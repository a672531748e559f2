"""The body of a rule as operators: joins, filters and reductions over bindings of variables.

`Bindings` are a collection of which some columns are variables. An atom whose variables are all new
is its relation itself, with names for its columns; each further atom is a join with its relation by
the columns that are bound or are values. So rules that read a relation by the same columns share
one arrangement of it. Multiplicities are those of the matches: whoever wants facts counts them
once, and aggregates count them as they are.

A relation is a set: every record is there once. A relation without attributes has a column that no
rule sees, since a record has one at least; joins of nothing in common meet in such a column too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graphtide.plan import rules as plan
from graphtide.plan.dataflow_expressions import INT, Column, Constant, Expression
from graphtide.plan.dataflow_terms import Term, col
from graphtide.plan.rule_bodies import unbound
from graphtide.plan.rules import Relation, substituted
from graphtide.run.dataflow.collection import Collection
from graphtide.run.dataflow.flow_builder import FlowBuilder
from graphtide.run.dataflow.operators import concatenated, joined, negated
from graphtide.run.dataflow.stages import Stage, mapped, selected
from graphtide.run.rules.functions import ConstantArgument, text_function

UNIT = " unit"
Keyed = Callable[[str, Sequence[str]], Stage | None]
"""A relation that is indexed by some columns already; None where it is not."""


def flow_columns(relation: Relation) -> dict[str, Any]:
    kinds = {"int": int, "float": float, "str": str}
    return {name: kinds[kind.value] for name, kind in relation.columns} or {UNIT: int}


class Relations:
    """The collections of relations, and projections of them that several rules need."""

    def __init__(
        self,
        flow: FlowBuilder,
        relations: Iterable[Relation],
        unit: Collection,
        keyed: Keyed | None = None,
    ) -> None:
        self._keyed = keyed
        self.flow = flow
        self._declared = {item.name: item for item in relations}
        self._stages: dict[str, Stage] = {}
        self._unit = unit
        self._made: dict[tuple[int, tuple[str, ...]], Stage] = {}

    def put(self, name: str, stage: Stage) -> None:
        """Say what a relation is from now on: within a loop it is the loop's variable."""
        self._stages[name] = stage

    def has(self, name: str) -> bool:
        return name in self._stages

    def relation(self, name: str) -> Relation:
        return self._declared[name]

    def names(self, name: str) -> tuple[str, ...]:
        return self._declared[name].names

    def stage(self, name: str) -> Stage:
        return self._stages[name]

    def keyed(self, name: str, keys: Sequence[str]) -> Stage:
        """A relation to be looked up by some columns."""
        known = self._keyed(name, keys) if self._keyed is not None else None
        return self.stage(name) if known is None else known

    def is_indexed(self, name: str) -> bool:
        """Whether a relation is there by whatever columns it is asked for."""
        return self._keyed is not None and self._keyed(name, ()) is not None

    def unit(self) -> Stage:
        return self._unit

    def with_unit(self, name: str) -> Stage:
        """A relation with a column that is 0, to meet everything by."""
        stage = self.stage(name)
        key = (stage.number, (UNIT,))
        if key not in self._made:
            chosen: dict[str, Any] = {UNIT: 0} | {own: col[own] for own in self.names(name)}
            self._made[key] = mapped(stage, chosen)
        return self._made[key]

    def projected(self, name: str, columns: Sequence[str]) -> Stage:
        """Some columns of a relation, each record once; the relation itself where it is all."""
        stage = self.stage(name)
        if list(columns) == list(self.names(name)) or not self.names(name):
            return self.keyed(name, columns) if columns else stage
        key = (stage.number, ("distinct", *columns))
        if key not in self._made:
            if columns:
                chosen = selected(stage, {own: own for own in columns})
            else:
                chosen = mapped(stage, {UNIT: 0})
            self._made[key] = Collection(chosen.flow, chosen.number).distinct()
        return self._made[key]


@dataclass(frozen=True)
class Bindings:
    """A collection, and which of its columns each variable is."""

    stage: Stage
    columns: dict[str, str]

    def expression(self, value: Expression) -> Term:
        """An expression over variables as one over columns."""
        by: dict[str, Expression] = {name: Column(of) for name, of in self.columns.items()}
        return Term(substituted(value, by))


def collection_of(stage: Stage) -> Collection:
    """A stage with the operators that users have."""
    return stage if isinstance(stage, Collection) else Collection(stage.flow, stage.number)


def extended(given: Bindings, name: str, value: Any) -> Bindings:
    """One column more."""
    chosen: dict[str, Any] = {own: col[own] for own in given.stage.names}
    stage = mapped(given.stage, chosen | {name: value})
    return Bindings(stage, {**given.columns, name: name})


def named(given: Bindings) -> Bindings:
    """The columns of variables alone, called as they are; itself where that is so."""
    if list(given.columns) == list(given.stage.names) == list(given.columns.values()):
        return given
    chosen: dict[str, Any] = {name: col[of] for name, of in given.columns.items()}
    if not chosen:
        chosen = {UNIT: 0}
    stage = mapped(given.stage, chosen)
    return Bindings(stage, {name: name for name in given.columns})


_PYTHON = {"int": int, "float": float, "bool": bool, "str": str}
Orders = Callable[[Sequence[plan.Literal], set[str]], tuple[plan.Literal, ...]]


class BodyBuilder:
    """Builds bodies over relations; `orders` puts the literals of an aggregate into their order."""

    def __init__(self, relations: Relations, types: plan.Types, orders: Orders) -> None:
        self._relations = relations
        self._types = dict(types)
        self._orders = orders
        self.ends: list[int] = []
        """How many nodes there were behind each literal of the body that was built last."""

    def build(
        self, body: Sequence[plan.Literal], wanted: set[str], start: Bindings | None = None
    ) -> Bindings:
        """The bindings of a body in its order, with the variables that are wanted at least."""
        bindings, ends = start, []
        for at, literal in enumerate(body):
            later = wanted | {name for item in body[at + 1 :] for name in _uses(item)}
            bindings = self._literal(bindings, literal, later)
            ends.append(len(self._relations.flow.plan.nodes))
        self.ends = ends
        return Bindings(self._relations.unit(), {}) if bindings is None else bindings

    def _literal(self, found: Bindings | None, literal: plan.Literal, later: set[str]) -> Bindings:
        if isinstance(literal, plan.Match) and found is None and not self._is_lookup(literal):
            return self._first(literal)
        given = Bindings(self._relations.unit(), {}) if found is None else found
        match literal:
            case plan.Match():
                return self._join(given, literal, later)
            case plan.Absent():
                return self._absent(given, literal)
            case plan.Test():
                condition = given.expression(literal.condition)
                return replace(given, stage=collection_of(given.stage).filter(condition))
            case plan.Assign() | plan.Call() | plan.Aggregate() if (
                literal.variable in given.columns
            ):
                return self._compared(given, literal, later)
            case plan.Assign():
                return extended(given, literal.variable, given.expression(literal.value))
            case plan.Call():
                return self._call(given, literal)
            case plan.Aggregate():
                return self._aggregate(given, literal)

    # ---- atoms

    def _is_lookup(self, atom: plan.Match) -> bool:
        """Whether an atom with values is found by them, and not by going through its relation."""
        valued = any(isinstance(item, Constant) for item in atom.arguments)
        return valued and self._relations.is_indexed(atom.relation)

    def _first(self, atom: plan.Match) -> Bindings:
        """The relation itself, with names for its columns; filtered by values and repetitions."""
        stage = self._relations.stage(atom.relation)
        names = self._relations.names(atom.relation)
        columns: dict[str, str] = {}
        for name, argument in zip(names, atom.arguments, strict=True):
            if isinstance(argument, Constant):
                stage = collection_of(stage).filter(col[name] == Term(argument))
            elif isinstance(argument, Column) and argument.name in columns:
                stage = collection_of(stage).filter(col[name] == col[columns[argument.name]])
            elif isinstance(argument, Column):
                columns[argument.name] = name
        return Bindings(stage, columns)

    def _join(self, given: Bindings, atom: plan.Match, later: set[str]) -> Bindings:
        names = self._relations.names(atom.relation)
        keyed = [
            (name, item)
            for name, item in zip(names, atom.arguments, strict=True)
            if isinstance(item, Constant)
            or (isinstance(item, Column) and item.name in given.columns)
        ]
        left, ons = self._keyed(given, keyed)
        if not keyed:
            right = self._relations.with_unit(atom.relation)
            left, ons = extended(left, UNIT, Term(Constant(0, INT))), [(UNIT, UNIT)]
        else:
            right = self._relations.keyed(atom.relation, [name for _, name in ons])
        pair = joined(left.stage, right, dict(ons))
        # An index has the columns of its relation in an order of its own.
        keys = [name for _, name in ons]
        rest = [name for name in right.names if name not in keys]
        return self._after(left, pair, atom, rest, later)

    def _keyed(
        self, given: Bindings, keyed: Sequence[tuple[str, Any]]
    ) -> tuple[Bindings, list[tuple[str, str]]]:
        """Bindings with a column for each key of a relation; values get columns of their own."""
        ons: list[tuple[str, str]] = []
        used: set[str] = set()
        for name, item in keyed:
            own = given.columns[item.name] if isinstance(item, Column) else None
            if own is None or own in used:
                # A value, or a variable that stands in two columns: the key needs a column more.
                label = f" key {name}"
                value = Term(item) if own is None else col[own]
                given = extended(given, label, value)
                own = label
            used.add(own)
            ons.append((own, name))
        return given, ons

    def _after(
        self,
        left: Bindings,
        pair: Stage,
        atom: plan.Match,
        rest: Sequence[str],
        later: set[str],
    ) -> Bindings:
        """What is needed later of a joined pair, under the names of its variables.

        `rest` are the columns that the relation adds to the left side, in their order.
        """
        names = self._relations.names(atom.relation)
        fresh = dict(zip(rest, pair.names[len(left.stage.names) :], strict=True))
        columns, stage = dict(left.columns), pair
        for name, item in zip(names, atom.arguments, strict=True):
            if name in fresh and isinstance(item, Column):
                if item.name in columns:
                    stage = collection_of(stage).filter(col[fresh[name]] == col[columns[item.name]])
                else:
                    columns[item.name] = fresh[name]
        wanted = {name: of for name, of in columns.items() if name in later}
        return named(Bindings(stage, wanted))

    def _absent(self, given: Bindings, atom: plan.Absent) -> Bindings:
        names = self._relations.names(atom.relation)
        keyed = [
            (name, item)
            for name, item in zip(names, atom.arguments, strict=True)
            if item is not None
        ]
        left, ons = self._keyed(given, keyed)
        if not ons:
            left, ons = extended(left, UNIT, Term(Constant(0, INT))), [(UNIT, UNIT)]
        right = self._relations.projected(atom.relation, [name for name, _ in keyed])
        there = joined(left.stage, right, dict(ons))
        columns = {name: col[name] for name in left.stage.names}
        gone = negated(mapped(there, columns))
        return replace(left, stage=concatenated(left.stage, [gone]))

    # ---- functions and aggregates

    def _compared(
        self, given: Bindings, literal: plan.Assign | plan.Call | plan.Aggregate, later: set[str]
    ) -> Bindings:
        """The bindings in which a variable is what a literal would give it.

        An atom before the literal has bound it: `road(x, strlen(x))`, or the demand of a query.
        """
        variable, other = literal.variable, f" {literal.variable}"
        self._types[other] = self._types[variable]
        computed = self._literal(given, replace(literal, variable=other), later)
        same = col[computed.columns[other]] == col[computed.columns[variable]]
        others = {name: of for name, of in computed.columns.items() if name != other}
        return named(Bindings(collection_of(computed.stage).filter(same), others))

    def _call(self, given: Bindings, literal: plan.Call) -> Bindings:
        """One more column, which a function of Python computes; rows without a value go."""
        known = named(given)
        names = list(known.stage.names)
        places = [
            names.index(known.columns[item.name])
            if isinstance(item, Column)
            else ConstantArgument(item.value)
            for item in literal.arguments
        ]
        kind = self._types[literal.variable]
        types = {name: _PYTHON[one.value] for name, one in known.stage.schema}
        types |= {literal.variable: _PYTHON[kind.value], " there": bool}
        function = text_function(literal.function, places, kind)
        called = collection_of(known.stage).map(function, types=types, vectorised=True)
        columns = {**known.columns, literal.variable: literal.variable}
        return Bindings(called.filter(col[" there"]), columns)

    def _aggregate(self, given: Bindings, literal: plan.Aggregate) -> Bindings:
        groups = list(literal.groups)
        target = set() if literal.target is None else set(plan.variables_of(literal.target))
        apart = not list(unbound(literal.body, {*groups, *target}))
        if groups and literal.operation == "sum" and self._types[literal.variable] is INT:
            apart = False  # A group that nobody asks for may have a sum beyond 64 bits.
        start = None if apart else self._distinct_groups(given, groups)
        body = self._orders(literal.body, set() if apart else set(groups))
        inner = self.build(body, {*groups, *target}, start)
        reduced = self._reduced(inner, literal, groups)
        on = dict(zip([given.columns[name] for name in groups], groups, strict=True))
        left = given
        if not groups:
            left, on = extended(given, UNIT, Term(Constant(0, INT))), {UNIT: UNIT}
        pair = joined(left.stage, reduced, on)
        columns = {**left.columns, literal.variable: pair.names[-1]}
        bindings = named(Bindings(pair, columns))
        if literal.operation in ("count", "sum"):
            return self._with_zero(left, reduced, on, literal, bindings)
        return bindings

    def _distinct_groups(self, given: Bindings, groups: list[str]) -> Bindings:
        chosen = {name: col[given.columns[name]] for name in groups}
        keys = collection_of(mapped(given.stage, chosen)).distinct()
        return Bindings(keys, {name: name for name in groups})

    def _reduced(self, inner: Bindings, literal: plan.Aggregate, groups: list[str]) -> Stage:
        """One value for each group, under the name of its variable."""
        value = literal.variable
        chosen: dict[str, Any] = {name: col[inner.columns[name]] for name in groups}
        by = groups or [UNIT]
        if not groups:
            chosen[UNIT] = 0
        if literal.target is not None:
            chosen[value] = inner.expression(literal.target)
        records = collection_of(mapped(inner.stage, chosen))
        match literal.operation:
            case "count":
                return records.count(by=by, name=value)
            case "sum":
                return records.sum(value, by=by)
            case "min":
                return records.min(by=by, of=value)
            case "max":
                return records.max(by=by, of=value)

    def _with_zero(
        self,
        left: Bindings,
        reduced: Stage,
        on: dict[str, str],
        literal: plan.Aggregate,
        found: Bindings,
    ) -> Bindings:
        """Groups without a match count 0."""
        keys = [name for name in reduced.names if name != literal.variable]
        having = mapped(reduced, {name: col[name] for name in keys})
        there = mapped(
            joined(left.stage, having, on), {name: col[name] for name in left.stage.names}
        )
        rest = concatenated(left.stage, [negated(there)])
        zero = 0 if self._types[literal.variable] is INT else 0.0
        without = extended(Bindings(rest, left.columns), literal.variable, zero)
        columns = {name: col[without.columns[name]] for name in found.columns}
        return replace(found, stage=concatenated(found.stage, [mapped(without.stage, columns)]))


def _uses(literal: plan.Literal) -> set[str]:
    """The variables that a literal reads, or compares where they are bound before it."""
    return plan.needs(literal) | plan.gives(literal)
