"""A program of rules over collections that users have: its relations are collections in turn."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

from graphtide.lang.datalog.program import read_datalog
from graphtide.model.errors import InputError
from graphtide.plan.dataflow import Input
from graphtide.plan.dataflow_terms import col
from graphtide.plan.rule_demand import demanded
from graphtide.plan.rules import Relation
from graphtide.run.dataflow.collection import Collection
from graphtide.run.dataflow.growing import GrowingFlow, schema_of
from graphtide.run.dataflow.inputs import InputCollection
from graphtide.run.dataflow.stages import check_outside, mapped
from graphtide.run.rules.build import RuleBuilder
from graphtide.run.rules.relations import UNIT, flow_columns


def rules_on(
    flow: GrowingFlow, text: str | PathLike[str], given: Mapping[str, Collection]
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


def constant_input(flow: GrowingFlow, name: str, relation: Relation) -> InputCollection:
    """An input for the facts of a text."""
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
