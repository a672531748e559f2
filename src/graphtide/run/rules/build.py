"""A program of rules as operators of a dataflow: one stratum behind the other, loops where needed.

A relation is all that its rules derive and all that is given, each fact once; or, where it keeps
the best of a key, the least or greatest of each. The rules of a loop read its relations as they
were in the round before, through variables, and all others as they are. A program can also be built
over collections that users have; its relations are collections in turn.

`explain_rules` lists strata, the rules of each, in which order their atoms are joined, and how many
rows each join has sent, or each negation has taken away.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Collection as Group
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from os import PathLike
from typing import Any

from graphtide.lang.datalog.program import read_datalog
from graphtide.model.errors import InputError
from graphtide.model.text import counted
from graphtide.plan.dataflow import Input, Join
from graphtide.plan.dataflow_expressions import Column, Constant
from graphtide.plan.dataflow_terms import col
from graphtide.plan.rule_bodies import Sizes, ordered_body, ordered_rule
from graphtide.plan.rule_demand import demanded
from graphtide.plan.rules import (
    Absent,
    Aggregate,
    Literal,
    Match,
    Relation,
    Rule,
    RulePlan,
    Stratum,
    gives,
    reads,
    strata,
    variables_of,
)
from graphtide.run.dataflow.collection import Collection, Loop
from graphtide.run.dataflow.flow_builder import FlowBuilder, schema_of
from graphtide.run.dataflow.inputs import InputCollection
from graphtide.run.dataflow.operators import concatenated
from graphtide.run.dataflow.reports import operator_counters
from graphtide.run.dataflow.stages import Stage, check_outside, mapped
from graphtide.run.rules.bodies import (
    UNIT,
    BodyBuilder,
    Keyed,
    Relations,
    collection_of,
    flow_columns,
)

Watch = Callable[[str, tuple[Any, ...], Any, int], None]
"""Is given the relation, the record, the version with the round, and the difference."""


@dataclass
class BuiltRule:
    """A rule, the order of its literals, and the joins that each became, by their numbers."""

    rule: Rule
    order: tuple[Literal, ...]
    joins: tuple[tuple[int, ...], ...]


@dataclass
class BuiltRules:
    """What became of a program: its relations as collections, and how."""

    relations: Relations
    strata: list[Stratum] = field(default_factory=list)
    rules: list[BuiltRule] = field(default_factory=list)

    def collection(self, name: str) -> Collection:
        """A relation outside of all loops."""
        return collection_of(self.relations.stage(name))


class RuleBuilder:
    """Adds a program to a dataflow; `given` are the collections that come from outside, as sets.

    `sizes` are how many facts relations have, as far as that is known. `unit` has one record.
    `keyed` finds relations that are there by some columns already. `watch` is told of the facts of
    loops, as `inspect` tells them.
    """

    def __init__(
        self,
        flow: FlowBuilder,
        plan: RulePlan,
        given: Mapping[str, Collection],
        unit: Collection,
        sizes: Sizes,
        keyed: Keyed | None = None,
        watch: Watch | None = None,
    ) -> None:
        self._watch = watch
        self._flow = flow
        self._plan = plan
        self._given = given
        demands = {item.name: 0 for item in plan.relations if item.name.endswith("?")}
        self._sizes = {**sizes, **demands}
        self._relations = Relations(flow, plan.relations, unit, keyed)
        self._built = BuiltRules(self._relations)

    def build(self, wanted: Sequence[str]) -> BuiltRules:
        """All that the wanted relations need; what was put in before is taken as it is."""
        needed = needed_relations(self._plan, wanted, self._given)
        rules = [rule for rule in self._plan.rules if rule.head in needed]
        names = [item.name for item in self._plan.relations if item.name in needed]
        for stratum in strata(names, rules):
            own = [rule for rule in rules if rule.head in stratum.relations]
            if stratum.recursive:
                self._loop(stratum, own)
            else:
                self._plain(stratum.relations[0], own)
            self._built.strata.append(stratum)
        return self._built

    def _plain(self, name: str, rules: Sequence[Rule]) -> None:
        given = self._given.get(name)
        if not rules:
            # What nothing derives and nobody gives is empty.
            self._relations.put(name, given if given is not None else self._empty(name))
            return
        parts: list[Stage] = [] if given is None else [given]
        parts += [self._rule(rule, ()) for rule in rules]
        relation = self._relations.relation(name)
        if len(parts) == 1 and relation.best is None and _is_set(rules[0]):
            self._relations.put(name, parts[0])
            return
        self._relations.put(name, _reduced(relation, parts))

    def _loop(self, stratum: Stratum, rules: Sequence[Rule]) -> None:
        flow = self._flow
        loop = Loop(flow, flow.add_scope(", ".join(stratum.relations), 0))
        variables = {
            name: loop.variable(None, **flow_columns(self._relations.relation(name)))
            for name in stratum.relations
        }
        for name, variable in variables.items():
            self._relations.put(name, variable)
        stages: dict[str, Stage] = {}
        for name in stratum.relations:
            parts = [self._rule(rule, stratum.relations) for rule in rules if rule.head == name]
            if name in self._given:
                parts.append(self._given[name])
            stages[name] = _reduced(self._relations.relation(name), parts)
            if self._watch is not None:
                stages[name] = collection_of(stages[name]).inspect(partial(self._watch, name))
        for name, variable in variables.items():
            variable.set(collection_of(stages[name]))
        loop.close()
        for name in stratum.relations:
            self._relations.put(name, collection_of(stages[name]).leave())

    def _rule(self, rule: Rule, loop: Group[str]) -> Stage:
        """The facts of the head, each as often as it is derived."""
        order = ordered_rule(rule, self._sizes, loop)

        def orders(body: Sequence[Literal], bound: set[str]) -> tuple[Literal, ...]:
            return ordered_body(body, self._sizes, (), bound)

        before = len(self._flow.plan.nodes)
        builder = BodyBuilder(self._relations, rule.types, orders)
        wanted = {name for value in rule.values for name in variables_of(value)}
        bindings = builder.build(order, wanted)
        names = self._relations.names(rule.head)
        columns: dict[str, object] = {
            name: bindings.expression(value) for name, value in zip(names, rule.values, strict=True)
        }
        stage = mapped(bindings.stage, columns or {UNIT: 0})
        nodes = self._flow.plan.nodes
        joins = tuple(
            tuple(at for at in range(first, end) if isinstance(nodes[at], Join))
            for first, end in pairwise([before, *builder.ends])
        )
        self._built.rules.append(BuiltRule(rule, order, joins))
        return stage

    def _empty(self, name: str) -> Collection:
        columns: dict[str, object] = {}
        zeros = {"int": 0, "float": 0.0, "str": ""}
        for own, kind in self._relations.relation(name).columns:
            columns[own] = zeros[kind.value]
        unit = collection_of(self._relations.unit())
        nothing = unit.filter(col[UNIT] != 0)
        return collection_of(mapped(nothing, columns or {UNIT: 0}))


def needed_relations(plan: RulePlan, wanted: Sequence[str], given: Group[str]) -> set[str]:
    """The relations that some depend on, themselves included."""
    needed: set[str] = set()
    waiting = list(wanted)
    heads = {rule.head for rule in plan.rules}
    while waiting:
        name = waiting.pop()
        if name in needed:
            continue
        needed.add(name)
        if name in given and name not in heads:
            continue
        for rule in plan.rules:
            if rule.head == name:
                waiting += [other for other, _, _ in reads(rule.body)]
    return needed


def _is_set(rule: Rule) -> bool:
    """Whether a rule derives each of its facts once: its head tells all that its body binds."""
    named = {item.name for item in rule.values if isinstance(item, Column)}
    for item in rule.body:
        if isinstance(item, Match) and (None in item.arguments or not gives(item) <= named):
            return False
    return True


def _reduced(relation: Relation, parts: Sequence[Stage]) -> Stage:
    whole = collection_of(concatenated(parts[0], parts[1:]) if len(parts) > 1 else parts[0])
    if relation.best is None:
        return whole.distinct()
    *keys, value = relation.names
    if not keys:
        columns: dict[str, object] = {UNIT: 0, value: col[value]}
        apart = collection_of(mapped(whole, columns))
        best = apart.min(by=UNIT) if relation.best == "min" else apart.max(by=UNIT)
        return best.select(value)
    return whole.min(by=keys) if relation.best == "min" else whole.max(by=keys)


def rules_on(
    flow: FlowBuilder, text: str | PathLike[str], given: Mapping[str, Collection]
) -> dict[str, Collection]:
    """Add a program to a dataflow; the relations that it puts out."""
    plan = read_datalog(text).plan
    derived = set(plan.derived)
    for name in given:
        if name not in {item.name for item in plan.relations}:
            raise InputError(
                f"the rules have no relation '{name}'", hint=f"declare it: .decl {name}(...)"
            )
        if name in derived and name not in {item.relation for item in plan.inputs}:
            raise InputError(
                f"{name} is what rules derive, and is given",
                hint=f"give what it is derived from, or say `.input {name}` in the text",
            )
    missing = [
        item.name
        for item in plan.relations
        if item.name not in {*derived, *given, *dict(plan.facts)}
    ]
    if missing:
        raise InputError(
            f"nothing says what '{missing[0]}' holds", hint=f"give a collection: {missing[0]}=..."
        )
    sources = {name: _as_relation(plan.relation(name), item) for name, item in given.items()}
    for name, facts in plan.facts:
        own = constant_input(flow, name, plan.relation(name))
        own.insert_for_good([fact or (0,) for fact in facts])
        sources[name] = sources[name].concat(own).distinct() if name in sources else own
    unit = InputCollection(flow, flow.add(Input("unit"), 0, schema_of({UNIT: int})))
    unit.insert_for_good([(0,)])
    rewritten = demanded(plan, plan.wanted, (), asked=False)
    built = RuleBuilder(flow, rewritten, sources, unit, {}).build(plan.wanted)
    return {
        name: _without_unit(plan.relation(name), built.collection(name)) for name in plan.wanted
    }


def constant_input(flow: FlowBuilder, name: str, relation: Relation) -> InputCollection:
    node = Input(f"facts of {name}")
    return InputCollection(flow, flow.add(node, 0, schema_of(flow_columns(relation))))


def _as_relation(relation: Relation, given: Collection) -> Collection:
    """A collection under the names of a relation's columns, each record once.

    Rules keep a relation without columns as one with the column UNIT.
    """
    check_outside(given, "give")
    wanted = [kind for _, kind in relation.columns]
    if [kind for _, kind in given.schema] != wanted:
        described = ", ".join(f"{name}: {kind}" for name, kind in given.schema)
        expected = ", ".join(f"{name}: {kind}" for name, kind in relation.columns)
        raise InputError(
            f"{relation.name} is declared with ({expected}), and is given ({described})",
            hint="map the collection to those columns, or declare others",
        )
    renamed = zip(relation.names, given.names, strict=True)
    columns: dict[str, Any] = {name: col[of] for name, of in renamed}
    stage = mapped(given, columns or {UNIT: 0})
    return Collection(stage.flow, stage.number).distinct()


def _without_unit(relation: Relation, found: Collection) -> Collection:
    """What users see of a relation: one without columns has records without any."""
    return found if relation.columns else found.select()


def explain_rules(flow: FlowBuilder, built: BuiltRules, told: Callable[[str], str | None]) -> str:
    """One block a stratum; `told` says what is known of a relation besides its rules."""
    lines = [f"rules {flow.name}"]
    for number, stratum in enumerate(built.strata, start=1):
        names = ", ".join(stratum.relations)
        kind = "a loop" if stratum.recursive else "derived"
        own = [item for item in built.rules if item.rule.head in stratum.relations]
        known = "; ".join(filter(None, map(told, stratum.relations)))
        what = known or ("empty" if not own else kind)
        lines.append(f"stratum {number}: {names}, {what if not own else kind}")
        if own and known:
            lines[-1] += f", {known}"
        for item in own:
            line = f"line {item.rule.line}: " if item.rule.line else ""
            lines.append(f"  {line}{item.rule.text}")
            lines.append(f"    {_order(flow, built, item)}")
    return "\n".join(lines)


def _order(flow: FlowBuilder, built: BuiltRules, item: BuiltRule) -> str:
    bound: set[str] = set()
    steps: list[str] = []
    for literal, joins in zip(item.order, item.joins, strict=True):
        step = _step(built, literal, bound, first=not steps)
        if step:
            steps.append(step + _rows(flow, literal, joins))
        bound |= gives(literal)
    return "joins " + ", then ".join(steps) if steps else "one fact"


def _step(built: BuiltRules, literal: Literal, bound: set[str], *, first: bool) -> str:
    match literal:
        case Match() | Absent():
            names = built.relations.names(literal.relation)
            keys = [
                name
                for name, one in zip(names, literal.arguments, strict=True)
                if isinstance(one, Constant)
                or (isinstance(one, Column) and (one.name in bound or isinstance(literal, Absent)))
            ]
            sign = "!" if isinstance(literal, Absent) else ""
            way = f" by {', '.join(keys)}" if keys else "" if first else " by nothing"
            return f"{sign}{literal.relation}{way}"
        case Aggregate():
            return f"{literal.operation} by {', '.join(literal.groups) or 'nothing'}"
    return ""


def _rows(flow: FlowBuilder, literal: Literal, joins: Sequence[int]) -> str:
    if not joins:
        return ""
    # The last join of these finds the groups that have a match, and do not count 0.
    zero = isinstance(literal, Aggregate) and literal.operation in ("count", "sum")
    done = operator_counters(flow, joins[-2] if zero else joins[-1])
    away = " taken away" if isinstance(literal, Absent) else ""
    return f" [{counted(done['out'], 'row')}{away}]" if done else ""
