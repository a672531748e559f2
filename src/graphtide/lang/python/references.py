"""What stands behind a dot: parameters, state, accumulators, facts of a vertex, edge properties.

Each may be used in some of the three functions only; the errors say in which, and what to write
instead.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from graphtide.lang.python.scope import Scope
from graphtide.model.errors import LanguageError
from graphtide.model.schema import closest, name_hint
from graphtide.plan import expressions as x
from graphtide.plan.programs import Accumulator, ParameterKind, Size, StateField

FACTS: tuple[x.Fact, ...] = ("id", "out_degree", "in_degree", "degree")

_SETS = {f"{way}{what}" for way in ("", "out_", "in_") for what in ("neighbours", "edges")}


def read_attribute(node: ast.Attribute, scope: Scope) -> x.Expression | None:
    """The value of `self.x`, `e.x`, `u.x` or `v.x` where x is no array; None of anything else."""
    vertex, edge = scope.vertex(node.value), scope.edge(node.value)
    if vertex is not None:
        return read_vertex_attribute(node, vertex, None, scope)
    if edge is not None:
        _check_edge_name(node, scope)
        return x.EdgeProperty(node.attr, scope.fields.properties.get(node.attr, x.FLOAT), edge)
    return _read_self(node, scope) if scope.is_self(node.value) else None


def _check_edge_name(node: ast.Attribute, scope: Scope) -> None:
    name = node.attr
    if name in scope.fields.vertex_properties:
        raise scope.error(
            node,
            f"'{name}' is declared as a property of vertices",
            f"write {' or '.join(f'{vertex}.{name}' for vertex in scope.vertices)}; "
            f'a property of the edge with this name is e["{name}"]',
        )


def read_vertex_attribute(
    node: ast.Attribute, vertex: x.Vertex, index: x.Expression | None, scope: Scope
) -> x.Expression:
    """The value of `v.x` or `v.x[index]`."""
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
    node: ast.AST, item: StateField | Accumulator, index: x.Expression | None, scope: Scope
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


def array_length(node: ast.expr, scope: Scope) -> x.Expression:
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


def unknown_attribute(node: ast.Attribute, scope: Scope) -> LanguageError:
    """The error for a name that a vertex does not have."""
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


def _word(scope: Scope, name: str) -> str:
    kind = scope.fields.parameters[name].kind.value
    return kind if kind in ("int", "float", "bool", "str") else "float"


def _read_self(node: ast.Attribute, scope: Scope) -> x.Expression:
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


def read_global(node: ast.Attribute, index: x.Expression | None, scope: Scope) -> x.Expression:
    """The value of `self.total` or `self.total[index]`."""
    item = scope.fields.globals[node.attr]
    if scope.function != "update":
        raise scope.error(
            node,
            f"'{node.attr}' cannot be read in {scope.function}",
            "it is complete, and can be read, in `update`",
        )
    check_index(node, item, index, scope)
    return x.GlobalRef(node.attr, item.type, index)


def read_of_parameter(node: ast.Attribute, owner: ast.Attribute, scope: Scope) -> x.Expression:
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


def _self_hint(name: str, scope: Scope) -> str:
    fields = scope.fields
    if name in fields.matches:
        return f"rows are reported in `traverse`: self.{name}(u, v)"
    if name in {**fields.state, **fields.accumulators, **fields.vertex_properties}:
        return f"'{name}' belongs to a vertex: write v.{name}"
    return name_hint(name, scope.fields.parameters, f"declare it in the class: `{name}: float`")


def _read_accumulator(
    node: ast.Attribute, vertex: x.Vertex, index: x.Expression | None, scope: Scope
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
