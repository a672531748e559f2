"""What is known while a walk is read: the vertices, edges and paths that its loops have bound.

Every vertex and edge has a name of its own in the whole plan: where two loops use one name, the
second gets a number behind it. Local names stand for their values, so that a plan has none.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, TypeGuard

from graphtide.lang.python.scope import Scope
from graphtide.model.errors import LanguageError
from graphtide.plan.expressions import Expression
from graphtide.plan.programs import Direction, Size
from graphtide.plan.walk_unrolling import fresh_name

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
class Path:
    """A path as the plan calls it, with its two ends."""

    name: str
    origin: str
    end: str
    edges: bool
    length: Size


@dataclass
class WalkScope(Scope):
    """The `traverse` of a walk program as it is being read."""

    paths: dict[str, Path] = field(default_factory=dict)
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
        """Whether a name is bound by the walk."""
        return super().is_given(name) or name in self.paths

    def at_hand(self) -> list[str]:
        """The vertices, edges and paths that can be used here."""
        return [*super().at_hand(), *self.paths]

    def path_of(self, node: ast.AST, kind: str) -> Path | None:
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
        """Give a vertex a name of its own in the plan."""
        self.vertices[name] = self.fresh(name)
        return self.vertices[name]

    def bind_edge(self, name: str) -> str:
        """Give an edge a name of its own in the plan."""
        self.edges[name] = self.fresh(name)
        return self.edges[name]

    def fresh(self, name: str) -> str:
        """A name that the plan does not have yet."""
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
        """The error for a vertex that no loop around this place binds."""
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

    def _at(self, path: Path, kind: Kind, index: ast.expr) -> str:
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


def is_walk(scope: Scope) -> TypeGuard[WalkScope]:
    """Whether what is being read is a walk."""
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
