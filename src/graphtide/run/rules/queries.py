"""Queries and proofs: a goal with some values given, on the state of a program kept current.

A query is a dataflow beside the program's, which imports the facts by the columns that it looks
them up by. Where nobody has looked by those before, an index is made once, and stays for later
queries. What the query needs of derived relations is derived by demand.

`proof_of` finds one proof of a fact. All that the fact could follow from is derived by demand in a
query of its own, which notes in which round of its loop each fact first came. Where rules read
their loop once, the first way is the shortest; where they read it twice, a fact may come late
because it was asked for late. The proof is put together from the fact down: of the ways to derive
it, one whose premises came earliest. A fact that a later one replaced, where the best of a key is
kept, is no premise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from graphtide.engine.dataflow.meaning import exact_sum, one_nan, rank, value_of
from graphtide.plan.dataflow_expressions import Column, ColumnType, Constant
from graphtide.plan.rule_demand import demanded
from graphtide.plan.rules import (
    Absent,
    Aggregate,
    Assign,
    Call,
    Goal,
    Literal,
    Match,
    Relation,
    Rule,
    RulePlan,
    Test,
    needs,
    variables_of,
)
from graphtide.run.dataflow.collection import Arrangement
from graphtide.run.dataflow.flow import Dataflow
from graphtide.run.dataflow.outputs import Change, Output
from graphtide.run.dataflow.stages import Stage
from graphtide.run.rules.bodies import UNIT
from graphtide.run.rules.build import RuleBuilder, Watch, explain_rules, needed_relations
from graphtide.run.rules.functions import called_once
from graphtide.run.rules.program import StandingRules

Fact = tuple[Any, ...]
Key = tuple[str, Fact]
Binding = dict[str, Any]

_LAST = 1 << 62
"""Of a literal that needs values which are not there yet."""


@dataclass(frozen=True)
class Proof:
    """A fact, the rule that derives it (none where it is given), and what that needs.

    `conditions` are those of the rule that are no facts: what is absent, compared or counted.
    """

    relation: str
    fact: Fact
    rule: str | None = None
    line: int = 0
    premises: tuple[Proof, ...] = ()
    conditions: tuple[str, ...] = ()
    height: int = 0
    """How many rules follow each other at most; 0 for a given fact."""

    @property
    def text(self) -> str:
        """The fact as the text of a program has it."""
        return f"{self.relation}({', '.join(map(_shown, self.fact))})"

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        """A line for each fact and condition; what a fact needs is said where it first stands.

        Facts that share premises would have exponentially many lines otherwise.
        """
        waiting: list[tuple[Proof | str, str, str]] = [(self, "", "")]
        said: set[int] = set()
        while waiting:
            item, first, rest = waiting.pop()
            if isinstance(item, str):
                yield first + item
                continue
            by = "given" if item.rule is None else f"line {item.line}: {item.rule}"
            below: list[Proof | str] = [*item.premises, *item.conditions]
            if below and id(item) in said:
                below, by = [], "see above"
            said.add(id(item))
            yield f"{first}{item.text}    {by}"
            for at, inner in reversed(list(enumerate(below))):
                branch, deeper = ("└─ ", "   ") if at == len(below) - 1 else ("├─ ", "│  ")
                waiting.append((inner, rest + branch, rest + deeper))


@dataclass
class _Way:
    """A rule with values that derives a fact, and the facts that it needs; no rule: it is given."""

    rule: Rule | None
    binding: Binding
    premises: list[Key]


@dataclass
class _OpenFact:
    """Of a fact to be proved: the ways that are left, and the one that is tried."""

    ways: Iterator[_Way]
    way: _Way | None = None


class Prover:
    """Finds proofs over facts that are all there, with the rounds in which those of loops came."""

    def __init__(
        self,
        plan: RulePlan,
        facts: Mapping[str, set[Fact]],
        given: Mapping[str, set[Fact]],
        rounds: Mapping[Key, int],
    ) -> None:
        self._plan = plan
        self._facts = facts
        self._given = given
        self._rounds = rounds
        self._found: dict[Key, Proof] = {}
        self._indexes: dict[tuple[str, tuple[int, ...]], dict[Fact, list[Fact]]] = {}

    def prove(self, relation: str, fact: Fact) -> Proof | None:
        """A proof of a fact; None where there is none.

        Ways whose premises came earlier are tried first, so that one goes back hardly ever: only
        where a best value stayed while what it came from got better.
        """
        if fact not in self._facts.get(relation, ()):
            return None
        frames = {(relation, fact): _OpenFact(self._all_ways(relation, fact))}
        while frames:
            key, frame = next(reversed(frames.items()))
            way = frame.way = frame.way or next(frame.ways, None)
            if way is None:
                del frames[key]
                if frames:
                    next(reversed(frames.values())).way = None
                continue
            lacking = next((one for one in way.premises if one not in self._found), None)
            if lacking is None:
                self._found[key] = self._made(key, way)
                del frames[key]
            elif lacking in frames:
                frame.way = None
            else:
                frames[lacking] = _OpenFact(self._all_ways(*lacking))
        return self._found.get((relation, fact))

    def _made(self, key: Key, way: _Way) -> Proof:
        shown = key[0].split("^")[0]
        if way.rule is None:
            return Proof(shown, key[1])
        premises = tuple(self._found[one] for one in way.premises)
        told = tuple(self._conditions(way.rule, way.binding))
        height = 1 + max((one.height for one in premises), default=0)
        return Proof(shown, key[1], way.rule.text, way.rule.line, premises, told, height)

    def _all_ways(self, relation: str, fact: Fact) -> Iterator[_Way]:
        """The ways to a fact, those first whose premises came early."""
        if fact in self._given.get(relation, ()):
            return iter([_Way(None, {}, [])])
        rules = [rule for rule in self._plan.rules if rule.head == relation]
        ways = [way for rule in rules for way in self._ways(rule, fact)]
        return iter(sorted(ways, key=lambda way: self._latest(way.premises)))

    def _latest(self, premises: Sequence[Key]) -> int:
        return max((self._rounds.get(key, 0) for key in premises), default=-1)

    def _ways(self, rule: Rule, fact: Fact) -> Iterator[_Way]:
        """The bindings of a rule that derive a fact, with the facts that each needs."""
        start: Binding = {}
        for value, known in zip(rule.values, fact, strict=True):
            if isinstance(value, Column) and not _same(start.setdefault(value.name, known), known):
                return
        own = {name for item in rule.values for name in variables_of(item)}
        for binding in self._solve(list(rule.body), start):
            if own <= binding.keys() and self._head(rule, binding) == fact:
                premises = [
                    (item.relation, _instance(item, binding, self))
                    for item in rule.body
                    if isinstance(item, Match) and not item.relation.endswith("?")
                ]
                yield _Way(rule, binding, premises)

    def _head(self, rule: Rule, binding: Binding) -> Fact:
        return tuple(value_of(item, binding) for item in rule.values)

    def _solve(self, body: list[Literal], start: Binding) -> Iterator[Binding]:
        """The bindings that satisfy a body, one literal after the other, the cheapest first."""
        levels = [(iter([start]), body)]
        while levels:
            solutions, left = levels[-1]
            binding = next(solutions, None)
            if binding is None:
                levels.pop()
            elif not left:
                yield binding
            else:
                chosen = min(left, key=partial(self._price, binding=binding))
                rest = [item for item in left if item is not chosen]
                levels.append((self._satisfied(chosen, binding), rest))

    def _price(self, item: Literal, binding: Binding) -> int:
        """What is decided comes first, then the atom that the fewest facts agree with.

        By how many arguments are known alone, `tc(x, y), edge(y, z)` with both ends known would
        look at all that x reaches, in each step of a chain.
        """
        if isinstance(item, Match):
            return len(self.matching(item, binding))
        return -1 if needs(item) <= binding.keys() else _LAST

    def _satisfied(self, item: Literal, binding: Binding) -> Iterator[Binding]:
        match item:
            case Match():
                for fact in self.matching(item, binding):
                    extended = _extended(item, fact, binding)
                    if extended is not None:
                        yield extended
            case Absent():
                atom = Match(item.relation, item.arguments)
                if not any(True for _ in self.matching(atom, binding)):
                    yield binding
            case Test():
                if value_of(item.condition, binding):
                    yield binding
            case Assign() | Call() | Aggregate():
                value = self._value(item, binding)
                if value is not None and _same(binding.get(item.variable, value), value):
                    yield {**binding, item.variable: value}

    def _value(self, item: Assign | Call | Aggregate, binding: Binding) -> Any:
        if isinstance(item, Assign):
            return value_of(item.value, binding)
        if isinstance(item, Call):
            given = [_known(one, binding) for one in item.arguments]
            return called_once(item.function, given)
        start = {name: binding[name] for name in item.groups}
        inner = list(self._solve(list(item.body), start))
        if item.target is None:
            return len(inner)
        values = [value_of(item.target, solution) for solution in inner]
        match item.operation:
            case "sum":
                return exact_sum(values)
            case "min":
                return min(values, key=rank, default=None)
            case _:
                return max(values, key=rank, default=None)

    def matching(self, atom: Match, binding: Binding) -> Sequence[Fact]:
        """The facts that agree with what is known of an atom."""
        places = []
        key = []
        for place, item in enumerate(atom.arguments):
            if isinstance(item, Constant):
                places.append(place)
                key.append(value_of(item, {}))
            elif isinstance(item, Column) and item.name in binding:
                places.append(place)
                key.append(binding[item.name])
        index = self._index(atom.relation, tuple(places))
        return index.get(tuple(key), [])

    def _index(self, relation: str, places: tuple[int, ...]) -> dict[Fact, list[Fact]]:
        if (relation, places) not in self._indexes:
            index: dict[Fact, list[Fact]] = {}
            for fact in sorted(self._facts.get(relation, ())):
                index.setdefault(tuple(fact[place] for place in places), []).append(fact)
            self._indexes[relation, places] = index
        return self._indexes[relation, places]

    def _conditions(self, rule: Rule, binding: Binding) -> Iterator[str]:
        for item in rule.body:
            if isinstance(item, Absent):
                known = [
                    "_" if one is None else _shown(_known(one, binding)) for one in item.arguments
                ]
                yield f"no {item.relation}({', '.join(known)})"
            elif isinstance(item, Aggregate):
                yield f"{item.operation} = {_shown(binding[item.variable])}"


def _instance(atom: Match, binding: Binding, prover: Prover) -> Fact:
    """The fact that an atom stands for; of several, where some places do not matter, the first."""
    fits = [
        fact
        for fact in prover.matching(atom, binding)
        if _extended(atom, fact, binding) is not None
    ]
    return min(fits, key=lambda fact: prover._rounds.get((atom.relation, fact), 0))


def _extended(atom: Match, fact: Fact, binding: Binding) -> Binding | None:
    extended = dict(binding)
    for item, value in zip(atom.arguments, fact, strict=True):
        if isinstance(item, Column) and not _same(extended.setdefault(item.name, value), value):
            return None
    return extended


def _same(one: Any, other: Any) -> bool:
    """Whether two values of facts are one: NaN, of which facts have one object, is itself."""
    return one is other or bool(one == other)


def _known(item: Column | Constant, binding: Binding) -> Any:
    return binding[item.name] if isinstance(item, Column) else item.value


def _shown(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


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


class RuleQuery:
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
            if self.flow.installed is None or not self.flow.host.failed:
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

    query = RuleQuery(standing, indexes, goal, magic=True, watch=watch)
    facts, given, plan = query.all_facts(), query.given_facts(), query.plan
    query.close()
    fact = tuple(value_of(item, {}) for item in goal.arguments if item is not None)
    rule = next(rule for rule in plan.rules if rule.head == ANSWER)
    (atom,) = [item for item in rule.body if isinstance(item, Match)]
    return Prover(plan, facts, given, rounds).prove(atom.relation, fact)
