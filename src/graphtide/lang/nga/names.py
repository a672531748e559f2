"""What the names in a function of L_NGA stand for, and whether they may be used there.

Afterwards the tree is one that Python could have had: parameters and global variables are
attributes of `self`, loops go over `u.out_neighbours` or `u.out_edges`, functions have the names
that Python knows them by. Mistakes in names are reported here, in the words of L_NGA; types are
left to the functions that read program classes.
"""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from graphtide.lang.diagnostics import language_error
from graphtide.lang.nga.declarations import FACTS, NEIGHBOURS
from graphtide.lang.nga.parse import SELF, FunctionText, LoopClauses, span_of
from graphtide.lang.python.fields import Fields
from graphtide.model.errors import LanguageError
from graphtide.model.schema import closest, name_hint
from graphtide.plan.programs import Parameter, ParameterKind

VERTICES = "V"
"""What the number of vertices is called."""
Made = TypeVar("Made", bound=ast.AST)


class NamesAtHand:
    """One function as its names are being resolved: what its loops and `Let` have bound."""

    def __init__(self, function: FunctionText, fields: Fields) -> None:
        self.function, self.fields = function, fields
        self.vertices, self.edges, self.local = {function.vertex}, set[str](), set[str]()

    @property
    def word(self) -> str:
        return self.function.name.capitalize()

    def check_new(self, node: ast.AST, name: str) -> None:
        """Refuse to bind a name that stands for something already."""
        known = {*self.vertices, *self.edges, *self.local}
        if name in known or name in {**self.fields.parameters, **self.fields.globals}:
            raise refused(node, f"'{name}' has a value already", "use another name")
        if name in (SELF, VERTICES):
            raise refused(node, f"'{name}' has a meaning of its own", "use another name")

    def no_attribute(self, node: ast.AST, name: str) -> LanguageError:
        known = [*self.fields.state, *self.fields.accumulators, *self.fields.vertex_properties]
        known += [*FACTS, *NEIGHBOURS]
        near = closest(name, known)
        hint = f"declare it: `Vertex ({name}: double)` or `Vertex ({name}: Accm<double, SUM>)`"
        if name == "active":
            hint = "list it: `Vertex (active, ...)`"
        elif name in {**self.fields.parameters, **self.fields.globals}:
            hint = f"'{name}' belongs to no vertex: write `{name}` alone"
        elif near:
            hint = f"did you mean `{near}`?"
        return refused(node, f"a vertex has no '{name}'", hint)

    def not_reached(self, node: ast.AST, name: str, asked: str | None = None) -> LanguageError:
        """The error for a vertex that no loop around this place binds; `asked` is what it has."""
        if name == SELF:
            hint = "parameters and global variables are written by their names alone"
            return refused(node, f"`{name}` is not L_NGA", hint)
        if asked in self.fields.properties and self.function.name == "traverse":
            hint = f"name the edge of a loop: `For v in u.nbrs Via {name}`"
            return refused(node, f"the walk has no edge '{name}' here", hint)
        return refused(
            node,
            f"the walk has not reached a vertex '{name}' here",
            f"here it has {', '.join(sorted(self.vertices))}; "
            f"go on to another with `For {name} in ...`",
        )

    def unknown(self, node: ast.AST, name: str) -> LanguageError:
        known = [*self.local, *self.fields.parameters, *self.fields.globals]
        listed = ", ".join(sorted({*self.vertices, *self.edges, *known}))
        if name in {**self.fields.state, **self.fields.accumulators}:
            hint = f"'{name}' belongs to a vertex: write {self.function.vertex}.{name}"
        else:
            hint = name_hint(name, known, f"there are {listed}")
        return refused(node, f"nothing here is called '{name}'", hint)

    @contextmanager
    def scope(self) -> Iterator[None]:
        """What is bound inside has no value behind it."""
        before = self.vertices, self.edges, self.local
        self.vertices, self.edges, self.local = (set(names) for names in before)
        yield
        self.vertices, self.edges, self.local = before


def own(node: ast.AST, name: str) -> ast.Attribute:
    """A parameter or global variable, in place of its bare name."""
    attribute = ast.Attribute(like(node, ast.Name(SELF)), name)
    return like(node, attribute)


def like(node: ast.AST, made: Made) -> Made:
    made.span = span_of(node)  # type: ignore[attr-defined]
    return made


def refused(node: ast.AST, what: str, hint: str) -> LanguageError:
    return language_error(what, span_of(node), hint)


FUNCTIONS = {
    "abs": builtins.abs,
    "min": builtins.min,
    "max": builtins.max,
    "int": builtins.int,
    "float": builtins.float,
    "bool": builtins.bool,
    "len": builtins.len,
    "range": builtins.range,
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
    "floor": math.floor,
    "ceil": math.ceil,
    "pow": math.pow,
}
"""What functions may be called by, in trees."""

_SPELLED = {
    "Abs": "abs",
    "Min": "min",
    "Max": "max",
    "Sqrt": "sqrt",
    "Exp": "exp",
    "Log": "log",
    "Floor": "floor",
    "Ceil": "ceil",
    "Pow": "pow",
    "Int": "int",
    "Long": "int",
    "Float": "float",
    "Double": "float",
    "Bool": "bool",
    "Size": "len",
    "Div": "div",
}
_CALLED = {word.lower(): name for word, name in _SPELLED.items()}


class ExpressionNames(NamesAtHand):
    """Resolves the names of expressions, in place."""

    def expression(self, node: ast.expr) -> ast.expr:
        match node:
            case ast.Name(id=name):
                return self._name(node, name)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Subscript(value=owner, slice=index):
                node.value, node.slice = self._array(owner), self.expression(index)
            case ast.Call():
                return self._call(node)
            case ast.UnaryOp(operand=operand):
                node.operand = self.expression(operand)
            case ast.BinOp(left=left, right=right):
                node.left, node.right = self.expression(left), self.expression(right)
            case ast.BoolOp(values=values):
                node.values = [self.expression(item) for item in values]
            case ast.IfExp(test=test, body=body, orelse=orelse):
                node.test = self.expression(test)
                node.body, node.orelse = self.expression(body), self.expression(orelse)
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                members = isinstance(operator, ast.In | ast.NotIn)
                node.left = self._compared(left)
                node.comparators = [self._members(right) if members else self._compared(right)]
        return node

    def _compared(self, node: ast.expr) -> ast.expr:
        """A side of a comparison, where a vertex may stand for itself."""
        if isinstance(node, ast.Name) and node.id in self.vertices:
            return node
        return self.expression(node)

    def _members(self, node: ast.expr) -> ast.expr:
        match node:
            case ast.Attribute(value=ast.Name(id=owner) as vertex, attr=word) if word in NEIGHBOURS:
                if owner not in self.vertices:
                    raise self.not_reached(vertex, owner)
                if self.function.name != "traverse":
                    raise refused(
                        node, "only Traverse asks for edges", "ask there, and send what it is"
                    )
                node.attr = NEIGHBOURS[word]
                return node
            case ast.Name(id=name) if name in self.fields.parameters:
                return own(node, name)
            case _:
                raise refused(
                    node,
                    "`in` asks whether a vertex is a neighbour, or one of a set",
                    "write `w in u.nbrs`, or declare `Parameter (sources: vertices)` "
                    "and write `u in sources`",
                )

    def _name(self, node: ast.Name, name: str) -> ast.expr:
        if name in self.local:
            return node
        if name in self.vertices:
            raise refused(
                node, f"'{name}' alone is no value", f"write {name}.id for the vertex's number"
            )
        if name in self.edges:
            raise refused(node, f"'{name}' alone is no value", f"write {name}.weight")
        if name in self.fields.parameters or name in self.fields.globals:
            self._check_global(node, name)
            return own(node, name)
        if name == VERTICES:
            self.fields.parameters[name] = Parameter(name, ParameterKind.INT)
            self.fields.places[name] = node  # type: ignore[assignment]
            return own(node, name)
        if name.lower() == "superstep":
            if self.function.name != "update":
                raise refused(node, "only Update knows the number of the superstep", "use it there")
            return own(node, "iteration")
        raise self.unknown(node, name)

    def _check_global(self, node: ast.expr, name: str) -> None:
        if name in self.fields.globals and self.function.name != "update":
            raise refused(
                node,
                f"'{name}' cannot be read in {self.word}",
                "it is complete, and can be read, in Update",
            )

    def _attribute(self, node: ast.Attribute) -> ast.expr:
        match node:
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner in self.vertices:
                self._check_read(node, name)
                return node
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner in self.edges:
                if name not in self.fields.properties:
                    hint = f"declare it: `Edge ({name}: double)`"
                    raise refused(
                        node,
                        f"edges have no '{name}'",
                        name_hint(name, list(self.fields.properties), hint),
                    )
                return like(node, ast.Subscript(node.value, like(node, ast.Constant(name))))
            case ast.Attribute(value=ast.Name(id=owner), attr="source") if (
                owner in self.fields.parameters
            ):
                node.value = own(node.value, owner)
                return node
            case ast.Attribute(value=ast.Name(id=owner) as vertex, attr=name):
                raise self.not_reached(vertex, owner, name)
            case _:
                raise refused(
                    node, "this has no attributes", "attributes belong to vertices and edges"
                )

    def _check_read(self, node: ast.expr, name: str) -> None:
        if name in NEIGHBOURS:
            raise refused(
                node,
                f"'{name}' is a set, and no value",
                "loop over it, `For v in u.nbrs`, or ask `w in u.nbrs`",
            )
        if name in self.fields.accumulators and self.function.name != "update":
            raise refused(
                node,
                f"the accumulator '{name}' cannot be read in {self.word}",
                "it is complete, and can be read, in Update",
            )
        known = {*self.fields.state, *self.fields.accumulators, *self.fields.vertex_properties}
        if name not in FACTS and name not in known:
            raise self.no_attribute(node, name)

    def _array(self, node: ast.expr) -> ast.expr:
        match node:
            case ast.Attribute():
                return self._attribute(node)
            case ast.Name(id=name) if name in self.fields.globals:
                self._check_global(node, name)
                return own(node, name)
            case _:
                raise refused(
                    node,
                    "only arrays of a vertex or of the graph have elements",
                    "declare one: `Vertex (x: Array<double, 8>)`",
                )

    def _call(self, node: ast.Call) -> ast.expr:
        assert isinstance(node.func, ast.Name)
        name = _CALLED.get(node.func.id.lower())
        if name is None:
            raise refused(
                node.func,
                f"there is no function '{node.func.id}'",
                name_hint(node.func.id, list(_SPELLED), f"there are {', '.join(_SPELLED)}"),
            )
        given = [self.expression(item) for item in node.args]
        if name == "div":
            if len(given) != 2:
                raise refused(node, "Div takes two numbers", "write `Div(a, b)`")
            return like(node, ast.BinOp(given[0], ast.FloorDiv(), given[1]))
        node.func.id, node.args = name, given
        return node


_EDGES = {"nbrs": "edges", "out_nbrs": "out_edges", "in_nbrs": "in_edges"}


def resolve_function(function: FunctionText, fields: Fields) -> list[ast.stmt]:
    return _StatementNames(function, fields).block(function.body)


class _StatementNames(ExpressionNames):
    def __init__(self, function: FunctionText, fields: Fields) -> None:
        super().__init__(function, fields)
        self.nested = any(_nests(node) for node in function.body)
        self.used = {
            node.id
            for part in function.body
            for node in ast.walk(part)
            if isinstance(node, ast.Name)
        }

    def block(self, nodes: list[ast.stmt]) -> list[ast.stmt]:
        """Statements in a scope of their own: what they bind has no value behind them."""
        with self.scope():
            return [self.statement(node) for node in nodes]

    def statement(self, node: ast.stmt) -> ast.stmt:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if getattr(
                node, "is_let", False
            ):
                node.value = self.expression(value)
                self.check_new(node.targets[0], name)
                self.local.add(name)
            case ast.Assign(targets=[target], value=value):
                node.targets = [self._assigned(target)]
                node.value = self.expression(value)
            case ast.Expr(value=ast.Call(func=target, args=given) as call):
                call.func = self._accumulated(target)
                call.args = [self.expression(item) for item in given]
            case ast.If(test=test, body=body, orelse=orelse):
                node.test = self.expression(test)
                node.body, node.orelse = self.block(body), self.block(orelse)
            case ast.For():
                self._loop(node)
        return node

    def _assigned(self, target: ast.expr) -> ast.expr:
        attribute = target.value if isinstance(target, ast.Subscript) else target
        match attribute:
            case ast.Name(id=name):
                if name in self.fields.globals:
                    raise refused(
                        target,
                        f"'{name}' is an accumulator and cannot be assigned",
                        f"send to it in Traverse: {name}.Accumulate(...)",
                    )
                raise refused(target, f"'{name}' is no attribute", f"write `Let {name} = ...`")
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner in self.vertices:
                self._check_assigned(attribute, owner, name)
            case _:
                raise refused(
                    target, "nothing can be assigned to this", "assign u.rank, u.share[k]"
                )
        if isinstance(target, ast.Subscript):
            target.slice = self.expression(target.slice)
        return target

    def _check_assigned(self, node: ast.expr, owner: str, name: str) -> None:
        if self.function.name == "traverse":
            raise refused(
                node,
                "Traverse cannot assign: many walks meet at one vertex",
                f"send to an accumulator, {owner}.sum.Accumulate(...), and assign in Update",
            )
        if name in self.fields.accumulators:
            raise refused(
                node,
                f"'{name}' is an accumulator and cannot be assigned",
                f"send to it in Traverse: {owner}.{name}.Accumulate(...)",
            )
        if name in (*FACTS, *NEIGHBOURS):
            raise refused(
                node, f"'{name}' is what the graph says", "assign an attribute of your own"
            )
        if name not in self.fields.state:
            raise self.no_attribute(node, name)

    def _accumulated(self, target: ast.expr) -> ast.expr:
        attribute = target.value if isinstance(target, ast.Subscript) else target
        if self.function.name != "traverse":
            raise refused(target, f"{self.word} cannot send", "write Accumulate in Traverse")
        match attribute:
            case ast.Name(id=name) if name in self.fields.globals:
                accumulator: ast.expr = own(attribute, name)
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner in self.vertices:
                self._check_accumulated(attribute, name)
                accumulator = attribute
            case ast.Attribute(value=ast.Name(id=owner) as vertex):
                raise self.not_reached(vertex, owner)
            case _:
                raise refused(
                    target,
                    "only accumulators are sent to",
                    "write v.sum.Accumulate(...), or declare `GlobalVariable (total: "
                    "Accm<long, SUM>)` and write total.Accumulate(...)",
                )
        if not isinstance(target, ast.Subscript):
            return accumulator
        target.value, target.slice = accumulator, self.expression(target.slice)
        return target

    def _check_accumulated(self, node: ast.expr, name: str) -> None:
        if name in self.fields.state:
            raise refused(
                node,
                f"'{name}' is no accumulator",
                f"declare it as `{name}: Accm<double, SUM>`, or assign it in Update",
            )
        if name not in self.fields.accumulators:
            raise self.no_attribute(node, name)

    def _loop(self, node: ast.For) -> None:
        loop: LoopClauses | None = getattr(node, "loop", None)
        assert isinstance(node.target, ast.Name)
        name = node.target.id
        if loop is None:
            assert isinstance(node.iter, ast.Call)
            node.iter.args = [self.expression(item) for item in node.iter.args]
            self.check_new(node.target, name)
            with self.scope():
                self.local.add(name)
                node.body = self.block(node.body)
            return
        if self.function.name != "traverse":
            raise refused(
                node, f"{self.word} sees one vertex alone", "go to neighbours in Traverse"
            )
        by_edge = self._over(node, loop)
        self.check_new(node.target, name)
        with self.scope():
            self.vertices.add(name)
            if by_edge:
                node.target = self._with_edge(node, node.target, loop)
            node.body = self.block(node.body)

    def _over(self, node: ast.For, loop: LoopClauses) -> bool:
        """Resolve what a loop goes over; True where it goes along each edge."""
        match node.iter:
            case ast.Attribute(value=ast.Name(id=owner) as vertex, attr=word) as members:
                if owner not in self.vertices:
                    raise self.not_reached(vertex, owner)
                if word not in NEIGHBOURS:
                    hint = "write `For v in u.nbrs`, u.out_nbrs or u.in_nbrs"
                    raise refused(
                        members,
                        f"a walk cannot go over '{word}' of a vertex",
                        name_hint(word, list(NEIGHBOURS), hint),
                    )
            case _:
                raise refused(
                    node.iter,
                    "a loop goes over neighbours or numbers",
                    "write `For v in u.nbrs`, or `For k in Range(8)`",
                )
        if loop.via is not None and loop.distinct:
            raise refused(
                node, "distinct neighbours come without edges", "leave out `Distinct` or `Via`"
            )
        by_edge = loop.via is not None or not (loop.distinct or self.nested)
        members.attr = (_EDGES if by_edge else NEIGHBOURS)[word]
        return by_edge

    def _with_edge(self, node: ast.For, vertex: ast.Name, loop: LoopClauses) -> ast.expr:
        edge = loop.via
        if edge is None:
            edge = next(name for name in _edge_names() if name not in self.used)
        else:
            self.check_new(node, edge)
            self.edges.add(edge)
        pair = ast.Tuple([vertex, like(vertex, ast.Name(edge))])
        return like(vertex, pair)


def _nests(node: ast.AST) -> bool:
    if getattr(node, "loop", None) is None:
        return any(map(_nests, ast.iter_child_nodes(node)))
    inner = (item for part in node.body for item in ast.walk(part))  # type: ignore[attr-defined]
    return any(getattr(item, "loop", None) is not None for item in inner)


def _edge_names() -> Iterator[str]:
    yield "e"
    number = 2
    while True:
        yield f"e_{number}"
        number += 1
