"""Queries that come and go: a goal with some values given, on the state of a standing program.

A query is a dataflow of its own beside the program's, which imports the facts by the columns that
it looks them up by. Where nobody has looked by those before, an index is made once, and stays for
the queries to come. What the query needs of derived relations is derived by demand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphtide.engine.dataflow.value_definitions import one_nan, value_of
from graphtide.plan.dataflow_expressions import Column, ColumnType
from graphtide.plan.rule_demand import demanded
from graphtide.plan.rules import Goal, Match, Relation, Rule, RulePlan
from graphtide.run.dataflow.changes import Change
from graphtide.run.dataflow.collection import Arrangement
from graphtide.run.dataflow.flow import Dataflow
from graphtide.run.dataflow.outputs import Output
from graphtide.run.dataflow.stages import Stage
from graphtide.run.rules.build import RuleBuilder, Watch, needed_relations
from graphtide.run.rules.explain import explain_rules
from graphtide.run.rules.proofs import Proof, Prover
from graphtide.run.rules.relations import UNIT
from graphtide.run.rules.standing import StandingRules

ANSWER = "^answer"
"""No relation of a text is called so."""


class Indexes:
    """The facts of a program by the columns that queries look them up by."""

    def __init__(self, standing: StandingRules) -> None:
        self._standing = standing
        self._made: dict[tuple[str, tuple[str, ...]], Arrangement] = {}

    def of(self, name: str, keys: Sequence[str]) -> Arrangement:
        """A relation by some columns: the program's own arrangement, or an index."""
        base = self._standing.bases[name]
        wanted = tuple(keys)
        if not wanted or base.by == wanted:
            return base
        if (name, wanted) not in self._made:
            flow = Dataflow(f"{name} by {', '.join(wanted)}", beside=self._standing.flow)
            self._made[name, wanted] = flow.import_arrangement(base).arrange(wanted)
        return self._made[name, wanted]


class StandingQuery:
    """One goal, answered and kept current until it is closed."""

    def __init__(
        self,
        standing: StandingRules,
        indexes: Indexes,
        goal: Goal,
        *,
        magic: bool,
        watch: Watch | None = None,
    ) -> None:
        # By itself: a query that fails must not take facts with it.
        standing.settle()
        self._standing = standing
        self.relation = _answer(standing.plan, goal)
        plan = _with_goal(standing.plan, goal, self.relation)
        given = set(standing.facts)
        plan = demanded(plan, [ANSWER], (), asked=True) if magic else plan
        needed = needed_relations(plan, [ANSWER], standing.facts)
        self.flow = Dataflow(goal.text or goal.relation, beside=standing.flow)
        imported: dict[tuple[str, tuple[str, ...]], Arrangement] = {}

        def keyed(name: str, keys: Sequence[str]) -> Stage | None:
            if name not in given or name in plan.derived:
                return None
            place = (name, tuple(keys))
            if place not in imported:
                imported[place] = self.flow.import_arrangement(indexes.of(name, keys))
            return imported[place]

        bases = {
            name: self.flow.import_arrangement(standing.bases[name]) for name in needed & given
        }
        unit = self.flow.input("unit", **{UNIT: int})
        sizes = {name: len(item) for name, item in standing.facts.items()}
        builder = RuleBuilder(self.flow, plan, bases, unit, sizes, keyed, watch)
        self.plan = plan
        self._sides: dict[str, Output] = {}
        self._given: dict[str, Output] = {}
        try:
            self.built = builder.build([ANSWER])
            self.output = self.built.collection(ANSWER).output(ANSWER)
            if watch is not None:
                for name in sorted(needed):
                    self._sides[name] = self.built.collection(name).output(name)
                self._given = {name: bases[name].output(f"given {name}") for name in sorted(bases)}
            unit.insert([(0,)])
            self.flow.advance()
        except BaseException:
            if self.flow.dweller is None or not self.flow.host.failed:
                self.flow.close()  # Nobody else can, and the program goes on.
            raise

    def all_facts(self) -> dict[str, set[tuple[Any, ...]]]:
        """The facts of all relations that the answer needs, where it is watched."""
        return {name: self._facts(name, output) for name, output in self._sides.items()}

    def given_facts(self) -> dict[str, set[tuple[Any, ...]]]:
        """Those of them that users gave."""
        return {name: self._facts(name, output) for name, output in self._given.items()}

    def _facts(self, name: str, output: Output) -> set[tuple[Any, ...]]:
        columns = [own for own, _ in output.schema]
        order = [columns.index(own) for own in self.plan.relation(name).names]
        return {one_nan(tuple(row[at] for at in order)) for row in output.records()}

    def rows(self) -> list[tuple[Any, ...]]:
        """The values of the variables, in order."""
        return sorted(map(self._seen, self.output.records()))

    def changes(self) -> list[Change]:
        """What has come and gone since the last call."""
        return [(self._seen(row), version, diff) for row, version, diff in self.output.changes()]

    def explain(self) -> str:
        """Strata, rules and orders, demands among them."""
        return explain_rules(self.flow, self.built, self._standing.told)

    def close(self) -> None:
        """Take it out of the program's memory."""
        self.flow.close()

    def _seen(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        return row if self.relation.columns else ()


def _answer(plan: RulePlan, goal: Goal) -> Relation:
    """The relation of the answers: a column for each variable of the goal."""
    columns: dict[str, ColumnType] = {}
    for argument, (_, kind) in zip(
        goal.arguments, plan.relation(goal.relation).columns, strict=True
    ):
        if isinstance(argument, Column):
            columns.setdefault(argument.name, kind)
    return Relation(ANSWER, tuple(columns.items()))


def _with_goal(plan: RulePlan, goal: Goal, answer: Relation) -> RulePlan:
    values = tuple(Column(name) for name in answer.names)
    rule = Rule(
        ANSWER, values, (Match(goal.relation, goal.arguments),), answer.columns, None, goal.text
    )
    return RulePlan(
        (*plan.relations, answer), (*plan.rules, rule), plan.facts, plan.inputs, (), (ANSWER,)
    )


def proof_of(standing: StandingRules, indexes: Indexes, goal: Goal) -> Proof | None:
    """One proof of a fact; None where it does not hold."""
    rounds: dict[tuple[str, tuple[Any, ...]], int] = {}

    def watch(name: str, record: tuple[Any, ...], time: Any, diff: int) -> None:
        if diff > 0:
            rounds[name, one_nan(record)] = time[-1]

    query = StandingQuery(standing, indexes, goal, magic=True, watch=watch)
    facts, given, plan = query.all_facts(), query.given_facts(), query.plan
    query.close()
    fact = tuple(value_of(item, {}) for item in goal.arguments if item is not None)
    rule = next(rule for rule in plan.rules if rule.head == ANSWER)
    (atom,) = [item for item in rule.body if isinstance(item, Match)]
    return Prover(plan, facts, given, rounds).prove(atom.relation, fact)
