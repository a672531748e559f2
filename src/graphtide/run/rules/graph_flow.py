"""Rules on one graph: built, fed with its facts, and asked for the rows that they put out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphtide.engine.dataflow.machine import DEFAULT_MEMORY
from graphtide.kernels.dataflow import layout
from graphtide.lang.datalog.graph_program import EDGE, VERTEX, BoundRules
from graphtide.plan.rule_demand import demanded
from graphtide.plan.rules import Relation
from graphtide.run.dataflow.collection import Collection
from graphtide.run.dataflow.flow import Dataflow
from graphtide.run.dataflow.inputs import InputCollection
from graphtide.run.rules.build import RuleBuilder
from graphtide.run.rules.explain import explain_rules
from graphtide.run.rules.graph_facts import Columns
from graphtide.run.rules.relations import UNIT, flow_columns

RowCounts = Counter[tuple[Any, ...]]


class GraphRules:
    """The dataflow of rules over a graph; `parameters` have vertices by number."""

    def __init__(
        self,
        bound: BoundRules,
        parameters: Sequence[Any],
        *,
        memory: int = DEFAULT_MEMORY,
        debug: bool = False,
    ) -> None:
        plan = bound.program.plan
        self.flow = Dataflow(bound.program.name, memory=memory, debug=debug)
        self._inputs: dict[str, InputCollection] = {}
        given: dict[str, Collection] = {}
        for relation in plan.relations:
            if relation.name in (EDGE, VERTEX):
                # Parallel edges are one fact.
                source = self._input(relation)
                given[relation.name] = source.distinct() if relation.name == EDGE else source
        for item, vertices in zip(bound.program.parameters, parameters, strict=True):
            relation = plan.relation(item.name)
            given[item.name] = self._input(relation)
            self._put(item.name, {relation.names[0]: np.unique(np.array(vertices, np.int64))}, 1)
        for name, facts in plan.facts:
            given[name] = self._input(plan.relation(name))
            self._inputs[name].insert([fact or (0,) for fact in facts])
        unit = self.flow.input("unit", **{UNIT: int})
        unit.insert([(0,)])
        rewritten = demanded(plan, plan.wanted, (), asked=False)
        self.built = RuleBuilder(self.flow, rewritten, given, unit, {}).build(plan.wanted)
        self._outputs = {name: self.built.collection(name).output(name) for name in plan.wanted}
        self._rows_before = 0

    def feed(self, relation: str, facts: Columns | None, diff: int) -> None:
        """Let facts of the graph come (1) or go (-1) with the next advance."""
        if facts is not None and len(next(iter(facts.values()))):
            self._put(relation, facts, diff)

    def advance(self) -> dict[str, RowCounts]:
        """Go to the version that was fed; the rows that came (above 0) and left (below 0)."""
        self.flow.advance()
        counts: dict[str, RowCounts] = {}
        for name, output in self._outputs.items():
            changed: RowCounts = Counter()
            for row, _, diff in output.changes():
                changed[row] += diff
            counts[name] = changed
        return counts

    def touched(self) -> int:
        """Rows that operators have taken in since the last call."""
        crew = self.flow.host.crew
        operators = self.flow.install().installed.operators.values()
        total = sum(crew.total(item, layout.OP_IN) for item in operators)
        new, self._rows_before = total - self._rows_before, total
        return new

    def explain(self) -> str:
        """Strata, rules and orders."""
        given = self._inputs
        return explain_rules(self.flow, self.built, lambda name: "given" if name in given else None)

    def close(self) -> None:
        """Give all memory back to the system."""
        self.flow.host.end()
        self.flow.clock.flows.clear()

    def _input(self, relation: Relation) -> InputCollection:
        collection = self.flow.input(relation.name, **flow_columns(relation))
        self._inputs[relation.name] = collection
        return collection

    def _put(self, relation: str, facts: Columns, diff: int) -> None:
        self._inputs[relation]._change(facts, diff, None)
