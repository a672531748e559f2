"""The syntax tree of statements. What they do is up to whoever runs them.

Statements of Graphsurge's released scripts have the same nodes as ours wherever they mean the
same: a `cube` is a collection, `u.` and `v.` are `src.` and `dst.`. What only Graphsurge knows
(hosts, block sizes, process numbers) is kept, so that nothing a script says is lost. Statements on
live graphs stand at the beginning: a live graph is created, advanced by files, and asked queries.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Literal as OneOf

from graphtide.lang.diagnostics import Span
from graphtide.lang.gvdl.tree import Duration, Item, Literal, Predicate, Section
from graphtide.lang.trees import Node

VertexId = int | float | str
Scalar = int | float | str | bool
ParameterValue = Scalar | tuple["ParameterValue", ...]
Asked = OneOf["path", "paths", "hops", "reach", "regular"]
Way = OneOf["out", "in", "both"]
Registered = OneOf["query", "program"]

# What a file is for, by the type of the field that names it: see `files_of`.
ReadFile = str
WrittenFile = str
ProgramFile = str


@dataclass(frozen=True, kw_only=True)
class Placed(Node):
    """A statement that knows where its clauses stand in the text."""

    places: tuple[tuple[str, Span | None], ...] = field(default=(), compare=False, repr=False)

    def place(self, what: str) -> Span | None:
        """Where something stands; the whole statement where that is not known."""
        return dict(self.places).get(what) or self.span


@dataclass(frozen=True)
class CreateLive(Node):
    """`create live graph NAME with vertices from 'v' and edges from 'e' OPTIONS`.

    Without files, the graph of that name becomes live. `keep` and `time` let edges expire.
    """

    name: str
    edges: ReadFile | None = None
    vertices: ReadFile | None = None
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
    insert: ReadFile | None = None
    delete: ReadFile | None = None
    vertices: ReadFile | None = None
    update: ReadFile | None = None
    remove: ReadFile | None = None
    match: tuple[str, ...] = ()
    separator: str | None = None
    id: str | None = None


@dataclass(frozen=True)
class CreateQuery(Placed):
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


@dataclass(frozen=True)
class ShowLive(Node):
    """`show live graphs`, `show live graph NAME`."""

    name: str | None = None


@dataclass(frozen=True)
class CreateProgram(Placed):
    """`create program NAME on live graph GRAPH run COMPUTATION (PARAMETERS) from 'file' OPTIONS`.

    Without a name for the computation it is the one program of its file. `places` are as in `Run`.
    """

    name: str
    graph: str
    computation: str
    parameters: tuple[tuple[str, ParameterValue], ...] = ()
    library: ProgramFile | None = None
    mode: str | None = None
    tolerance: float | None = None
    keep: int | None = None
    replace: bool = False


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


Shown = OneOf[
    "graphs",
    "views",
    "collections",
    "computations",
    "runs",
    "graph",
    "view",
    "collection",
    "run",
    "data",
]
Deleted = OneOf["graph", "view", "collection", "run", "collections"]
COLUMN_ROLES = ("id", "src", "dst", "label", "edge_label")
"""What `load graph` can say of a column, by the names of its options."""


class Ordering(StrEnum):
    """How a collection's views are arranged; `MANUAL` keeps the order as written."""

    AUTO = "auto"
    CHAIN = "chain"
    TREE = "tree"
    MANUAL = "manual"


@dataclass(frozen=True)
class CreateView(Node):
    """`create view NAME on BASE edges where PREDICATE`; no base means the current graph."""

    name: str
    predicate: Predicate
    base: str | None = None
    replace: bool = False


@dataclass(frozen=True)
class CreateCollection(Node):
    """`create view collection NAME on BASE within PREDICATE ITEMS OPTIONS`."""

    name: str
    items: tuple[Item, ...]
    base: str | None = None
    within: Predicate | None = None
    ordering: Ordering = Ordering.AUTO
    materialized: bool = False
    full_view: bool = False
    hosts: tuple[str, ...] = ()
    replace: bool = False


@dataclass(frozen=True)
class CreateGrouped(Node):
    """`create view NAME on BASE vertices group by city aggregate count(*) edges ...`: a graph.

    `save_to` is a folder that Graphsurge's scripts have the result written to as well.
    """

    name: str
    vertices: tuple[Section, ...] = ()
    edges: tuple[Section, ...] = ()
    base: str | None = None
    replace: bool = False
    save_to: WrittenFile | None = None


@dataclass(frozen=True)
class LoadGraph(Node):
    """`load graph NAME with vertices from 'v' and edges from 'e' OPTIONS`.

    `id`, `src`, `dst`, `label` and `edge_label` name the columns that are these.
    """

    edges: ReadFile
    vertices: ReadFile | None = None
    name: str | None = None
    separator: str | None = None
    comment: str | None = None
    has_headers: bool | None = None
    mappings: WrittenFile | None = None
    randomize: bool = False
    timezone: str | None = None
    on_bad_rows: OneOf["refuse", "quarantine"] | None = None
    at_most: int | str | None = None
    id: str | None = None
    src: str | None = None
    dst: str | None = None
    label: str | None = None
    edge_label: str | None = None
    directed: bool = True
    replace: bool = False


@dataclass(frozen=True)
class Strategy(Node):
    """How a run reaches the next view, in the words of the script, with its numbers."""

    name: str
    options: tuple[tuple[str, Scalar], ...] = ()


@dataclass(frozen=True)
class Run(Placed):
    """`run STRATEGY computation NAME (PARAMETERS) from 'file' on collection NAME OPTIONS`.

    Without a name for the computation it is the one program of its file: `run 'file' on ...`.
    `places` tells where `computation`, `collection`, `library`, `indices` and each parameter, as
    `(name)`, stand in the text.
    """

    computation: str
    collection: str
    strategy: Strategy | None = None
    parameters: tuple[tuple[str, ParameterValue], ...] = ()
    library: ProgramFile | None = None
    results: OneOf["noresults", "diffresults"] | None = None
    save_to: WrittenFile | None = None
    hosts: tuple[str, ...] = ()
    indices: tuple[int, ...] | None = None
    name: str | None = None
    resume: bool = False
    verify: int | None = None
    workers: int | None = None
    on: OneOf["spark", "shards"] | None = None
    force: bool = False


@dataclass(frozen=True)
class UseGraph(Node):
    """`use graph NAME`: the graph that statements without `on` mean from now on."""

    name: str


@dataclass(frozen=True)
class Show(Node):
    """`show collections`, `show view NAME`, `show data for collection NAME`, ..."""

    what: Shown
    name: str | None = None


@dataclass(frozen=True)
class Delete(Node):
    """`delete graph NAME`, `delete collections`, ..."""

    what: Deleted
    name: str | None = None


@dataclass(frozen=True)
class Refresh(Node):
    """`refresh collection NAME`, `refresh view NAME`: bring it to the state of its graph now."""

    what: OneOf["view", "collection"]
    name: str


@dataclass(frozen=True)
class SetThreads(Node):
    """`set threads N and process_id M`; the second is 0 where it is left out."""

    threads: int
    process_id: int = 0


@dataclass(frozen=True)
class Serialize(Node):
    """`serialize to 'dir'` for the graph, `serialize cube NAME to 'dir'` for a collection."""

    path: WrittenFile
    collection: str | None = None
    block_size: int | None = None
    threads: int | None = None


@dataclass(frozen=True)
class Deserialize(Node):
    """`deserialize from 'dir'`, `deserialize cube from 'dir'`."""

    path: ReadFile
    what: OneOf["graph", "collection"] = "graph"
    threads: int | None = None


@dataclass(frozen=True)
class SaveGraph(Node):
    """`save graph to 'dir'`."""

    path: WrittenFile


@dataclass(frozen=True)
class SaveCollection(Node):
    """`save cube NAME to 'dir' THREADS INITIAL`; the last says whether the first view is too."""

    name: str
    path: WrittenFile
    threads: int
    initial: bool


@dataclass(frozen=True)
class Explain(Node):
    """`explain STATEMENT`: say what it would do instead of doing it."""

    statement: Statement


Statement = (
    CreateView
    | CreateCollection
    | CreateGrouped
    | LoadGraph
    | Run
    | UseGraph
    | Show
    | Delete
    | Refresh
    | SetThreads
    | Serialize
    | Deserialize
    | SaveGraph
    | SaveCollection
    | Explain
    | LiveStatement
)


def files_of(statement: Statement | type) -> Iterator[tuple[str, str]]:
    """The fields of a statement that name a file or a folder: the use of each, and the field."""
    for item in fields(statement):
        use = str(item.type).partition(" ")[0]
        if use in ("ReadFile", "WrittenFile", "ProgramFile"):
            yield use, item.name
