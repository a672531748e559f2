"""What names and attributes mean while one function of a program is read.

A scope knows the vertices, edges and local names at hand. Local names have one type in the whole
function. Where an int later receives a float, the name is widened and the function is read again:
`total = 0` may be followed by `total += e.weight`. In a walk, every vertex, edge and path that a
loop binds has a name of its own in the plan (where two loops use one name, the second gets a
number behind it), and local names stand for their values, so that the plan has none.

Parameters, state, accumulators, facts of a vertex and properties of edges stand behind a dot. Each
may be used in some of the three functions only; the errors say in which, and what to write instead.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol, TypeGuard

from graphtide.lang.python.fields import Fields
from graphtide.model.errors import LanguageError
from graphtide.model.schema import closest, name_hint
from graphtide.plan import expressions as x
from graphtide.plan.expressions import FLOAT, INT, Call, Const, EdgeProperty, Expression, ValueType
from graphtide.plan.programs import Accumulator, Direction, ParameterKind, Size, StateField
from graphtide.plan.walk_lowering import fresh_name

TYPE_WORDS = {
    ValueType.INT: "an int",
    ValueType.FLOAT: "a float",
    ValueType.BOOL: "a truth value",
    ValueType.TEXT: "a text",
    ValueType.DATE: "a date",
    ValueType.TIMESTAMP: "a timestamp",
}
_DECLARED = {ValueType.DATE: "gt.Date", ValueType.TIMESTAMP: "gt.Timestamp"}
COMPARED_ONLY = (
    "texts are compared with == and !=, or `in` a tuple of them; number what it stands for"
)


class WidenedError(Exception):
    """A local name turned out to be a float after it was read as an int: read again."""


class ErrorSource(Protocol):
    """What knows the place of a node in the user's text."""

    def error(self, node: ast.AST, what: str, hint: str | None = None) -> LanguageError:
        """The error for a mistake at a node, to be raised by the caller."""


@dataclass
class FunctionScope:
    """One function as it is being read.

    `me` is what the user calls `self`; `vertices` and `edges` are the names of those at hand, and
    what the plan calls each. `types` outlives a second reading; `assigned` are the local names that
    surely have a value at the point that is being read, and `values` are those whose value stands
    in their place.
    """

    source: ErrorSource
    fields: Fields
    function: str
    me: str
    vertices: dict[str, str]
    edges: dict[str, str]
    around: Mapping[str, object]
    values: dict[str, Expression] = field(default_factory=dict)
    types: dict[str, ValueType] = field(default_factory=dict)
    assigned: set[str] = field(default_factory=set)
    loops: list[str] = field(default_factory=list)

    def error(self, node: ast.AST, what: str, hint: str | None = None) -> LanguageError:
        return self.source.error(node, what, hint)

    def is_self(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id == self.me

    def vertex(self, node: ast.AST) -> str | None:
        """What the plan calls the vertex that a node is; None for anything else."""
        return self.vertices.get(node.id) if isinstance(node, ast.Name) else None

    def edge(self, node: ast.AST) -> str | None:
        """What the plan calls the edge that a node is; None for anything else."""
        return self.edges.get(node.id) if isinstance(node, ast.Name) else None

    def is_given(self, name: str) -> bool:
        """Whether a name has its value from the function's arguments or loops over edges."""
        return name == self.me or name in self.vertices or name in self.edges

    def at_hand(self) -> list[str]:
        return [*self.vertices, *self.edges]

    def assign(self, node: ast.AST, name: str, value: Expression) -> Expression:
        """Give a local name a value: the value converted to the name's type."""
        known = self.types.setdefault(name, value.type)
        if known is INT and value.type is FLOAT:
            self.types[name] = FLOAT
            raise WidenedError
        self.assigned.add(name)
        return self.convert(node, value, known, f"'{name}'")

    def convert(self, node: ast.AST, value: Expression, to: ValueType, what: str) -> Expression:
        """The value as what a target holds; ints become floats, all else must match."""
        if value.type is to:
            return value
        if value.type is INT and to is FLOAT:
            return as_float(value)
        hint = f"write {to}(...) around it to convert it"
        if ValueType.TEXT in (to, value.type):
            hint = COMPARED_ONLY
        elif value.type.is_moment:
            hint = "write int(...) around it to get its number"
        elif to is INT:
            hint = f"declare {what} as float, or write int(...) around the value"
        raise self.error(
            node, f"{what} is {TYPE_WORDS[to]}, and this is {TYPE_WORDS[value.type]}", hint
        )

    def undeclared(self, value: Expression, wanted: ValueType) -> str | None:
        """How to declare a property of edges that is no float; None of any other value."""
        if not isinstance(value, EdgeProperty) or value.name in self.fields.properties:
            return None
        if value.type is not FLOAT or not value.name.isidentifier():
            return None
        kind = _DECLARED.get(wanted, wanted.value)
        return (
            f"a property of edges is a float unless the class says otherwise: "
            f"`{value.name} = gt.Property({kind})`"
        )

    @contextmanager
    def loop(self, variable: str) -> Iterator[None]:
        """Inside of a loop its variable has a value; after it, neither it nor what it assigned."""
        before = set(self.assigned)
        self.types[variable] = INT
        self.assigned.add(variable)
        self.loops.append(variable)
        yield
        self.loops.pop()
        self.assigned = before


def as_float(value: Expression) -> Expression:
    """An int as a float: constants at once, all else by a call."""
    if isinstance(value, Const):
        return Const(float(value.value), FLOAT)
    return Call("float", (value,), FLOAT)


Kind = Literal["vertices", "edges"]
OVER: dict[str, tuple[Direction, bool]] = {
    "neighbours": (Direction.BOTH, False),
    "out_neighbours": (Direction.OUT, False),
    "in_neighbours": (Direction.IN, False),
    "edges": (Direction.BOTH, True),
    "out_edges": (Direction.OUT, True),
    "in_edges": (Direction.IN, True),
}
"""What loops go over: which way, and whether along each edge."""


@dataclass(frozen=True)
class WalkPath:
    """A path as the plan calls it, with its two ends."""

    name: str
    origin: str
    end: str
    edges: bool
    length: Size


@dataclass
class WalkScope(FunctionScope):
    """The `traverse` of a walk program as it is being read."""

    paths: dict[str, WalkPath] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def vertex(self, node: ast.AST) -> str | None:
        """What the plan calls a vertex: one of a loop, or `path.vertices[1]`."""
        bound = super().vertex(node)
        return self._item(node, "vertices") if bound is None else bound

    def edge(self, node: ast.AST) -> str | None:
        """What the plan calls an edge: one of a loop, or `path.edges[-1]`."""
        bound = super().edge(node)
        return self._item(node, "edges") if bound is None else bound

    def is_given(self, name: str) -> bool:
        return super().is_given(name) or name in self.paths

    def at_hand(self) -> list[str]:
        return [*super().at_hand(), *self.paths]

    def path_of(self, node: ast.AST, kind: str) -> WalkPath | None:
        """The path whose `vertices` or `edges` a node is; None for anything else."""
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if (
                attr == kind and name in self.paths
            ):
                path = self.paths[name]
                if kind == "edges" and not path.edges:
                    raise self.error(
                        node,
                        f"'{name}' visits distinct neighbours, and has no edges",
                        "repeat edges: `for v, path in u.out_edges.repeat(...)`",
                    )
                return path
        return None

    def bind_vertex(self, name: str) -> str:
        self.vertices[name] = self.fresh(name)
        return self.vertices[name]

    def bind_edge(self, name: str) -> str:
        self.edges[name] = self.fresh(name)
        return self.edges[name]

    def fresh(self, name: str) -> str:
        unused = fresh_name(name, self.used)
        self.used.add(unused)
        return unused

    def define(self, node: ast.AST, name: str, value: Expression) -> None:
        """Let a local name stand for a value from here on."""
        if name in self.values or self.is_given(name) or name in self.assigned:
            raise self.error(
                node,
                f"'{name}' has a value already, and keeps it in a walk",
                "use another name",
            )
        self.values[name] = value

    def not_reached(self, node: ast.Name) -> LanguageError:
        return self.error(
            node,
            f"the walk has not reached a vertex '{node.id}' here",
            f"here it has {', '.join(self.vertices)}; go on to another with `for {node.id} in ...`",
        )

    @contextmanager
    def block(self) -> Iterator[None]:
        """What is bound and assigned inside has no value behind it."""
        before = self.vertices, self.edges, self.paths, self.values
        self.vertices, self.edges = dict(self.vertices), dict(self.edges)
        self.paths, self.values = dict(self.paths), dict(self.values)
        yield
        self.vertices, self.edges, self.paths, self.values = before

    def _item(self, node: ast.AST, kind: Kind) -> str | None:
        match node:
            case ast.Subscript(value=owner, slice=index) if not isinstance(index, ast.Slice):
                path = self.path_of(owner, kind)
                return None if path is None else self._at(path, kind, index)
            case _:
                return None

    def _at(self, path: WalkPath, kind: Kind, index: ast.expr) -> str:
        at = constant_int(index)
        if at is None:
            raise self.error(
                index,
                "an item of a path stands at a fixed place",
                f"write `.{kind}[1]`, `.{kind}[-1]`, or `for x in path.{kind}` within all(...)",
            )
        if isinstance(path.length, int):
            count = path.length + (kind == "vertices")
            if not -count <= at < count:
                raise self.error(
                    index,
                    f"a path of {path.length} steps has no {kind}[{at}]",
                    f"they are {kind}[0] to {kind}[{count - 1}]",
                )
        if kind == "vertices" and at in (0, -1):
            return path.end if at else path.origin
        return f"{path.name}.{kind}[{at}]"


def is_walk(scope: FunctionScope) -> TypeGuard[WalkScope]:
    return isinstance(scope, WalkScope)


def constant_int(node: ast.expr | None) -> int | None:
    """The number that is written there; None if it is anything else."""
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            return -value
        case _:
            return None


FACTS: tuple[x.Fact, ...] = ("id", "out_degree", "in_degree", "degree")

_SETS = {f"{way}{what}" for way in ("", "out_", "in_") for what in ("neighbours", "edges")}


def read_attribute(node: ast.Attribute, scope: FunctionScope) -> x.Expression | None:
    """The value of `self.x`, `e.x`, `u.x` or `v.x` where x is no array; None of anything else."""
    vertex, edge = scope.vertex(node.value), scope.edge(node.value)
    if vertex is not None:
        return read_vertex_attribute(node, vertex, None, scope)
    if edge is not None:
        _check_edge_name(node, scope)
        return x.EdgeProperty(node.attr, scope.fields.properties.get(node.attr, x.FLOAT), edge)
    return _read_self(node, scope) if scope.is_self(node.value) else None


def _check_edge_name(node: ast.Attribute, scope: FunctionScope) -> None:
    name = node.attr
    if name in scope.fields.vertex_properties:
        raise scope.error(
            node,
            f"'{name}' is declared as a property of vertices",
            f"write {' or '.join(f'{vertex}.{name}' for vertex in scope.vertices)}; "
            f'a property of the edge with this name is e["{name}"]',
        )


def read_vertex_attribute(
    node: ast.Attribute, vertex: x.Vertex, index: x.Expression | None, scope: FunctionScope
) -> x.Expression:
    name = node.attr
    if name in FACTS and index is None:
        return x.VertexFact(vertex, name)
    if name in scope.fields.state:
        item = scope.fields.state[name]
        check_index(node, item, index, scope)
        return x.StateRef(vertex, name, item.type, index)
    if name in scope.fields.accumulators:
        return _read_accumulator(node, vertex, index, scope)
    if name in scope.fields.vertex_properties:
        return replace(scope.fields.vertex_properties[name], vertex=vertex)
    raise unknown_attribute(node, scope)


def check_index(
    node: ast.AST, item: StateField | Accumulator, index: x.Expression | None, scope: FunctionScope
) -> None:
    """Arrays need an index and scalars have none; a constant index is within the array."""
    if item.size is None:
        if index is not None:
            raise scope.error(
                node, f"'{item.name}' is no array", "declare it with a size, or leave the index out"
            )
        return
    if index is None:
        raise scope.error(
            node,
            f"'{item.name}' is an array of {item.size}, and is used one element at a time",
            f"write `for k in range({_length_text(item.size)})` and `{item.name}[k]`",
        )
    size = item.size if isinstance(item.size, int) else None
    if isinstance(index, x.Const) and (index.value < 0 or (size and index.value >= size)):
        raise scope.error(
            node,
            f"{index.value} is outside of '{item.name}'",
            f"its elements are 0 to {f'{size - 1}' if size else f'{item.size} - 1'}",
        )


def array_length(node: ast.expr, scope: FunctionScope) -> x.Expression:
    """The value of `len(v.x)`: a constant, or the parameter that is its size."""
    if isinstance(node, ast.Attribute) and scope.vertex(node.value) is not None:
        field = scope.fields.state.get(node.attr) or scope.fields.accumulators.get(node.attr)
        if field is not None and field.size is not None:
            size = field.size
            return x.ParameterRef(size, x.INT) if isinstance(size, str) else x.Const(size, x.INT)
    hint = "write len(v.x) with x declared with a size"
    if isinstance(node, ast.Attribute) and node.attr in _SETS and scope.vertex(node.value):
        hint = "v.degree, v.out_degree and v.in_degree count edges; distinct neighbours are "
        hint += "counted in a loop, `for w in v.neighbours: v.found(1)`"
    raise scope.error(node, "only arrays of a vertex have a length", hint)


def unknown_attribute(node: ast.Attribute, scope: FunctionScope) -> LanguageError:
    name = node.attr
    properties = scope.fields.vertex_properties
    known = [*scope.fields.state, *scope.fields.accumulators, *properties, *FACTS]
    near = closest(name, known)
    if name in _SETS:
        hint = "a walk loops over it, `for w in v.neighbours`, or asks `w in v.neighbours`"
        return scope.error(node, f"'{name}' of a vertex is no value", hint)
    if name in {**scope.fields.parameters, **scope.fields.globals, **scope.fields.matches}:
        hint = f"'{name}' is no part of a vertex: write self.{name}"
        if name in scope.fields.parameters:
            hint = f"'{name}' is a parameter, for nothing assigns v.{name}: write self.{name}; "
            kind = _word(scope, name)
            hint += f"if the vertices have it, declare `{name} = gt.VertexProperty({kind})`"
    elif name in scope.fields.properties:
        hint = f"'{name}' is declared as a property of edges: gt.VertexProperty is for vertices"
    elif name in properties:
        hint = "it is a property, which is one value and no array"
    elif near:
        hint = f"did you mean `{near}`?"
    else:
        hint = f"declare it in the class: `{name}: float = 0.0` for state, "
        hint += f"`{name} = gt.Sum(float)` for an accumulator, "
        hint += (
            f"`{name} = gt.VertexProperty(float)` for a property of the data, or of str, int, ..."
        )
    return scope.error(node, f"a vertex has no '{name}'", hint)


def _word(scope: FunctionScope, name: str) -> str:
    kind = scope.fields.parameters[name].kind.value
    return kind if kind in ("int", "float", "bool", "str") else "float"


def _read_self(node: ast.Attribute, scope: FunctionScope) -> x.Expression:
    name = node.attr
    if name == "iteration":
        if scope.function == "update":
            return x.Iteration()
        raise scope.error(
            node, f"{scope.function} does not know the iteration", "only `update` does"
        )
    if name in scope.fields.globals:
        return read_global(node, None, scope)
    parameter = scope.fields.parameters.get(name)
    if parameter is None:
        raise scope.error(node, f"the program has no parameter '{name}'", _self_hint(name, scope))
    if parameter.kind is ParameterKind.PAIRS:
        raise scope.error(
            node,
            f"'{name}' is a list of pairs, and can only be asked for the source at hand",
            f"write `self.{name}.source`",
        )
    if parameter.kind is ParameterKind.VERTICES:
        raise scope.error(
            node,
            f"'{name}' is a set of vertices, and can only be asked what is in it",
            f"write `v in self.{name}`",
        )
    whole = parameter.kind is ParameterKind.VERTEX
    return x.ParameterRef(name, x.INT if whole else x.ValueType(parameter.kind.value))


def read_global(
    node: ast.Attribute, index: x.Expression | None, scope: FunctionScope
) -> x.Expression:
    item = scope.fields.globals[node.attr]
    if scope.function != "update":
        raise scope.error(
            node,
            f"'{node.attr}' cannot be read in {scope.function}",
            "it is complete, and can be read, in `update`",
        )
    check_index(node, item, index, scope)
    return x.GlobalRef(node.attr, item.type, index)


def read_of_parameter(
    node: ast.Attribute, owner: ast.Attribute, scope: FunctionScope
) -> x.Expression:
    """The value of `self.pairs.source`; no other parameter has anything of its own."""
    parameter = scope.fields.parameters.get(owner.attr)
    if parameter is None or parameter.kind is not ParameterKind.PAIRS:
        _read_self(owner, scope)
        raise scope.error(
            node, f"'{owner.attr}' has nothing of its own", f"write self.{owner.attr}"
        )
    if node.attr != "source":
        raise scope.error(
            node,
            f"a list of pairs has no '{node.attr}'",
            f"write `self.{owner.attr}.source`: results are given for the targets",
        )
    return x.PairSource(owner.attr)


def _self_hint(name: str, scope: FunctionScope) -> str:
    fields = scope.fields
    if name in fields.matches:
        return f"rows are reported in `traverse`: self.{name}(u, v)"
    if name in {**fields.state, **fields.accumulators, **fields.vertex_properties}:
        return f"'{name}' belongs to a vertex: write v.{name}"
    return name_hint(name, scope.fields.parameters, f"declare it in the class: `{name}: float`")


def _read_accumulator(
    node: ast.Attribute, vertex: x.Vertex, index: x.Expression | None, scope: FunctionScope
) -> x.Expression:
    item = scope.fields.accumulators[node.attr]
    if scope.function != "update":
        raise scope.error(
            node,
            f"the accumulator '{node.attr}' cannot be read in {scope.function}",
            "it is complete, and can be read, in `update`",
        )
    check_index(node, item, index, scope)
    return x.AccumulatorRef(node.attr, item.type, index)


def _length_text(size: Size) -> str:
    return str(size) if isinstance(size, int) else f"self.{size}"
