"""A whole text as a plan: declarations and rules checked against each other.

LanguageError at the place of the first mistake: a relation that is not declared, a wrong number of
arguments, a wrong type, a variable that nothing binds, a relation that depends on its own negation.
"""

from __future__ import annotations

from collections.abc import Iterable

from graphtide.lang.datalog import tree
from graphtide.lang.datalog.infer import Inference
from graphtide.lang.datalog.lower_rule import lower_rule
from graphtide.lang.datalog.lower_terms import TermLowering
from graphtide.lang.datalog.mistakes import offered, refuse
from graphtide.lang.datalog.monotone import check_monotone
from graphtide.lang.datalog.subsumption import best_of
from graphtide.lang.datalog.types import NUMBER, REAL, SYMBOL, VERTEX, Kind, TypeTable, flat_kinds
from graphtide.lang.datalog.unparse import unparse_literal
from graphtide.plan import rules as plan
from graphtide.plan.dataflow_expressions import Constant
from graphtide.plan.rule_strata import unstratified

_SETTINGS = {
    "input": ("IO", "filename", "delimiter", "headers"),
    "output": ("IO", "filename", "delimiter", "headers"),
    "printsize": (),
}


def lower_datalog(program: tree.ProgramText) -> plan.RulePlan:
    """The plan of a program."""
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
