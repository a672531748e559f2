"""Random vertex programs, well typed by construction, as plans."""

from __future__ import annotations

from typing import Any, cast

from hypothesis import strategies as st

from graphtide.plan import expressions as x
from graphtide.plan import programs as p

SIZE = 3
PARAMETERS = (
    p.Parameter("here", p.ParameterKind.VERTEX),
    p.Parameter("among", p.ParameterKind.VERTICES),
    p.Parameter("ways", p.ParameterKind.PAIRS),
    p.Parameter("pi", p.ParameterKind.INT, 2),
    p.Parameter("pf", p.ParameterKind.FLOAT, 0.5),
    p.Parameter("pb", p.ParameterKind.BOOL, True),
)
STATE = (
    p.StateField("si", x.INT, -1),
    p.StateField("sf", x.FLOAT, float("inf")),
    p.StateField("sb", x.BOOL, False),
    p.StateField("ai", x.INT, 0, SIZE),
    p.StateField("af", x.FLOAT, 0.5, SIZE),
)
ACCUMULATORS = (
    p.Accumulator("least", p.AccumulatorKind.MIN, x.FLOAT),
    p.Accumulator("total", p.AccumulatorKind.SUM, x.INT),
    p.Accumulator("any", p.AccumulatorKind.OR, x.BOOL),
    p.Accumulator("count", p.AccumulatorKind.COUNT, x.INT),
    p.Accumulator("parts", p.AccumulatorKind.MAX, x.FLOAT, SIZE),
)
NUMBERS: dict[x.ValueType, list[Any]] = {
    x.INT: [-3, -1, 0, 1, 2, 5],
    x.FLOAT: [-2.0, -0.5, 0.0, 0.25, 1.0, 3.0, float("inf")],
    x.BOOL: [False, True],
}
_PROPERTY = {x.INT: "kind", x.FLOAT: "weight", x.BOOL: "open"}
_LETTER = {x.INT: "i", x.FLOAT: "f", x.BOOL: "b"}
_FACTS = ("id", "out_degree", "in_degree", "degree")
Locals = dict[str, x.ValueType]


class Writer:
    """Draws the body of one function: `initialize`, `traverse` or `update`."""

    def __init__(self, draw: Any, function: str) -> None:
        self.draw, self.function = draw, function
        self.vertices = ("u", "v") if function == "traverse" else ("v",)

    def pick(self, items: Any) -> Any:
        return self.draw(st.sampled_from(list(items)))

    def leaf(self, kind: x.ValueType, local: Locals) -> x.Expression:
        letter = _LETTER[kind]
        vertex = cast(x.Vertex, self.pick(self.vertices))
        found: list[x.Expression] = [
            x.Const(self.pick(NUMBERS[kind]), kind),
            x.ParameterRef("p" + letter, kind),
            x.StateRef(vertex, "s" + letter, kind),
        ]
        found += [x.Local(name, held) for name, held in local.items() if held is kind]
        if kind is x.BOOL:
            found.append(x.Member(vertex, "among"))
        else:
            found.append(x.StateRef(vertex, "a" + letter, kind, x.Const(1, x.INT)))
        if kind is x.INT:
            found.append(x.PairSource("ways"))
            found.append(x.VertexFact(vertex, self.pick(_FACTS)))
        return cast(x.Expression, self.pick(found + self._own(kind)))

    def _own(self, kind: x.ValueType) -> list[x.Expression]:
        """What only this function may look at."""
        found: list[x.Expression] = []
        if self.function == "traverse":
            found.append(x.EdgeProperty(_PROPERTY[kind], kind))
        if self.function == "update":
            found += [
                x.AccumulatorRef(item.name, kind, x.Const(2, x.INT) if item.size else None)
                for item in ACCUMULATORS
                if item.type is kind
            ]
            found += [x.Iteration()] if kind is x.INT else []
        return found

    def expression(self, kind: x.ValueType, local: Locals, depth: int = 2) -> x.Expression:
        def of(other: x.ValueType) -> x.Expression:
            return self.expression(other, local, depth - 1)

        form = self.pick(("leaf", "choice", "other", "other")) if depth else "leaf"
        if form == "leaf":
            return self.leaf(kind, local)
        if form == "choice":
            return x.Choice(of(x.BOOL), of(kind), of(kind))
        return self._truth(of) if kind is x.BOOL else self._number(kind, of)

    def _truth(self, of: Any) -> x.Expression:
        number = self.pick((x.INT, x.FLOAT))
        match self.pick(("order", "same", "joined", "not", "bool")):
            case "order":
                order = self.pick(("<", "<=", ">", ">=", "==", "!="))
                return x.Compare(order, of(number), of(number))
            case "same":
                return x.Compare(self.pick(("==", "!=")), of(x.BOOL), of(x.BOOL))
            case "joined":
                terms = tuple(of(x.BOOL) for _ in range(self.pick((2, 3))))
                return x.Boolean(self.pick(("and", "or")), terms)
            case "not":
                return x.Unary("not", of(x.BOOL))
            case _:
                return x.Call("bool", (of(number),), x.BOOL)

    def _number(self, kind: x.ValueType, of: Any) -> x.Expression:
        match self.pick(("binary", "binary", "extreme", "abs", "minus", "own", "converted")):
            case "binary":
                more = ("/", "**") if kind is x.FLOAT else ()
                operator = self.pick(("+", "-", "*", "//", "%", *more))
                return x.Binary(operator, of(kind), of(kind))
            case "extreme":
                return x.Call(self.pick(("min", "max")), (of(kind), of(kind)), kind)
            case "abs":
                return x.Call("abs", (of(kind),), kind)
            case "minus":
                return _negated(of(kind))
            case "own" if kind is x.INT:
                return x.Binary("**", of(x.INT), x.Const(2, x.INT))
            case "own":
                return x.Call(self.pick(("sqrt", "exp", "log")), (of(x.FLOAT),), x.FLOAT)
            case _ if kind is x.FLOAT:
                return _floating(of(x.INT))
            case _:
                function, held = self.pick(
                    (("int", x.FLOAT), ("floor", x.FLOAT), ("ceil", x.FLOAT), ("int", x.BOOL))
                )
                return x.Call(function, (of(held),), x.INT)

    def body(self, local: Locals, depth: int = 2, loops: int = 0, least: int = 0) -> p.Body:
        known = dict(local)
        statements: list[p.Statement] = []
        for _ in range(self.draw(st.integers(least, 3))):
            statements.append(self._statement(known, depth, loops))
            match statements[-1]:
                case p.AssignLocal(name, value):
                    known[name] = value.type
        return tuple(statements)

    def _statement(self, local: Locals, depth: int, loops: int) -> p.Statement:
        match self.pick(("local", "effect", "effect", "if", "for")) if depth else "effect":
            case "local":
                kind = self.pick((x.INT, x.FLOAT, x.BOOL))
                name = self.pick("xy") + _LETTER[kind]
                return p.AssignLocal(name, self.expression(kind, local))
            case "if":
                condition = self.expression(x.BOOL, local, 1)
                then = self.body(local, depth - 1, loops, least=1)
                return p.If(condition, then, self.body(local, depth - 1, loops))
            case "for":
                variable = f"k{loops}"
                start, stop = (x.Const(self.pick(range(SIZE + 1)), x.INT) for _ in range(2))
                inner = self.body({**local, variable: x.INT}, depth - 1, loops + 1)
                return p.ForRange(variable, start, stop, inner)
            case _:
                return self._effect(local, loops)

    def _effect(self, local: Locals, loops: int) -> p.Statement:
        sends = self.function == "traverse"
        item = self.pick(ACCUMULATORS if sends else STATE)
        turns = [x.Local(f"k{at}", x.INT) for at in range(loops)]
        index = self.pick([x.Const(0, x.INT), *turns]) if item.size else None
        if not sends:
            return p.AssignState(item.name, self.expression(item.type, local), index)
        if item.kind is p.AccumulatorKind.COUNT:
            return p.Send(item.name, x.Const(1, x.INT), index)
        return p.Send(item.name, self.expression(item.type, local), index)


def _negated(term: x.Expression) -> x.Expression:
    """As it is read: a constant with a sign is a constant."""
    if isinstance(term, x.Const):
        return x.Const(-term.value, term.type)
    return x.Unary("-", term)


def _floating(term: x.Expression) -> x.Expression:
    """As it is read: a constant is converted at once."""
    if isinstance(term, x.Const):
        return x.Const(float(term.value), x.FLOAT)
    return x.Call("float", (term,), x.FLOAT)


@st.composite
def programs(draw: Any) -> p.VertexProgram:
    """A whole program in which everything that is declared is also used."""
    sent = (
        p.Send("least", x.EdgeProperty("weight", x.FLOAT)),
        p.Send("total", x.Const(3, x.INT)),
        p.Send("any", x.ParameterRef("pb", x.BOOL)),
        p.Send("count", x.Const(1, x.INT)),
        p.Send("parts", x.ParameterRef("pf", x.FLOAT), x.Const(2, x.INT)),
    )
    is_here = x.Compare("==", x.VertexFact("v", "id"), x.ParameterRef("here", x.INT))
    is_source = x.Compare("==", x.VertexFact("v", "id"), x.PairSource("ways"))
    start = x.Boolean("or", (is_here, is_source, x.Member("v", "among")))
    read = (
        p.AssignState("sf", x.AccumulatorRef("least", x.FLOAT)),
        p.AssignState("si", x.AccumulatorRef("total", x.INT)),
        p.AssignState("sb", x.AccumulatorRef("any", x.BOOL)),
        p.AssignState("ai", x.AccumulatorRef("count", x.INT), x.ParameterRef("pi", x.INT)),
        p.AssignState(
            "af", x.AccumulatorRef("parts", x.FLOAT, x.Const(2, x.INT)), x.Const(0, x.INT)
        ),
    )
    return p.VertexProgram(
        name="Random",
        parameters=PARAMETERS,
        state=STATE,
        accumulators=ACCUMULATORS,
        direction=draw(st.sampled_from(p.Direction)),
        iterations=draw(st.sampled_from([1, 2, "pi"])),
        tolerance=draw(st.sampled_from([0.0, 0.25, "pf"])),
        documentation=draw(st.sampled_from(["", 'One "line".', "Two\nlines\\n."])),
        initialize=(p.AssignState("sb", start), *Writer(draw, "initialize").body({})),
        traverse=(*sent, *Writer(draw, "traverse").body({})),
        update=(*read, *Writer(draw, "update").body({})),
    )
