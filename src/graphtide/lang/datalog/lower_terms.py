"""Terms as expressions over flat variables; what is no expression becomes a literal beside it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import cast

from graphtide.lang.datalog import tree
from graphtide.lang.datalog.infer import Inference
from graphtide.lang.datalog.mistakes import refuse
from graphtide.lang.datalog.types import SYMBOL, Kind, Primitive, RecordKind, flat_kinds
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
from graphtide.plan.rule_binding import Equality, Pending, PendingAggregate

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
        """A variable that no user named."""
        name = f"#{len(self.fresh) + 1}"
        self.fresh[name] = kind
        return Column(name)

    def values(self, term: tree.Term, kind: Kind) -> list[Expression]:
        """The columns of a term of this type."""
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
        """`contains` and `match`, or that they fail."""
        given = [self._simple(item) for item in literal.arguments]
        if literal.name == "match" and isinstance(given[0], Constant):
            self._check_pattern(str(given[0].value), literal.arguments[0])
        self._truth(literal.name, given, wanted=wanted)

    def compare(self, operator: str, sides: Pairs) -> None:
        """An order, or that records or values differ."""
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
