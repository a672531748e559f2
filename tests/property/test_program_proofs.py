"""Claims about messages, tried out: random messages, random numbers that meet the obligations."""

from __future__ import annotations

import math
from typing import Any, cast

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from graphtide.plan import expressions as x
from graphtide.plan import programs as p
from graphtide.plan.program_analysis import selection
from graphtide.plan.program_proofs import Obligation
from graphtide.plan.programs import ClosedFormError, initial_form
from tests.examples import examples
from tests.oracle.programs import run
from tests.property.program_plans import STATE, programs

STEP_VALUES = [-math.inf, -2.0, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 1.5, 3.0, math.inf]
WHOLE_VALUES = [-(2**40), -2, -1, 0, 1, 2, 7, 2**30, 2**40]
STEPS, WHOLE = st.sampled_from(STEP_VALUES), st.sampled_from(WHOLE_VALUES)
VALUES: dict[x.ValueType, Any] = {x.INT: WHOLE, x.FLOAT: STEPS, x.BOOL: st.booleans()}
NUMERIC = ("leaf", "if", "+", "+", "+", "-", "*", "//", "min", "max", "abs", "-1")
FORMS = {
    x.INT: NUMERIC,
    x.FLOAT: (*NUMERIC, "/", "*", "exp"),
    x.BOOL: ("leaf", "if", "and", "or", "not"),
}
SHAPES = {
    x.INT: ("+", "+", "-", "*", "//", "min", "max", "if", "if", "any"),
    x.FLOAT: (
        "+",
        "+",
        "-",
        "*",
        "*",
        "/",
        "//",
        "min",
        "max",
        "if",
        "if",
        "any",
        "share",
        "share",
    ),
    x.BOOL: ("if", "any"),
}


class Messages:
    """Draws expressions over the state of u and edge properties."""

    def __init__(self, draw: Any, kind: x.ValueType) -> None:
        self.draw, self.kind = draw, kind
        self.source = x.StateRef("u", "s", kind)

    def pick(self, items: Any) -> Any:
        return self.draw(st.sampled_from(list(items)))

    def leaf(self) -> x.Expression:
        constant = x.Const(self.draw(VALUES[self.kind]), self.kind)
        if self.kind is x.BOOL:
            return cast(x.Expression, self.pick((self.source, constant)))
        properties = [x.EdgeProperty(letter + str(self.kind), self.kind) for letter in "wx"]
        return cast(x.Expression, self.pick((self.source, self.source, constant, *properties)))

    def message(self, depth: int = 3) -> x.Expression:
        form = self.pick(FORMS[self.kind]) if depth else "leaf"
        match form:
            case "leaf":
                return self.leaf()
            case "if":
                return x.Choice(self._condition(depth), *self._two(depth))
            case "and" | "or":
                return x.Boolean(form, self._two(depth))
            case "not" | "-1":
                return x.Unary("not" if form == "not" else "-", self.message(depth - 1))
            case "min" | "max":
                return x.Call(form, self._two(depth), self.kind)
            case "abs" | "exp":
                return x.Call(form, (self.message(depth - 1),), self.kind)
            case _:
                return x.Binary(form, *self._two(depth))

    def changed(self) -> x.Expression:
        """A message that is more than a copy, and more often than not has a bound."""
        depth = self.pick((1, 1, 1, 2))
        form = self.pick(SHAPES[self.kind])
        inner = self.draw(st.permutations((self.source, self.message(depth - 1))))
        match form:
            case "+" | "-" | "*" | "/" | "//":
                return x.Binary(form, *inner)
            case "min" | "max":
                return x.Call(form, tuple(inner), self.kind)
            case "if":
                return x.Choice(self._condition(1), *self.draw(st.permutations(self._ways(depth))))
            case "share":
                inner = self.draw(st.permutations((self.source, self._share(2))))
                return x.Binary(self.pick(("*", "*", "*", "/")), *inner)
            case _:
                return self.message(depth)

    def _share(self, depth: int) -> x.Expression:
        """A factor of constants, choices between them, and now and then a property."""
        form = (
            self.pick(("if", "if", "*", "+", "-", "/", "min", "max", "leaf")) if depth else "leaf"
        )
        if form == "leaf":
            constant = x.Const(self.pick((0.0, 0.25, 0.5, 0.9, 1.0, 2.0, -0.5, math.inf)), x.FLOAT)
            return cast(
                x.Expression, self.pick((constant,) * 4 + (x.EdgeProperty("wfloat", x.FLOAT),))
            )
        sides = self._share(depth - 1), self._share(depth - 1)
        if form == "if":
            return x.Choice(self._condition(1), *sides)
        if form in ("min", "max"):
            return x.Call(form, sides, x.FLOAT)
        return x.Binary(form, *sides)

    def _ways(self, depth: int) -> list[x.Expression]:
        least, most = {
            x.BOOL: (False, True),
            x.INT: (-(2**63), 2**63 - 1),
            x.FLOAT: (-math.inf, math.inf),
        }[self.kind]
        edge = x.Const(self.pick((least, most)), self.kind)
        return [self.message(depth - 1), self.pick((edge, edge, self.source))]

    def _two(self, depth: int) -> tuple[x.Expression, x.Expression]:
        return self.message(depth - 1), self.message(depth - 1)

    def _condition(self, depth: int) -> x.Expression:
        if self.kind is x.BOOL:
            return self.message(depth - 1)
        return x.Compare(self.pick(("<", "<=", ">", ">=", "==")), *self._two(depth))


@st.composite
def selections(draw: Any) -> p.VertexProgram:
    """Programs of the selecting shape with any message at all."""
    kind = draw(st.sampled_from([x.INT, x.FLOAT, x.FLOAT, x.BOOL]))
    least = draw(st.booleans())
    logical = {True: p.AccumulatorKind.AND, False: p.AccumulatorKind.OR}
    ordered = {True: p.AccumulatorKind.MIN, False: p.AccumulatorKind.MAX}
    word = (logical if kind is x.BOOL else ordered)[least]
    held, offered = x.StateRef("v", "s", kind), x.AccumulatorRef("a", kind)
    update: x.Expression = x.Call("min" if least else "max", (held, offered), kind)
    if kind is x.BOOL:
        update = x.Boolean("and" if least else "or", (held, offered))
    start = {x.INT: st.sampled_from([0, -5, 1000]), x.FLOAT: STEPS, x.BOOL: st.booleans()}[kind]
    return p.VertexProgram(
        name="Tried",
        parameters=(),
        state=(p.StateField("s", kind, draw(start)),),
        accumulators=(p.Accumulator("a", word, kind),),
        initialize=(),
        traverse=(p.Send("a", Messages(draw, kind).changed()),),
        update=(p.AssignState("s", update),),
    )


def sent(program: p.VertexProgram, state: Any, properties: dict[str, Any]) -> Any:
    """What one edge carries from a vertex in that state, by the naive interpreter."""
    field = p.StateField("s", program.state[0].type, state)
    copied = p.AssignState("s", x.AccumulatorRef("a", program.state[0].type))
    plain = p.VertexProgram(
        "Once", (), (field,), program.accumulators, (), program.traverse, (copied,)
    )
    final, _ = run(plain, {}, 2, [(0, 1, properties)], iterations=1)
    return final["s"][1]


def reachable(program: p.VertexProgram) -> Any:
    """States that a vertex may come to hold: a start at zero or above, or finite, stays so."""
    kind, start = program.state[0].type, program.state[0].default
    found = VALUES[kind]
    if kind is x.FLOAT and start >= 0:
        found = found.filter(lambda value: value >= 0 and (value < math.inf or start == math.inf))
    return found


def values_for(kind: str, name: str, obligations: tuple[Obligation, ...]) -> Any:
    base: list[Any] = list(WHOLE_VALUES if kind == "int" else STEP_VALUES)
    meant = [item for item in obligations if item.subject.name == name]
    fitting = [value for value in base if all(item.holds_for(value) for item in meant)]
    assume(fitting)
    return st.sampled_from(fitting)


@given(selections(), st.data())
@settings(
    max_examples=examples(300),
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)
def test_claims_hold_where_their_obligations_do(program: p.VertexProgram, data: Any) -> None:
    found = selection(program)
    assert found is not None
    assume(found.never_overtakes.holds)
    least = found.kind is p.AccumulatorKind.MIN
    kind = program.state[0].type
    names = [] if kind is x.BOOL else [f"w{kind}", f"x{kind}"]
    for _ in range(4):
        properties = {name: data.draw(values_for(kind, name, found.obligations)) for name in names}
        held = sorted(data.draw(st.tuples(*[reachable(program)] * 2), "states"))
        messages = [sent(program, state, properties) for state in held]
        if found.monotone.holds:
            assert messages[0] <= messages[1]
        for state, message in zip(held, messages, strict=True):
            assert message >= state if least else message <= state


@given(programs())
@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
def test_closed_forms_compute_what_the_statements_compute(program: p.VertexProgram) -> None:
    scalars = tuple(item for item in STATE if item.size is None)
    try:
        form = initial_form(program)
    except ClosedFormError:
        assume(False)
    written = tuple(p.AssignLocal(f"new_{name}", value) for name, value in form.state.items())
    moved = tuple(
        p.AssignState(item.name, x.Local(f"new_{item.name}", item.type)) for item in scalars
    )
    closed = p.VertexProgram(
        "Closed", program.parameters, program.state, (), (*written, *moved), (), ()
    )
    values = {"here": 1, "among": (0, 2), "ways": 2}
    expected, _ = run(program, values, 3, [], iterations=0)
    found, _ = run(closed, values, 3, [], iterations=0)
    for item in scalars:
        assert repr(found[item.name]) == repr(expected[item.name])
