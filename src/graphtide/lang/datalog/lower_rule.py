"""One rule as a plan: alternatives apart, records as columns, each variable bound by something.

Arguments that are more than a variable or a value become variables with an equality beside them.
Functions of texts and aggregates become literals of their own. Equalities that bind a variable
become assignments, and the others tests; two variables that are equal become one.

A name that stands within an aggregate alone belongs to that aggregate, so each aggregate gets names
of its own. A name that also stands around the aggregate, in the head or in the body, is one value
with that: the aggregate is computed for each such value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import cast

from graphtide.lang.datalog import tree
from graphtide.lang.datalog.mistakes import refuse
from graphtide.lang.datalog.tree import unparse_statement
from graphtide.lang.datalog.types import (
    SYMBOL,
    Inference,
    Kind,
    Primitive,
    RecordKind,
    Signatures,
    flat_kinds,
)
from graphtide.plan import rules as plan
from graphtide.plan.dataflow_expressions import (
    BOOL,
    FLOAT,
    INT,
    TEXT,
    Column,
    ColumnType,
    Constant,
    Expression,
    Operation,
    constant,
)
from graphtide.plan.rule_bodies import Equality, Pending, PendingAggregate, bound_body, unbound

Pairs = Sequence[tuple[Expression, Expression]]
_ENGINE = {"<": ("<", False), "<=": ("<=", False), ">": ("<", True), ">=": ("<=", True)}


@dataclass
class TermLowering:
    """What terms come to; `out` are the literals of the body, `fresh` the variables made here."""

    inference: Inference
    body_of: Callable[[Sequence[tree.BodyLiteral], TermLowering], None]
    out: list[Pending] = field(default_factory=list)
    fresh: dict[str, ColumnType] = field(default_factory=dict)

    def new(self, kind: ColumnType) -> Column:
        name = f"#{len(self.fresh) + 1}"
        self.fresh[name] = kind
        return Column(name)

    def values(self, term: tree.Term, kind: Kind) -> list[Expression]:
        match term:
            case tree.Variable():
                return [Column(name) for name, _ in flat_kinds(kind, term.name)]
            case tree.Record():
                assert isinstance(kind, RecordKind)
                fields = zip(term.fields, kind.fields, strict=True)
                return [value for item, (_, inner) in fields for value in self.values(item, inner)]
            case tree.Anonymous():
                return [self.new(item.column) for _, item in flat_kinds(kind, "_")]
            case tree.Literal():
                if isinstance(term.value, int) and term.value >= 1 << 63:
                    # The parser lets 2^63 pass, since behind a minus it has 64 bits.
                    what = f"{term.value} is beyond 64 bits"
                    raise refuse(what, term, "write it as a float: 1.0")
                return [constant(term.value)]
            case tree.Aggregate():
                return [self._aggregate(term)]
            case tree.Call():
                assert isinstance(kind, Primitive)
                return [self._called(term)]

    def arguments(self, atom: tree.Atom, kinds: Sequence[Kind]) -> tuple[plan.Argument, ...]:
        """The arguments of an atom, each a variable, a value or anything."""
        arguments: list[plan.Argument] = []
        for term, kind in zip(atom.arguments, kinds, strict=True):
            arguments += self._places(term, kind)
        return tuple(arguments)

    def _places(self, term: tree.Term, kind: Kind) -> list[plan.Argument]:
        if isinstance(term, tree.Anonymous):
            return [None] * len(flat_kinds(kind, "_"))
        if isinstance(term, tree.Record) and isinstance(kind, RecordKind):
            fields = zip(term.fields, kind.fields, strict=True)
            return [place for item, (_, inner) in fields for place in self._places(item, inner)]
        flat = zip(self.values(term, kind), flat_kinds(kind, "_"), strict=True)
        return [self._place(value, item.column) for value, (_, item) in flat]

    def _place(self, value: Expression, kind: ColumnType) -> plan.Argument:
        if isinstance(value, Column | Constant):
            return value
        variable = self.new(kind)
        self.out.append(Equality(variable, value))
        return variable

    def test(self, literal: tree.Test, *, wanted: bool) -> None:
        given = [self._simple(item) for item in literal.arguments]
        if literal.name == "match" and isinstance(given[0], Constant):
            self._check_pattern(str(given[0].value), literal.arguments[0])
        self._truth(literal.name, given, wanted=wanted)

    def compare(self, operator: str, sides: Pairs) -> None:
        if operator == "!=":
            both: Expression | None = None
            for left, right in sides:
                one = Operation("!=", (left, right))
                both = one if both is None else Operation("or", (both, one))
            assert both is not None
            self.out.append(plan.Test(both))
            return
        ((left, right),) = sides
        name, swapped = _ENGINE[operator]
        operands = (right, left) if swapped else (left, right)
        if any(self._is_text(item) for item in operands):
            self._truth(name, [self._variable(item, TEXT) for item in operands], wanted=True)
        else:
            self.out.append(plan.Test(Operation(name, operands)))

    def _is_text(self, value: Expression) -> bool:
        if isinstance(value, Constant):
            return value.type is TEXT
        if not isinstance(value, Column):
            return False
        kind = self.inference.kinds.get(value.name)
        if kind is None and "." in value.name:
            root = value.name.split(".")[0]
            known = self.inference.kinds.get(root)
            kind = dict(flat_kinds(known, root)).get(value.name) if known else None
        return kind is SYMBOL or self.fresh.get(value.name) is TEXT

    def _truth(self, name: str, given: Sequence[Column | Constant], *, wanted: bool) -> None:
        truth = self.new(BOOL)
        self.out.append(plan.Call(truth.name, name, tuple(given)))
        self.out.append(plan.Test(truth if wanted else Operation("not", (truth,))))

    def _simple(self, term: tree.Term) -> Column | Constant:
        kind = self.inference.known(term)
        (value,) = self.values(term, kind)
        assert isinstance(kind, Primitive)
        return self._variable(value, kind.column)

    def _variable(self, value: Expression, kind: ColumnType) -> Column | Constant:
        place = self._place(value, kind)
        assert place is not None
        return place

    def _check_pattern(self, pattern: str, where: tree.Term) -> None:
        try:
            re.compile(pattern)
        except re.error as error:
            raise refuse(
                f"this is no regular expression: {error}", where, "as Python's `re` has them"
            ) from None

    # ---- functions

    def _called(self, term: tree.Call) -> Expression:
        kind = self.inference.known(term)
        assert isinstance(kind, Primitive)
        match term.function:
            case "to_number" | "to_float" | "to_string":
                return self._converted(term, kind)
            case "cat" | "substr" | "strlen" | "^":
                given = tuple(self._simple(item) for item in term.arguments)
                variable = self.new(kind.column)
                self.out.append(plan.Call(variable.name, term.function, given))
                return variable
        operands = tuple(value for item in term.arguments for value in self.values(item, kind))
        if term.function in ("/", "%") and kind.column is INT:
            return self._divided(term.function, *operands)
        if term.function in ("min", "max"):
            found_so_far = operands[0]
            for item in operands[1:]:
                found_so_far = Operation(term.function, (found_so_far, item))
            return found_so_far
        return Operation(term.function, operands)

    def _converted(self, term: tree.Call, kind: Primitive) -> Expression:
        if len(term.arguments) != 1:
            raise refuse(f"{term.function} takes one value", term, "give it one")
        given = self.inference.known(term.arguments[0])
        if isinstance(given, RecordKind):
            raise refuse("a record cannot be converted", term, "convert its fields")
        if given.column is kind.column:
            return self.values(term.arguments[0], given)[0]
        if given is SYMBOL or kind is SYMBOL:
            variable = self.new(kind.column)
            call = plan.Call(variable.name, term.function, (self._simple(term.arguments[0]),))
            self.out.append(call)
            return variable
        (value,) = self.values(term.arguments[0], given)
        return Operation("float", (value,)) if kind.column is FLOAT else self._whole(value)

    def _whole(self, value: Expression) -> Expression:
        """A float without its fraction; NaN and what is beyond 64 bits have no value."""
        least, beyond = constant(-(2.0**63)), constant(2.0**63)
        self.out.append(plan.Test(Operation("<=", (least, value))))
        self.out.append(plan.Test(Operation("<", (value, beyond))))
        return Operation("int", (value,))

    def _divided(self, name: str, left: Expression, right: Expression) -> Expression:
        """Towards zero, as Soufflé divides; what is divided by zero has no value."""
        zero, one = constant(0), constant(1)
        self.out.append(plan.Test(Operation("!=", (right, zero))))
        floor, rest = Operation("//", (left, right)), Operation("%", (left, right))
        signs = Operation("!=", (Operation("<", (left, zero)), Operation("<", (right, zero))))
        uneven = Operation("and", (signs, Operation("!=", (rest, zero))))
        if name == "/":
            return Operation("where", (uneven, Operation("+", (floor, one)), floor))
        return Operation("where", (uneven, Operation("-", (rest, right)), rest))

    def _aggregate(self, term: tree.Aggregate) -> Expression:
        """A literal whose body is lowered apart; its groups are told once all is bound."""
        inner = TermLowering(self.inference, self.body_of, fresh=self.fresh)
        self.body_of(term.body[0], inner)
        target: Expression | None = None
        kind = self.inference.known(term)
        assert isinstance(kind, Primitive)
        if term.target is not None:
            (target,) = inner.values(term.target, kind)
        variable = self.new(kind.column)
        operation = cast(plan.AggregateName, term.operation)
        self.out.append(PendingAggregate(variable.name, operation, target, tuple(inner.out)))
        return variable


class LocalNames:
    """Renames what is local to aggregates of one rule."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def apart(
        self, heads: Iterable[tree.Atom], body: Iterable[tree.BodyLiteral]
    ) -> tuple[list[tree.Atom], list[tree.BodyLiteral]]:
        """A rule in which no two aggregates share a name that stands nowhere else."""
        listed, literals = list(heads), list(body)
        outside = {name for item in (*listed, *literals) for name in names_around(terms_of(item))}
        new = [self._literal(item, outside, {}) for item in (*listed, *literals)]
        atoms = [item for item in new[: len(listed)] if isinstance(item, tree.Atom)]
        return atoms, new[len(listed) :]

    def _literal(
        self, literal: tree.BodyLiteral, outside: set[str], renamed: dict[str, str]
    ) -> tree.BodyLiteral:
        def again(terms: tuple[tree.Term, ...]) -> tuple[tree.Term, ...]:
            return tuple(self._term(item, outside, renamed) for item in terms)

        match literal:
            case tree.Atom() | tree.Test():
                return replace(literal, arguments=again(literal.arguments))
            case tree.Comparison():
                left, right = again((literal.left, literal.right))
                return replace(literal, left=left, right=right)
            case tree.Negation():
                inner = self._literal(literal.literal, outside, renamed)
                assert isinstance(inner, tree.Atom | tree.Test)
                return replace(literal, literal=inner)
            case tree.Disjunction():
                raise AssertionError("alternatives have been taken apart")

    def _term(self, term: tree.Term, outside: set[str], renamed: dict[str, str]) -> tree.Term:
        match term:
            case tree.Variable():
                return replace(term, name=renamed.get(term.name, term.name))
            case tree.Call():
                given = tuple(self._term(item, outside, renamed) for item in term.arguments)
                return replace(term, arguments=given)
            case tree.Record():
                return replace(
                    term, fields=tuple(self._term(item, outside, renamed) for item in term.fields)
                )
            case tree.Aggregate():
                return self._aggregate(term, outside, renamed)
            case _:
                return term

    def _aggregate(
        self, term: tree.Aggregate, outside: set[str], renamed: dict[str, str]
    ) -> tree.Aggregate:
        (literals,) = term.body
        own = {name for item in literals for name in names_around(terms_of(item))}
        own |= set(names_around(() if term.target is None else (term.target,)))
        mark = next(self._numbers)
        inner = {**renamed, **{name: f"{name}@{mark}" for name in own - outside}}
        visible = outside | own
        body = tuple(self._literal(item, visible, inner) for item in literals)
        target = None if term.target is None else self._term(term.target, visible, inner)
        return replace(term, target=target, body=(body,))


def terms_of(literal: tree.BodyLiteral) -> tuple[tree.Term, ...]:
    match literal:
        case tree.Atom() | tree.Test():
            return literal.arguments
        case tree.Negation():
            return terms_of(literal.literal)
        case tree.Comparison():
            return (literal.left, literal.right)
        case tree.Disjunction():
            return tuple(term for part in literal.body for item in part for term in terms_of(item))


def names_around(terms: Iterable[tree.Term]) -> Iterator[str]:
    """The variables of terms, those within aggregates left out."""
    for term in terms:
        match term:
            case tree.Variable():
                yield term.name
            case tree.Call():
                yield from names_around(term.arguments)
            case tree.Record():
                yield from names_around(term.fields)


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
        for variable in _all_variables(terms_of(literal)):
            if variable.name == root:
                return refuse(
                    f"nothing binds '{root.split('@')[0]}'",
                    variable,
                    "let it stand in an atom that is not negated, or be equal to what is bound",
                )
    return refuse("a value of this rule is bound by nothing", head, "bind its variables by atoms")


def _all_variables(terms: Sequence[tree.Term]) -> list[tree.Variable]:
    """The variables of terms, those within aggregates included."""
    variables: list[tree.Variable] = []
    for term in terms:
        match term:
            case tree.Variable():
                variables.append(term)
            case tree.Call():
                variables += _all_variables(term.arguments)
            case tree.Record():
                variables += _all_variables(term.fields)
            case tree.Aggregate():
                variables += _all_variables(() if term.target is None else (term.target,))
                inner = [one for part in term.body for item in part for one in terms_of(item)]
                variables += _all_variables(inner)
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
        for item in body:
            self._literal(item)

    def types(self, renamed: dict[str, Expression]) -> plan.Types:
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
