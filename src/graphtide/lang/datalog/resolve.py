"""A whole Datalog text as a plan: declarations and rules checked against each other.

LanguageError at the place of the first mistake: a relation that is not declared, a wrong number of
arguments, a wrong type, a variable that nothing binds, a relation that depends on its own negation.

Of all that Soufflé lets a rule `d(x, a) <= d(x, b) :- b <= a.` say, the least and the greatest
last attribute are supported: what stays then does not depend on the order in which facts are
derived. A loop may read such a best value only where a better one loses nothing: the value may
flow into the value of a head of the same kind by what grows with it, may be held below a limit
(for a least value) or above one, and is used for nothing else there. Then the loop has one answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphtide.lang.datalog import tree
from graphtide.lang.datalog.lower_rule import TermLowering, lower_rule
from graphtide.lang.datalog.mistakes import offered, refuse
from graphtide.lang.datalog.tree import Comparison, Subsumption, Variable, unparse_literal
from graphtide.lang.datalog.tree import Rule as RuleText
from graphtide.lang.datalog.types import (
    NUMBER,
    REAL,
    SYMBOL,
    VERTEX,
    Inference,
    Kind,
    TypeTable,
    flat_kinds,
)
from graphtide.plan import rules as plan
from graphtide.plan.dataflow_expressions import TEXT, Column, Constant, Expression, Operation
from graphtide.plan.rules import Best, Relation, strata, unstratified

_SUBSUMPTION_HINT = (
    "write `d(x, a) <= d(x, b) :- b <= a.` for the least last attribute, `a <= b` for the most"
)


def best_of(rule: Subsumption, relation: Relation) -> Best:
    """Whether the least or the greatest value of the last column stays."""
    less, more = rule.dominated, rule.dominating
    names = [
        [item.name for item in atom.arguments if isinstance(item, Variable)]
        for atom in (less, more)
    ]
    one, other = names
    whole = len(less.arguments) == len(one) == len(other) == len(relation.columns)
    if less.relation != more.relation or not whole or not one or one[:-1] != other[:-1]:
        raise refuse(
            "two facts of one relation, equal but for the last attribute", rule, _SUBSUMPTION_HINT
        )
    if len(set(one)) < len(one) or one[-1] == other[-1]:
        raise refuse("a name stands here twice", rule, _SUBSUMPTION_HINT)
    if relation.columns[-1][1] is TEXT:
        raise refuse("the last attribute is a symbol", rule, "keep the least of a number or float")
    return _direction(rule, one[-1], other[-1])


def _direction(rule: Subsumption, dominated: str, dominating: str) -> Best:
    if len(rule.body) == 1 and len(rule.body[0]) == 1:
        condition = rule.body[0][0]
        if isinstance(condition, Comparison) and isinstance(condition.left, Variable):
            right = condition.right.name if isinstance(condition.right, Variable) else ""
            sides = (condition.left.name, right)
            if condition.operator in ("<=", "<", ">=", ">"):
                ascending = condition.operator in ("<=", "<")
                if sides == (dominating, dominated):
                    return "min" if ascending else "max"
                if sides == (dominated, dominating):
                    return "max" if ascending else "min"
    raise refuse("this compares something else than the last attributes", rule, _SUBSUMPTION_HINT)


_MONOTONE_HINT = (
    "in a loop, a least value may be added to, and be held below a limit (`d + w < 10`); "
    "read it for anything else in a relation that the loop does not read"
)


def check_monotone(
    relations: Sequence[plan.Relation], rules: Sequence[plan.Rule], places: Sequence[RuleText]
) -> None:
    """LanguageError at the first rule of a loop that could lose by a better value."""
    best = {item.name: item.best for item in relations if item.best is not None}
    if not best:
        return
    names = [item.name for item in relations]
    for stratum in strata(names, rules):
        within = set(stratum.relations)
        if not stratum.recursive:
            continue
        for rule, place in zip(rules, places, strict=True):
            if rule.head in within and not _is_monotone(rule, best, within):
                raise refuse(
                    f"{rule.head} could lose by a better value of what it reads",
                    place,
                    _MONOTONE_HINT,
                )


def _is_monotone(rule: plan.Rule, best: dict[str, plan.Best], within: set[str]) -> bool:
    grows: dict[str, plan.Best] = {}
    for item in rule.body:
        kind = best.get(item.relation) if isinstance(item, plan.Match) else None
        if isinstance(item, plan.Match) and kind is not None and item.relation in within:
            last = item.arguments[-1]
            if isinstance(last, Constant) or (isinstance(last, Column) and last.name in grows):
                return False
            if isinstance(last, Column):
                grows[last.name] = kind
    if not _assigned(rule.body, grows) or not all(_keeps(item, grows) for item in rule.body):
        return False
    *keys, value = rule.values if rule.values else (None,)
    if any(name in grows for item in keys if item is not None for name in plan.variables_of(item)):
        return False
    if value is None or not _uses(value, grows):
        return True
    return _follows(value, grows) == best.get(rule.head) is not None


def _assigned(body: Sequence[plan.Literal], grows: dict[str, plan.Best]) -> bool:
    """Note what gets better with what; False where an assignment may get worse by it."""
    waiting = [item for item in body if isinstance(item, plan.Assign)]
    while True:
        ready = [item for item in waiting if _uses(item.value, grows)]
        if not ready:
            return True
        for item in ready:
            kind = _follows(item.value, grows)
            if kind is None:
                return False
            grows[item.variable] = kind
        waiting = [item for item in waiting if item not in ready]


def _keeps(item: plan.Literal, grows: dict[str, plan.Best]) -> bool:
    """Whether a literal still holds when values get better."""
    match item:
        case plan.Match():
            # A value that stands in two atoms, or in a key, is compared for equality.
            used = [one.name for one in item.arguments if isinstance(one, Column)]
            return sum(name in grows for name in used) <= 1 and not any(
                name in grows for name in used[:-1]
            )
        case plan.Test() if _uses(item.condition, grows):
            return _bounded(item.condition, grows)
        case plan.Absent() | plan.Call() | plan.Aggregate():
            return not plan.needs(item) & set(grows)
    return True


def _bounded(condition: Expression, grows: dict[str, plan.Best]) -> bool:
    if not isinstance(condition, Operation) or condition.name not in ("<", "<="):
        return False
    left, right = condition.operands
    if _uses(left, grows) and _uses(right, grows):
        return False
    if _uses(left, grows):
        return _follows(left, grows) == "min"
    return _follows(right, grows) == "max"


def _follows(value: Expression, grows: dict[str, plan.Best]) -> plan.Best | None:
    """The kind of a value that gets better when those in it do; None where that is not sure."""
    match value:
        case Column():
            return grows.get(value.name)
        case Operation("+" | "min" | "max", operands):
            kinds = {_follows(item, grows) for item in operands if _uses(item, grows)}
            return kinds.pop() if len(kinds) == 1 else None
        case Operation("-", (left, right)) if not _uses(right, grows):
            return _follows(left, grows)
        case Operation("*", (left, right)):
            for one, other in ((left, right), (right, left)):
                match other:
                    case Constant(int() | float() as factor) if factor >= 0:
                        return _follows(one, grows)
    return None


def _uses(value: Expression, grows: dict[str, plan.Best]) -> bool:
    return any(name in grows for name in plan.variables_of(value))


_SETTINGS = {
    "input": ("IO", "filename", "delimiter", "headers"),
    "output": ("IO", "filename", "delimiter", "headers"),
    "printsize": (),
}


def lower_datalog(program: tree.ProgramText) -> plan.RulePlan:
    return _Resolving(program).resolved()


def lower_goal(atom: tree.Atom, relations: Iterable[plan.Relation]) -> plan.Goal:
    """A query against the relations of a plan: variables, values and `_`, column by column."""
    by_name = {item.name: item for item in relations}
    if atom.relation not in by_name:
        hint = offered(atom.relation, by_name, "relations")
        raise refuse(f"there is no relation '{atom.relation}'", atom, hint)
    relation = by_name[atom.relation]
    if any(isinstance(item, tree.Record) for item in atom.arguments):
        hint = f"write {relation.name}({', '.join(relation.names)}) with values for some of these"
        raise refuse("a query is given the fields of a record one by one", atom, hint)
    kinds = _kinds_of(relation)
    inference = Inference({relation.name: kinds})
    inference.learn([atom])
    terms = TermLowering(inference, lambda _body, _inner: None)
    arguments = terms.arguments(atom, kinds)
    if terms.out:
        raise refuse("a query takes variables and values", atom, "ask for the values themselves")
    return plan.Goal(atom.relation, arguments, unparse_literal(atom))


class _Resolving:
    def __init__(self, program: tree.ProgramText) -> None:
        self._program = program
        self._types = TypeTable(program)
        self._declared: dict[str, tuple[Kind, ...]] = {}
        self._relations: dict[str, plan.Relation] = {}
        for item in program.statements:
            if isinstance(item, tree.RelationDeclaration):
                self._declare(item)
        self._rules: list[plan.Rule] = []
        self._places: list[tree.Rule] = []
        self._facts: dict[str, dict[plan.Fact, None]] = {}

    def resolved(self) -> plan.RulePlan:
        for item in self._program.statements:
            if isinstance(item, tree.Rule):
                self._rule(item)
            elif isinstance(item, tree.Subsumption):
                self._subsumption(item)
        self._check_strata()
        relations = tuple(self._relations.values())
        check_monotone(relations, self._rules, self._places)
        files = {kind: self._files(kind) for kind in _SETTINGS}
        return plan.RulePlan(
            relations,
            tuple(self._rules),
            tuple((name, tuple(facts)) for name, facts in self._facts.items()),
            files["input"],
            files["output"],
            tuple(item.relation for item in files["printsize"]),
            tuple(
                lower_goal(item.atom, relations)
                for item in self._program.statements
                if isinstance(item, tree.Query)
            ),
        )

    def _declare(self, item: tree.RelationDeclaration) -> None:
        names = [attribute.name for attribute in item.attributes]
        for attribute in item.attributes:
            if names.count(attribute.name) > 1:
                raise refuse(
                    f"two attributes are called '{attribute.name}'", attribute, "rename one"
                )
        kinds = tuple(self._types.of(attribute) for attribute in item.attributes)
        flat = [
            column
            for attribute, kind in zip(item.attributes, kinds, strict=True)
            for column in flat_kinds(kind, attribute.name)
        ]
        columns = tuple((name, kind.column) for name, kind in flat)
        vertices = tuple(name for name, kind in flat if kind is VERTEX)
        for name in item.names:
            if name in self._declared:
                raise refuse(f"relation '{name}' is declared twice", item, "rename one")
            self._declared[name] = kinds
            self._relations[name] = plan.Relation(name, columns, None, vertices)

    def _rule(self, rule: tree.Rule) -> None:
        for lowered in lower_rule(rule, self._declared):
            constants = [item for item in lowered.values if isinstance(item, Constant)]
            if not lowered.body and len(constants) == len(lowered.values):
                fact = tuple(item.value for item in constants)
                self._facts.setdefault(lowered.head, {})[fact] = None
            else:
                self._rules.append(lowered)
                self._places.append(rule)

    def _subsumption(self, item: tree.Subsumption) -> None:
        name = item.dominated.relation
        Inference(self._declared).learn([item.dominated, item.dominating])
        relation = self._relations[name]
        if relation.best is not None:
            raise refuse(f"{name} has two such rules", item, "one says which value stays")
        self._relations[name] = plan.Relation(
            name, relation.columns, best_of(item, relation), relation.vertices
        )

    def _check_strata(self) -> None:
        loop = unstratified(list(self._relations), self._rules)
        if loop is None:
            return
        place, name, way = loop
        circle = " -> ".join([self._rules[place].head, f"!{name}", *way[1:]])
        raise refuse(
            f"{name} is read under `!` or in an aggregate, and depends on the head: {circle}",
            self._places[place],
            "what is negated or aggregated must be derived without this rule",
        )

    def _files(self, kind: str) -> tuple[plan.FileOf, ...]:
        files = []
        for item in self._program.statements:
            if isinstance(item, tree.Directive) and item.kind == kind:
                for name, value in item.settings:
                    self._check_setting(item, name, value)
                for name in item.relations:
                    if name not in self._relations:
                        hint = offered(name, self._relations, "relations")
                        raise refuse(f"there is no relation '{name}'", item, hint)
                    files.append(plan.FileOf(name, item.settings))
        return tuple(files)

    def _check_setting(self, item: tree.Directive, name: str, value: str) -> None:
        known = _SETTINGS[item.kind]
        if name not in known:
            hint = f"it takes {', '.join(known)}" if known else "it takes none"
            raise refuse(f".{item.kind} has no setting '{name}'", item, hint)
        if name == "IO" and value not in ("file", *(("stdout",) if item.kind == "output" else ())):
            raise refuse(f"facts cannot come or go by {value!r}", item, "use files: IO=file")


def _kinds_of(relation: plan.Relation) -> tuple[Kind, ...]:
    """The types of the columns, records taken apart."""
    by_column = {item.column: item for item in (NUMBER, REAL, SYMBOL)}
    return tuple(
        VERTEX if name in relation.vertices else by_column[kind] for name, kind in relation.columns
    )
