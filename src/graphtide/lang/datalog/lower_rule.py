"""One rule as a plan: alternatives apart, records as columns, each variable bound by something.

Arguments that are more than a variable or a value become variables with an equality beside.
Functions of texts and aggregates become literals of their own. Of equalities, those that bind a
variable become assignments, and the rest tests; two variables that are equal become one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from graphtide.lang.datalog import tree
from graphtide.lang.datalog.infer import Inference, Signatures
from graphtide.lang.datalog.local_names import LocalNames, terms_of
from graphtide.lang.datalog.lower_terms import TermLowering
from graphtide.lang.datalog.mistakes import refuse
from graphtide.lang.datalog.types import flat_kinds
from graphtide.lang.datalog.unparse import unparse_statement
from graphtide.plan import rules as plan
from graphtide.plan.dataflow_expressions import Expression
from graphtide.plan.rule_binding import Equality, bound_body, unbound

_MOST_ALTERNATIVES = 1024


def alternatives(body: tree.Body) -> list[tuple[tree.BodyLiteral, ...]]:
    """The ways to satisfy a body, each without alternatives."""
    plain: list[tuple[tree.BodyLiteral, ...]] = []
    for part in body:
        ways: list[tuple[tree.BodyLiteral, ...]] = [()]
        for item in part:
            choices = alternatives(item.body) if isinstance(item, tree.Disjunction) else [(item,)]
            ways = [(*way, *choice) for way in ways for choice in choices]
            if len(ways) > _MOST_ALTERNATIVES:
                raise refuse(
                    f"this rule has more than {_MOST_ALTERNATIVES:,} alternatives",
                    item,
                    "give some of them a rule of their own",
                )
        plain += ways
    return plain


def lower_rule(rule: tree.Rule, relations: Signatures) -> list[plan.Rule]:
    """The plans of a rule, one for each alternative and head; LanguageError where it means none."""
    text = unparse_statement(rule)
    line = rule.span.line if rule.span else 0
    return [
        _lowered(head, body, rule, relations, (text, line))
        for body in alternatives(rule.body) or [()]
        for head in rule.heads
    ]


def _lowered(
    given: tree.Atom,
    literals: Sequence[tree.BodyLiteral],
    rule: tree.Rule,
    relations: Signatures,
    told: tuple[str, int],
) -> plan.Rule:
    (head,), body = LocalNames().apart([given], literals)
    inference = Inference(relations)
    inference.learn(body)
    inference.learn([head])
    inference.learn(body)
    clause = BodyLowering(inference)
    clause.take(body)
    values: list[Expression] = []
    for term, kind in zip(head.arguments, inference.attributes(head), strict=True):
        if isinstance(term, tree.Anonymous):
            raise refuse("`_` in a head stands for no value", term, "give it a value")
        values += clause.terms.values(term, kind)
    finished, renamed = bound_body(clause.terms.out, values)
    values = [plan.substituted(item, renamed) for item in values]
    head_needs = {name for item in values for name in plan.variables_of(item)}
    for name in unbound(finished, head_needs):
        raise _unbound_error(name, head, body)
    order = rule.order
    matches = sum(isinstance(item, plan.Match) for item in finished)
    if order is not None and sorted(order) != list(range(1, matches + 1)):
        raise refuse(
            f"the order of a rule names each of its {matches} atoms once",
            rule,
            f".plan 0:({', '.join(map(str, range(1, matches + 1)))})",
        )
    return plan.Rule(head.relation, tuple(values), finished, clause.types(renamed), order, *told)


def _unbound_error(name: str, head: tree.Atom, body: Sequence[tree.BodyLiteral]) -> Exception:
    root = name.split(".")[0]
    for literal in (head, *body):
        for variable in _variables(terms_of(literal)):
            if variable.name == root:
                return refuse(
                    f"nothing binds '{root.split('@')[0]}'",
                    variable,
                    "let it stand in an atom that is not negated, or be equal to what is bound",
                )
    return refuse("a value of this rule is bound by nothing", head, "bind its variables by atoms")


def _variables(terms: Sequence[tree.Term]) -> list[tree.Variable]:
    """The variables of terms, those within aggregates included."""
    variables: list[tree.Variable] = []
    for term in terms:
        match term:
            case tree.Variable():
                variables.append(term)
            case tree.Call():
                variables += _variables(term.arguments)
            case tree.Record():
                variables += _variables(term.fields)
            case tree.Aggregate():
                variables += _variables(() if term.target is None else (term.target,))
                inner = [one for part in term.body for item in part for one in terms_of(item)]
                variables += _variables(inner)
    return variables


@dataclass
class BodyLowering:
    """Literals of one alternative, or of an aggregate, as literals of a plan."""

    inference: Inference
    terms: TermLowering = field(init=False)

    def __post_init__(self) -> None:
        self.terms = TermLowering(self.inference, self._aggregated)

    def _aggregated(self, body: Sequence[tree.BodyLiteral], inner: TermLowering) -> None:
        found = BodyLowering(self.inference)
        found.terms = inner
        found.take(body)

    def take(self, body: Sequence[tree.BodyLiteral]) -> None:
        """Lower literals in their order."""
        for item in body:
            self._literal(item)

    def types(self, renamed: dict[str, Expression]) -> plan.Types:
        """The types of all variables of the rule."""
        types = {
            name: kind.column
            for variable, known in self.inference.kinds.items()
            for name, kind in flat_kinds(known, variable)
        }
        whole = {**types, **self.terms.fresh}
        return tuple(sorted((name, kind) for name, kind in whole.items() if name not in renamed))

    def _literal(self, literal: tree.BodyLiteral) -> None:
        terms = self.terms
        match literal:
            case tree.Atom():
                arguments = terms.arguments(literal, self.inference.attributes(literal))
                terms.out.append(plan.Match(literal.relation, arguments))
            case tree.Negation(tree.Atom() as atom):
                arguments = terms.arguments(atom, self.inference.attributes(atom))
                terms.out.append(plan.Absent(atom.relation, arguments))
            case tree.Negation(tree.Test() as test):
                terms.test(test, wanted=False)
            case tree.Test():
                terms.test(literal, wanted=True)
            case tree.Comparison("="):
                for left, right in self._sides(literal):
                    terms.out.append(Equality(left, right))
            case tree.Comparison():
                terms.compare(literal.operator, self._sides(literal))

    def _sides(self, literal: tree.Comparison) -> list[tuple[Expression, Expression]]:
        kind = self.inference.kind(literal.left) or self.inference.known(literal.right)
        for term in (literal.left, literal.right):
            if isinstance(term, tree.Anonymous):
                raise refuse("`_` is equal to anything", term, "leave the comparison out")
        left = self.terms.values(literal.left, kind)
        right = self.terms.values(literal.right, kind)
        return list(zip(left, right, strict=True))
