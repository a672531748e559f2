"""What the names in a function stand for, and whether they may be used there.

Afterwards the tree is one that Python could have had: parameters and global variables are
attributes of `self`, loops go over `u.out_neighbours` or `u.out_edges`, functions have the names
that Python knows them by. Mistakes in names are told here, in the words of L_NGA; types are left
to the functions that read program classes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphtide.lang.nga.declarations import FACTS, NEIGHBOURS
from graphtide.lang.nga.expression_names import ExpressionNames
from graphtide.lang.nga.names_at_hand import like, own, refused
from graphtide.lang.nga.tree import Function, Loop
from graphtide.lang.python.fields import Fields
from graphtide.model.schema import name_hint

_EDGES = {"nbrs": "edges", "out_nbrs": "out_edges", "in_nbrs": "in_edges"}


def resolve_function(function: Function, fields: Fields) -> list[ast.stmt]:
    """The statements with every name resolved; LanguageError at the first that cannot be."""
    return _StatementNames(function, fields).block(function.body)


class _StatementNames(ExpressionNames):
    def __init__(self, function: Function, fields: Fields) -> None:
        super().__init__(function, fields)
        self.nested = any(_nests(node) for node in function.body)
        self.used = {node.id for part in function.body for node in _named(part)}

    def block(self, nodes: list[ast.stmt]) -> list[ast.stmt]:
        """Statements in a scope of their own: what they bind has no value behind them."""
        with self.scope():
            return [self.statement(node) for node in nodes]

    def statement(self, node: ast.stmt) -> ast.stmt:
        """One statement, its names resolved."""
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_let(node):
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
        loop: Loop | None = getattr(node, "loop", None)
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

    def _over(self, node: ast.For, loop: Loop) -> bool:
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

    def _with_edge(self, node: ast.For, vertex: ast.Name, loop: Loop) -> ast.expr:
        edge = loop.via
        if edge is None:
            edge = next(name for name in _edge_names() if name not in self.used)
        else:
            self.check_new(node, edge)
            self.edges.add(edge)
        pair = ast.Tuple([vertex, like(vertex, ast.Name(edge))])
        return like(vertex, pair)


def _is_let(node: ast.Assign) -> bool:
    return bool(getattr(node, "is_let", False))


def _nests(node: ast.AST) -> bool:
    """Whether a loop over neighbours stands in another."""
    if getattr(node, "loop", None) is None:
        return any(map(_nests, ast.iter_child_nodes(node)))
    inner = (item for part in node.body for item in ast.walk(part))  # type: ignore[attr-defined]
    return any(getattr(item, "loop", None) is not None for item in inner)


def _named(node: ast.AST) -> Iterator[ast.Name]:
    return (item for item in ast.walk(node) if isinstance(item, ast.Name))


def _edge_names() -> Iterator[str]:
    yield "e"
    number = 2
    while True:
        yield f"e_{number}"
        number += 1
