"""The syntax tree of statements on live graphs: begun, advanced by files, and asked queries."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as OneOf

from graphtide.lang.diagnostics import Span
from graphtide.lang.gvdl.tree import Duration, Literal, Node

VertexId = int | float | str
Scalar = int | float | str | bool
ParameterValue = Scalar | tuple["ParameterValue", ...]
Asked = OneOf["path", "paths", "hops", "reach", "regular"]
Way = OneOf["out", "in", "both"]
Registered = OneOf["query", "program"]


@dataclass(frozen=True)
class CreateLive(Node):
    """`create live graph NAME with vertices from 'v' and edges from 'e' OPTIONS`.

    Without files, the graph of that name becomes live. `keep` and `time` let edges expire.
    """

    name: str
    edges: str | None = None
    vertices: str | None = None
    separator: str | None = None
    id: str | None = None
    src: str | None = None
    dst: str | None = None
    keep: Literal | Duration | None = None
    time: str | None = None
    directed: bool = True


@dataclass(frozen=True)
class AdvanceLive(Node):
    """`advance live graph NAME insert from 'file' delete from 'file' ...`: one batch of files."""

    name: str
    insert: str | None = None
    delete: str | None = None
    vertices: str | None = None
    update: str | None = None
    remove: str | None = None
    match: tuple[str, ...] = ()
    separator: str | None = None
    id: str | None = None


@dataclass(frozen=True)
class CreateQuery(Node):
    """`create query NAME on live graph GRAPH path from 'a' to 'b' weight km`, and other kinds.

    Which fields mean something is up to `asked`. `places` tells where clauses stand in the text.
    """

    name: str
    graph: str
    asked: Asked
    start: VertexId | None = None
    target: VertexId | None = None
    pairs: tuple[tuple[VertexId, VertexId], ...] = ()
    hops: int | None = None
    path: str | None = None
    label: str | None = None
    weight: str | None = None
    bound: float | None = None
    direction: Way | None = None
    replace: bool = False
    places: tuple[tuple[str, Span | None], ...] = field(default=(), compare=False, repr=False)

    def place(self, what: str) -> Span | None:
        """Where something stands; the whole statement where that is not known."""
        return dict(self.places).get(what) or self.span


@dataclass(frozen=True)
class ShowLive(Node):
    """`show live graphs`, `show live graph NAME`."""

    name: str | None = None


@dataclass(frozen=True)
class CreateProgram(Node):
    """`create program NAME on live graph GRAPH run COMPUTATION (PARAMETERS) from 'file' OPTIONS`.

    Without a name for the computation it is the one program of its file. `places` are as in `Run`.
    """

    name: str
    graph: str
    computation: str
    parameters: tuple[tuple[str, ParameterValue], ...] = ()
    library: str | None = None
    mode: str | None = None
    tolerance: float | None = None
    keep: int | None = None
    replace: bool = False
    places: tuple[tuple[str, Span | None], ...] = field(default=(), compare=False, repr=False)

    def place(self, what: str) -> Span | None:
        """Where something stands; the whole statement where that is not known."""
        return dict(self.places).get(what) or self.span


@dataclass(frozen=True)
class ShowRegistered(Node):
    """`show queries`, `show queries on live graph GRAPH`, `show query NAME on live graph GRAPH`.

    And the same of programs.
    """

    what: Registered
    graph: str | None = None
    name: str | None = None


@dataclass(frozen=True)
class DropRegistered(Node):
    """`drop query NAME on live graph GRAPH`, `drop program NAME on live graph GRAPH`."""

    what: Registered
    name: str
    graph: str


@dataclass(frozen=True)
class ExplainRegistered(Node):
    """`explain query NAME on live graph GRAPH`, or a program: how it is kept current."""

    what: Registered
    name: str
    graph: str


@dataclass(frozen=True)
class SetLive(Node):
    """`set budget '2 GB' on live graph GRAPH`, `set landmarks 10 far on live graph GRAPH`.

    `to` is None where there shall be none.
    """

    graph: str
    what: OneOf["budget", "landmarks"]
    to: int | str | None = None
    far: bool = False


LiveStatement = (
    CreateLive
    | AdvanceLive
    | ShowLive
    | SetLive
    | CreateQuery
    | CreateProgram
    | ShowRegistered
    | DropRegistered
    | ExplainRegistered
)
