"""Python expressions to typed expressions of the plan.

Every kind of expression that a program may hold is one branch of `read_expression`; everything else
ends in an error that names what was written and what can be written instead. `in` asks whether a
vertex is in a set or among neighbours, or a text one of several. A walk also says something of many
vertices or edges at once:

    distinct(u, v, w)                                             no two are the same
    distinct(path.vertices[1:])
    all(e.amount > 100 for e in path.edges)                       also any, sum, min and max
    all(a.time < b.time for a, b in pairwise(path.edges))         each two that follow each other
    all(b in a.neighbours for a, b in combinations(path.vertices, 2))               any two of them
    for x in path.vertices: ...                                   as a loop, too
    [e.time for e in path.edges]                                  in a row of matches
"""

from __future__ import annotations

import ast
import builtins
import itertools
import math
from dataclasses import dataclass
from typing import Literal, cast

from graphtide.lang.python.calls import read_call
from graphtide.lang.python.declarations import distinct
from graphtide.lang.python.mistakes import outside, unsupported
from graphtide.lang.python.scope import (
    COMPARED_ONLY,
    OVER,
    TYPE_WORDS,
    FunctionScope,
    WalkScope,
    as_float,
    constant_int,
    is_walk,
    read_attribute,
    read_global,
    read_of_parameter,
    read_vertex_attribute,
    unknown_attribute,
)
from graphtide.lang.python.source import MISSING, constant, look_up
from graphtide.plan import expressions as x
from graphtide.plan.expressions import TEXT, Boolean, Compare, Expression, Joined, Member
from graphtide.plan.programs import INT_MIN, Direction, ParameterKind
from graphtide.plan.walk_lowering import different


def read_member(
    node: ast.Compare, left: ast.expr, right: ast.expr, scope: FunctionScope
) -> Expression:
    """`v in self.sources`, `v.kind in ("a", "b")`, or in a walk `w in u.neighbours`.

    LanguageError for any other question.
    """
    vertex = scope.vertex(left)
    match right:
        case ast.Attribute(value=owner, attr=name) if scope.is_self(owner):
            parameter = scope.fields.parameters.get(name)
            sets = parameter is not None and parameter.kind is ParameterKind.VERTICES
            if sets and vertex is not None:
                return Member(vertex, name)
        case ast.Attribute() if is_walk(scope):
            return _read_joined(left, right, scope)
        case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items) if items:
            if vertex is None:
                return _one_of(read_expression(left, scope), left, items, scope)
    if vertex is not None and is_walk(scope):
        raise scope.error(
            node,
            "`in` asks whether a vertex is among neighbours, or in a set of vertices that is given",
            "write `w in u.neighbours`, `w == u or w == v`, "
            "or declare `sources: gt.Vertices` and write `v in self.sources`",
        )
    raise scope.error(
        node,
        "`in` asks whether a vertex is in a set of vertices, or a text one of several",
        "declare `sources: gt.Vertices` and write `v in self.sources`, "
        'or write `v.kind in ("a", "b")`',
    )


def _read_joined(left: ast.expr, right: ast.Attribute, scope: FunctionScope) -> Expression:
    """`w in u.out_neighbours`: whether an edge leads from u to w."""
    source, target = scope.vertex(right.value), scope.vertex(left)
    way, edges = OVER.get(right.attr, (Direction.BOTH, True))
    for node, vertex in ((right.value, source), (left, target)):
        if vertex is None:
            raise scope.error(
                node,
                "the walk has not reached such a vertex here",
                f"here it has {', '.join(scope.vertices)}",
            )
    if edges:
        raise scope.error(
            right,
            "a vertex can be among the neighbours of another",
            "write `w in u.neighbours`, `w in u.out_neighbours` or `w in u.in_neighbours`",
        )
    assert source is not None
    assert target is not None
    return Joined(source, target, way.value)


def _one_of(
    value: Expression, place: ast.expr, items: list[ast.expr], scope: FunctionScope
) -> Expression:
    """A text that equals one of several; the same as comparisons joined by `or`."""
    _check_text(value, place, scope)
    comparisons: list[Expression] = []
    for item in items:
        other = read_expression(item, scope)
        _check_text(other, item, scope)
        comparisons.append(Compare("==", value, other))
    return comparisons[0] if len(comparisons) == 1 else Boolean("or", tuple(comparisons))


def _check_text(value: Expression, place: ast.expr, scope: FunctionScope) -> None:
    if value.type is not TEXT:
        raise scope.error(
            place,
            f"`in` looks for a text among texts, and this is {TYPE_WORDS[value.type]}",
            scope.undeclared(value, TEXT) or "write comparisons with == and join them by `or`",
        )


Fold = Literal["all", "any", "sum", "min", "max", "each"]

_FOLDS: tuple[tuple[object, Fold], ...] = (
    (builtins.all, "all"),
    (builtins.any, "any"),
    (builtins.sum, "sum"),
    (builtins.min, "min"),
    (builtins.max, "max"),
)
_ITEMS = "write `for e in path.edges`, `for x in path.vertices[1:]`, "
_ITEMS += "`for a, b in pairwise(path.edges)` or `for a, b in combinations(path.vertices, 2)`"


def read_along(node: ast.Call, scope: WalkScope) -> x.Expression | None:
    """The value of a call that speaks of many items; None of any other call."""
    called = look_up(node.func, scope.around)
    if called is distinct:
        return _read_distinct(node, scope)
    fold = next((name for function, name in _FOLDS if called is function), None)
    match node.args:
        case [ast.GeneratorExp() | ast.ListComp() as said] if fold is not None:
            return read_comprehension(said, fold, scope)
        case _:
            return None


def read_comprehension(
    node: ast.GeneratorExp | ast.ListComp, fold: Fold, scope: WalkScope
) -> x.OverPath:
    """`... for a, b in pairwise(path.edges)`, of which the fold makes one value."""
    if len(node.generators) != 1 or node.generators[0].ifs or node.generators[0].is_async:
        raise scope.error(node, "one plain `for` stands in a comprehension", _ITEMS)
    loop = node.generators[0]
    turns = read_turns(loop.iter, scope)
    if turns is None:
        raise scope.error(loop.iter, "a comprehension goes over the items of a path", _ITEMS)
    with scope.block():
        names = bind_turns(loop.target, turns, scope)
        value = read_expression(node.elt, scope)
    if len(names) == 2 and fold in ("min", "max"):
        raise scope.error(node, f"{fold}() of pairs may be of nothing", "use all, any or sum")
    _check_value(node, fold, value, scope)
    return x.OverPath(fold, names, turns.items, value, turns.every)


@dataclass(frozen=True)
class PathTurns:
    """What is gone over along a path: its items, each two that follow, or every two."""

    items: x.PathItems
    pairs: bool = False
    every: bool = False


def read_turns(node: ast.expr, scope: WalkScope) -> PathTurns | None:
    """`path.edges`, `pairwise(path.edges)` or `combinations(path.edges, 2)`; None of others."""
    inner, pairs, every = node, False, False
    match node:
        case ast.Call(func=function, args=[inner], keywords=[]) if (
            look_up(function, scope.around) is itertools.pairwise
        ):
            pairs = True
        case ast.Call(func=function, args=[inner, size], keywords=[]) if (
            look_up(function, scope.around) is itertools.combinations
        ):
            if constant_int(size) != 2:
                raise scope.error(size, "items are combined two at a time", _ITEMS)
            pairs = every = True
        case _:
            inner = node
    items = read_items(inner, scope)
    return None if items is None else PathTurns(items, pairs, every)


def bind_turns(target: ast.expr, turns: PathTurns, scope: WalkScope) -> tuple[str, ...]:
    """Bind what stands between `for` and `in`: the names that the plan has for it."""
    names = [item.id for item in _targets(target) if isinstance(item, ast.Name)]
    if len(names) != 1 + turns.pairs or len(_targets(target)) != len(names):
        wanted = "two names, as in `for a, b in`" if turns.pairs else "one name, as in `for e in`"
        raise scope.error(target, f"here stand {wanted}", _ITEMS)
    for name in names:
        _check_new(target, name, scope)
    if len(set(names)) < len(names):
        raise scope.error(target, "two different names stand here", _ITEMS)
    bind = scope.bind_vertex if turns.items.kind == "vertices" else scope.bind_edge
    return tuple(bind(name) for name in names)


def read_items(node: ast.expr, scope: WalkScope) -> x.PathItems | None:
    """`path.edges` or `path.vertices[1:]`; None of anything else."""
    match node:
        case ast.Attribute(attr="vertices" | "edges" as kind):
            path = scope.path_of(node, kind)
            return None if path is None else x.PathItems(path.name, _kind(kind))
        case ast.Subscript(
            value=ast.Attribute(attr="vertices" | "edges" as kind) as owner,
            slice=ast.Slice() as cut,
        ):
            path = scope.path_of(owner, kind)
            if path is None:
                return None
            return x.PathItems(path.name, _kind(kind), *_read_slice(cut, scope))
        case _:
            return None


def _read_slice(node: ast.Slice, scope: WalkScope) -> tuple[int | None, int | None]:
    ends = [constant_int(end) for end in (node.lower, node.upper)]
    written = [end for end in (node.lower, node.upper) if end is not None]
    if node.step is not None or len(written) != sum(end is not None for end in ends):
        raise scope.error(node, "a path is cut at fixed places", "write `[1:]`, `[:-1]` or `[1:3]`")
    return ends[0], ends[1]


def _read_distinct(node: ast.Call, scope: WalkScope) -> x.Expression:
    members: list[x.Vertex | x.PathItems] = []
    for item in node.args:
        vertex = scope.vertex(item)
        items = None if vertex is not None else read_items(item, scope)
        if vertex is not None:
            members.append(vertex)
        elif items is not None and items.kind == "vertices":
            members.append(items)
        else:
            raise scope.error(
                item,
                "distinct() takes vertices that the walk has reached",
                "write distinct(u, v, w) or distinct(path.vertices)",
            )
    if node.keywords or not members or (len(members) == 1 and isinstance(members[0], str)):
        raise scope.error(node, "distinct() takes two or more vertices", "write distinct(u, v, w)")
    plain = [item for item in members if isinstance(item, str)]
    return different(plain) if len(plain) == len(members) else x.Distinct(tuple(members))


def each_vertex(items: x.PathItems, scope: WalkScope) -> x.OverPath:
    """The numbers of vertices of a path, for a row of matches."""
    name = scope.fresh("x")
    return x.OverPath("each", (name,), items, x.VertexFact(name, "id"))


def _targets(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple) else [node]


def _check_new(node: ast.AST, name: str, scope: WalkScope) -> None:
    if scope.is_given(name) or name in scope.values or name in scope.assigned:
        raise scope.error(node, f"'{name}' has a value already", "use another name")


def _check_value(node: ast.AST, fold: Fold, value: x.Expression, scope: WalkScope) -> None:
    truth = fold in ("all", "any")
    if fold == "each" or truth == (value.type is x.BOOL):
        return
    wanted = "true or false" if truth else "numbers"
    raise scope.error(
        node,
        f"{fold}() is of {wanted}, and this is {TYPE_WORDS[value.type]}",
        "compare it, for example with `!= 0`" if truth else "write int(...) around it",
    )


def _kind(word: str) -> Literal["vertices", "edges"]:
    return cast(Literal["vertices", "edges"], word)


Arithmetic = Literal["+", "-", "*", "/", "//", "%", "**"]
Comparison = Literal["<", "<=", ">", ">=", "==", "!="]

_ARITHMETIC: dict[type[ast.operator], Arithmetic] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
}
_ORDERS: dict[type[ast.cmpop], Comparison] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}


def read_expression(node: ast.expr, scope: FunctionScope) -> x.Expression:
    match node:
        case ast.Constant():
            return _read_constant(node, scope)
        case ast.Name():
            return _read_name(node, scope)
        case ast.Attribute():
            return _read_attribute(node, scope)
        case ast.Subscript():
            return _read_subscript(node, scope)
        case ast.UnaryOp(op=op, operand=operand):
            return _read_unary(node, op, operand, scope)
        case ast.BinOp(left=left, op=op, right=right):
            return read_binary(
                node, op, read_expression(left, scope), read_expression(right, scope), scope
            )
        case ast.BoolOp(op=op, values=values):
            terms = tuple(read_condition(value, scope) for value in values)
            return x.Boolean("and" if isinstance(op, ast.And) else "or", terms)
        case ast.Compare():
            return _read_comparisons(node, scope)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            condition = read_condition(test, scope)
            yes, no = read_expression(body, scope), read_expression(orelse, scope)
            return x.Choice(condition, *same_type(node, yes, no, scope))
        case ast.Call():
            along = read_along(node, scope) if is_walk(scope) else None
            return read_call(node, scope, read_expression) if along is None else along
        case _:
            raise unsupported(node, scope)


def read_condition(node: ast.expr, scope: FunctionScope) -> x.Expression:
    condition = read_expression(node, scope)
    if condition.type is x.BOOL:
        return condition
    raise scope.error(
        node,
        f"a condition is true or false, and this is {TYPE_WORDS[condition.type]}",
        scope.undeclared(condition, x.BOOL) or "compare it, for example with `!= 0`",
    )


def read_index(node: ast.expr, scope: FunctionScope) -> x.Expression:
    if isinstance(node, ast.Slice | ast.Tuple):
        raise scope.error(node, "an index is one int", "take elements one at a time, in a loop")
    index = read_expression(node, scope)
    if index.type is x.INT:
        return index
    raise scope.error(
        node, f"an index is an int, and this is {TYPE_WORDS[index.type]}", "write int(...)"
    )


def read_binary(
    node: ast.AST, op: ast.operator, left: x.Expression, right: x.Expression, scope: FunctionScope
) -> x.Expression:
    """Arithmetic, with both sides made floats where one is or the operation needs it."""
    operator = _ARITHMETIC.get(type(op))
    if operator is None:
        hint = "use + - * / // % ** or and, or, not"
        hint = "write ** for a power" if isinstance(op, ast.BitXor) else hint
        raise scope.error(node, "this operator is not known in programs", hint)
    if operator == "-" and left.type is right.type and left.type.is_moment:
        left, right = (x.Call("int", (item,), x.INT) for item in (left, right))
    for side in (left, right):
        if not side.type.is_number:
            raise scope.error(node, *_NO_ARITHMETIC[side.type])
    whole_power = operator == "**" and isinstance(right, x.Const) and right.value >= 0
    if operator == "/" or (operator == "**" and not whole_power):
        left, right = (item if item.type is x.FLOAT else as_float(item) for item in (left, right))
    return x.Binary(operator, *same_type(node, left, right, scope))


_NO_ARITHMETIC = {
    x.BOOL: ("truth values have no arithmetic", "write int(...) around it to get 0 or 1"),
    x.TEXT: ("texts have no arithmetic", COMPARED_ONLY),
    x.DATE: (
        "a date has a difference to another date, and no other arithmetic",
        "write int(...) around it to get its days since 1970-01-01",
    ),
    x.TIMESTAMP: (
        "a timestamp has a difference to another timestamp, and no other arithmetic",
        "write int(...) around it to get its microseconds since 1970-01-01 00:00 UTC",
    ),
}


def same_type(
    node: ast.AST, one: x.Expression, other: x.Expression, scope: FunctionScope
) -> tuple[x.Expression, x.Expression]:
    """Two values as one type: an int beside a float becomes a float."""
    if one.type is other.type:
        return one, other
    if not (one.type.is_number and other.type.is_number):
        texts = x.TEXT in (one.type, other.type)
        hint = "convert one of them with int(...), float(...) or bool(...)"
        declare = scope.undeclared(one, other.type) or scope.undeclared(other, one.type)
        raise scope.error(
            node,
            f"{TYPE_WORDS[one.type]} and {TYPE_WORDS[other.type]} do not go together",
            declare or (COMPARED_ONLY if texts else hint),
        )
    return (as_float(one), other) if one.type is x.INT else (one, as_float(other))


def _read_constant(node: ast.Constant, scope: FunctionScope) -> x.Expression:
    value = constant(node.value)
    if value is not None:
        return value
    if isinstance(node.value, str):
        return x.Text(node.value)
    if isinstance(node.value, int):
        raise scope.error(node, "this number does not fit into 64 bits", "write it as a float")
    raise scope.error(
        node, "programs compute with int, float and bool only", "number what it stands for"
    )


def _read_name(node: ast.Name, scope: FunctionScope) -> x.Expression:
    name = node.id
    if scope.is_given(name):
        raise _bare_argument(node, scope)
    if name in scope.values:
        return scope.values[name]
    if name in scope.types:
        if name in scope.assigned:
            return x.Local(name, scope.types[name])
        raise scope.error(
            node, f"'{name}' may have no value here", "give it one before, outside of ifs and loops"
        )
    return _outside(node, scope)


def _bare_argument(node: ast.Name, scope: FunctionScope) -> Exception:
    name = node.id
    hint = f"write {name}.id for its number; a vertex itself can be compared with == and `in`"
    if name == scope.me:
        hint = "parameters are written self.name"
    elif scope.edge(node):
        hint = f"properties of the edge are written {name}.weight"
    return scope.error(node, f"'{name}' alone is no value", hint)


def _outside(node: ast.expr, scope: FunctionScope) -> x.Expression:
    """A constant from outside of the class."""
    text = ast.unparse(node)
    value = look_up(node, scope.around)
    meant = x.Text(str(value)) if isinstance(value, str) else constant(value)
    if meant is not None:
        return meant
    if text in scope.fields.parameters:
        raise scope.error(node, f"nothing here is called '{text}'", f"write self.{text}")
    if value is MISSING:
        if is_walk(scope) and isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            raise scope.not_reached(node.value)
        raise scope.error(node, f"nothing here is called '{text}'", _names_hint(scope))
    raise outside(node, value, scope)


def _names_hint(scope: FunctionScope) -> str:
    given = scope.at_hand()
    outside = "numbers and texts from outside"
    return f"there are {', '.join(given)}, self, names assigned before, and {outside}"


def _read_attribute(node: ast.Attribute, scope: FunctionScope) -> x.Expression:
    reference = read_attribute(node, scope)
    if reference is not None:
        return reference
    match node.value:
        case ast.Attribute(value=owner) as inner if scope.is_self(owner):
            return read_of_parameter(node, inner, scope)
    return _outside(node, scope)


def _read_subscript(node: ast.Subscript, scope: FunctionScope) -> x.Expression:
    match node.value:
        case owner if (edge := scope.edge(owner)) is not None:
            return _quoted_property(node, edge, scope)
        case ast.Attribute(value=owner) as attribute if (vertex := scope.vertex(owner)) is not None:
            if attribute.attr not in {**scope.fields.state, **scope.fields.accumulators}:
                raise unknown_attribute(attribute, scope)
            index = read_index(node.slice, scope)
            return read_vertex_attribute(attribute, vertex, index, scope)
        case ast.Attribute(value=owner, attr=name) as attribute if (
            scope.is_self(owner) and name in scope.fields.globals
        ):
            return read_global(attribute, read_index(node.slice, scope), scope)
    value = look_up(node.value, scope.around)
    if value is not MISSING and not isinstance(value, int | float | str):
        raise outside(node.value, value, scope)
    raise scope.error(
        node, "only arrays of a vertex have elements", "declare one: `x = gt.State(float, size=8)`"
    )


def _quoted_property(node: ast.Subscript, edge: str, scope: FunctionScope) -> x.Expression:
    if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
        name = node.slice.value
        return x.EdgeProperty(name, scope.fields.properties.get(name, x.FLOAT), edge)
    raise scope.error(
        node.slice, "a property of the edge has a fixed name", 'write e.weight or e["my weight"]'
    )


def _read_unary(
    node: ast.expr, op: ast.unaryop, operand: ast.expr, scope: FunctionScope
) -> x.Expression:
    if isinstance(op, ast.Not):
        return x.Unary("not", read_condition(operand, scope))
    if isinstance(op, ast.Invert):
        raise scope.error(node, "`~` is not known in programs", "use `not`")
    if isinstance(op, ast.USub) and ast.unparse(operand) == str(-INT_MIN):
        return x.Const(INT_MIN, x.INT)
    inner = read_expression(operand, scope)
    if inner.type is x.BOOL:
        raise scope.error(node, "truth values have no sign", "use `not`")
    if not inner.type.is_number:
        raise scope.error(node, *_NO_ARITHMETIC[inner.type])
    if isinstance(op, ast.UAdd):
        return inner
    folded = constant(-inner.value) if isinstance(inner, x.Const) else None
    return folded or x.Unary("-", inner)


def _read_comparisons(node: ast.Compare, scope: FunctionScope) -> x.Expression:
    sides = [node.left, *node.comparators]
    comparisons = [
        _read_comparison(node, op, sides[at], sides[at + 1], scope)
        for at, op in enumerate(node.ops)
    ]
    return comparisons[0] if len(comparisons) == 1 else x.Boolean("and", tuple(comparisons))


def _read_comparison(
    node: ast.Compare, op: ast.cmpop, left: ast.expr, right: ast.expr, scope: FunctionScope
) -> x.Expression:
    if isinstance(op, ast.In | ast.NotIn):
        member = read_member(node, left, right, scope)
        return x.Unary("not", member) if isinstance(op, ast.NotIn) else member
    operator = _ORDERS.get(type(op))
    if operator is None:
        raise scope.error(node, "`is` is not known in programs", "use == or !=")
    same = operator in ("==", "!=")
    one, other = (_read_side(side, same or is_walk(scope), scope) for side in (left, right))
    for side, value in ((left, other), (right, one)):
        _check_beside(side, value, scope)
    if not same:
        _check_moment(node, one, other, scope)
    one, other = same_type(node, one, other, scope)
    if one.type is x.BOOL and not same:
        raise scope.error(node, "truth values have no order", "use ==, !=, and, or, not")
    if one.type is x.TEXT and not same:
        raise scope.error(node, "texts have no order in programs", COMPARED_ONLY)
    return x.Compare(operator, one, other)


def _check_moment(
    node: ast.AST, one: x.Expression, other: x.Expression, scope: FunctionScope
) -> None:
    """Refuse a moment that is written as a text beside a property that nobody declared."""
    for value, text in ((one, other), (other, one)):
        if not isinstance(text, x.Text) or scope.undeclared(value, x.DATE) is None:
            continue
        assert isinstance(value, x.EdgeProperty)
        raise scope.error(
            node,
            "texts have no order in programs, and moments are no texts",
            f"declare `{value.name} = gt.Property(gt.Date)`, and compare it with a parameter: "
            f"`since: gt.Date = {text.value!r}`, self.since",
        )


def _read_side(node: ast.expr, vertices: bool, scope: FunctionScope) -> x.Expression:
    """One side of a comparison, where a vertex may stand for its number."""
    vertex = scope.vertex(node)
    if vertices and vertex is not None:
        return x.VertexFact(vertex, "id")
    return read_expression(node, scope)


def _check_beside(side: ast.expr, value: x.Expression, scope: FunctionScope) -> None:
    """Refuse a vertex beside what users take for its id: it would be compared by its number."""
    if scope.vertex(side) is None:
        return
    named = isinstance(value, x.Const | x.Text)
    if isinstance(value, x.ParameterRef):
        named = scope.fields.parameters[value.name].kind is not ParameterKind.VERTEX
    if named:
        vertex = ast.unparse(side)
        raise scope.error(
            side,
            f"'{vertex}' is a vertex, and it is compared with {TYPE_WORDS[value.type]}",
            "name a vertex by a parameter, `source: gt.Vertex`, which is given its id; "
            f"{vertex}.id is its number inside of the graph",
        )


def is_infinite(expression: x.Expression) -> bool:
    return isinstance(expression, x.Const) and math.isinf(expression.value)
