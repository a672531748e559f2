"""A walk class as Python itself runs it: its functions are called on stand-ins, on lists of edges.

Nothing is read into a plan. `u.neighbours` is a list, a path has lists of vertices and edges, and
all that is sent is collected and added up at the end of an iteration. Numbers are Python's own:
whoever writes the class keeps ints small, and floats such that sums of them are exact.
"""

from __future__ import annotations

import ast
import datetime as dt
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

Edge = tuple[int, int, Mapping[str, Any]]
Row = tuple[Any, ...]
EPOCH = dt.datetime(1970, 1, 1)


class UnjudgedError(Exception):
    """Nobody knows what is right: a run does not end soon, or numbers may leave the floats."""


@dataclass
class Outcome:
    """All results; the rows of matches are sorted, and no limit cuts them."""

    state: dict[str, list[Any]]
    globals: dict[str, Any]
    rows: dict[str, list[Row]]


@dataclass(frozen=True)
class Declared:
    """What a name of the class body is declared to be."""

    kind: str
    type: Any = None
    size: Any = None
    default: Any = None


class Text:
    """A text that may be missing, and then equals nothing."""

    def __init__(self, value: str | None) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        said = other.value if isinstance(other, Text) else other
        return self.value is not None and self.value == said

    __hash__ = None  # type: ignore[assignment]


class Moment:
    """A date or a timestamp: ordered, and a number where it is subtracted or made an int."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Moment) and self.number == other.number

    def __lt__(self, other: Moment) -> bool:
        return self.number < other.number

    def __le__(self, other: Moment) -> bool:
        return self.number <= other.number

    def __sub__(self, other: Moment) -> int:
        return self.number - other.number

    def __int__(self) -> int:
        return self.number

    __hash__ = None  # type: ignore[assignment]


def given_value(kind: Any, value: Any) -> Any:
    """A value of the data, or of a parameter, as the functions of a class see it."""
    if kind is str:
        return Text(value)
    if kind == "date":
        day = dt.date.fromisoformat(value) if isinstance(value, str) else value
        return Moment((day - EPOCH.date()).days)
    if kind == "timestamp":
        at = dt.datetime.fromisoformat(value) if isinstance(value, str) else value
        return Moment((at - EPOCH) // dt.timedelta(microseconds=1))
    return value


def distinct(*given: Any) -> bool:
    """Whether no two vertices are the same; lists of them stand for their items."""
    flat = [one for item in given for one in (item if isinstance(item, list) else [item])]
    return all(one.id != other.id for one, other in itertools.combinations(flat, 2))


def _accumulator(kind: str) -> Callable[..., Declared]:
    implied = {"count": int, "or": bool, "and": bool}
    return lambda type=None, size=None: Declared(kind, type or implied[kind], size)


WORDS = SimpleNamespace(
    program=lambda cls: cls,
    State=lambda type, default=None, size=None: Declared("state", type, size, default),
    Property=lambda type: Declared("edge", type),
    VertexProperty=lambda type, missing=None: Declared("vertex", type, None, missing),
    Global=lambda item: Declared("global", item),
    Matches=lambda limit=None, **columns: Declared("matches", columns),
    Columns=lambda type, size: ("columns", type, size),
    Vertex="one",
    Vertices="some",
    Date="date",
    Timestamp="timestamp",
    distinct=distinct,
    inf=math.inf,
    **{
        name: _accumulator(name.lower())
        for name in ("Min", "Max", "Sum", "Product", "Count", "Or", "And")
    },
)


@dataclass
class ClassText:
    """A class that was executed, and its declarations by their kind."""

    made: Any
    parameters: dict[str, Any] = field(default_factory=dict)
    defaults: dict[str, Any] = field(default_factory=dict)
    declared: dict[str, dict[str, Declared]] = field(default_factory=dict)
    asks_iteration: bool = False

    def of(self, kind: str) -> dict[str, Declared]:
        """What is declared of one kind: state, accumulator, global, matches, edge, vertex."""
        return self.declared.get(kind, {})


def load_class(text: str) -> ClassText:
    """The one class of a text that may use `gt`, `math`, `pairwise` and `combinations`."""
    around: dict[str, Any] = {"gt": WORDS, "math": math, "inf": math.inf}
    around |= {"pairwise": itertools.pairwise, "combinations": itertools.combinations}
    tree = ast.parse(text)
    exec(compile(tree, "<walk class>", "exec", dont_inherit=True), around)
    name = next(node.name for node in tree.body if isinstance(node, ast.ClassDef))
    found = ClassText(around[name], asks_iteration="self.iteration" in text)
    assigned = {
        owner.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store)
        for owner in [node.value if isinstance(node, ast.Subscript) else node]
        if isinstance(owner, ast.Attribute)
    }
    values = vars(around[name])
    kinds = values.get("__annotations__", {})
    for key in [*kinds, *(key for key in values if key not in kinds)]:
        _sort_in(found, key, kinds.get(key), values.get(key), key in assigned)
    return found


def _sort_in(found: ClassText, name: str, kind: Any, value: Any, assigned: bool) -> None:
    if isinstance(value, Declared):
        plain = value.kind in ("state", "edge", "vertex", "global", "matches")
        found.declared.setdefault(value.kind if plain else "accumulator", {})[name] = value
    elif kind is not None and assigned:
        found.declared.setdefault("state", {})[name] = Declared("state", kind, None, value)
    elif kind is not None:
        found.parameters[name] = kind
        found.defaults[name] = value


class Graph:
    """The vertices and live edges of one version, and the parameters that a program was given."""

    def __init__(
        self,
        loaded: ClassText,
        values: Mapping[str, Any],
        vertices: Sequence[Mapping[str, Any]],
        edges: Sequence[Edge],
        *,
        directed: bool = True,
    ) -> None:
        self.directed = directed
        self.loaded, self.given, self.edges, self.n = loaded, vertices, edges, len(vertices)
        self.values = {**loaded.defaults, **values}
        if self.values.get("V", 0) is None:
            self.values["V"] = self.n
        self.along = [self._edge(row) for _, _, row in edges]

    def _edge(self, row: Mapping[str, Any]) -> Any:
        kinds = self.loaded.of("edge")
        return SimpleNamespace(
            **{
                name: given_value(kinds[name].type if name in kinds else float, value)
                for name, value in row.items()
            }
        )

    def size(self, item: Declared) -> int | None:
        """How many elements an array has; None of what is none."""
        return self.values[item.size] if isinstance(item.size, str) else item.size

    def setting(self, name: str, otherwise: Any) -> Any:
        """`iterations` or `tolerance`: a number, or the parameter that it names."""
        value = vars(self.loaded.made).get(name, otherwise)
        if name in self.loaded.parameters:
            return self.values[name]
        return self.values[value] if isinstance(value, str) else value

    def run(self, most: int = 40) -> Outcome:
        """What the program ends with; UnjudgedError if it does not end soon."""
        state = self._start()
        wanted, iteration = self.setting("iterations", None), 0
        patient = wanted is not None and self.loaded.asks_iteration
        found = Outcome(state, self._folded_globals([]), self._no_rows())
        while wanted is None or iteration < wanted:
            iteration += 1
            if iteration > most:
                raise UnjudgedError
            before, found = found, self._next(found.state, iteration)
            if not patient and before.state == found.state:
                break
        return found

    def _start(self) -> dict[str, list[Any]]:
        state = {}
        for name, item in self.loaded.of("state").items():
            value = item.type() if item.default is None else item.default
            size = self.size(item)
            state[name] = [value if size is None else [value] * size for _ in range(self.n)]
        if hasattr(self.loaded.made, "initialize"):
            for number in range(self.n):
                vertex = Vertex(self, number, state, {}, writes=True)
                self.loaded.made.initialize(self._self({}), vertex)
        return state

    def _self(self, extra: Mapping[str, Any]) -> Any:
        kinds = self.loaded.parameters
        held = {name: given_value(kinds[name], self.values[name]) for name in kinds}
        return SimpleNamespace(**held, **extra)

    def _next(self, before: dict[str, list[Any]], iteration: int) -> Outcome:
        sent: list[tuple[str, int | None, int | None, Any]] = []
        rows = self._no_rows()
        own: dict[str, Any] = {
            name: Sending(sent, name, None, self.size(item.type))
            for name, item in self.loaded.of("global").items()
        }
        own |= {name: rows[name].append for name in rows}
        own = {name: _reporting(item) if name in rows else item for name, item in own.items()}
        me = self._self(own)
        for number in range(self.n):
            self.loaded.made.traverse(me, Vertex(self, number, before, sent))
        accumulated = self._folded(sent)
        globals_ = self._folded_globals(sent)
        state = {name: [_copied(one) for one in column] for name, column in before.items()}
        me = self._self({**globals_, "iteration": iteration})
        for number in range(self.n):
            here = Vertex(self, number, state, accumulated, writes=True)
            if hasattr(self.loaded.made, "update"):
                self.loaded.made.update(me, here)
        return Outcome(state, globals_, {name: sorted(found) for name, found in rows.items()})

    def _no_rows(self) -> dict[str, list[Row]]:
        return {name: [] for name in self.loaded.of("matches")}

    def _folded(self, sent: list[Any]) -> dict[str, list[Any]]:
        found = {}
        for name, item in self.loaded.of("accumulator").items():
            got: list[list[Any]] = [[] for _ in range(self.n)]
            for what, vertex, index, value in sent:
                if what == name and vertex is not None:
                    got[vertex].append((index, value))
            found[name] = [folded(item, self.size(item), one) for one in got]
        return found

    def _folded_globals(self, sent: list[Any]) -> dict[str, Any]:
        return {
            name: folded(
                item.type,
                self.size(item.type),
                [(index, value) for what, vertex, index, value in sent if what == name],
            )
            for name, item in self.loaded.of("global").items()
        }

    def beside(self, number: int, way: str) -> list[tuple[int, Any]]:
        """Every live edge of a vertex once each way, with its other end; without ways, once."""
        found = []
        if not self.directed:
            return [
                (dst if src == number else src, edge)
                for (src, dst, _), edge in zip(self.edges, self.along, strict=True)
                if number in (src, dst)
            ]
        pairs = list(zip(self.edges, self.along, strict=True))
        if way in ("out", "both"):
            found += [(dst, edge) for (src, dst, _), edge in pairs if src == number]
        if way in ("in", "both"):
            found += [(src, edge) for (src, dst, _), edge in pairs if dst == number]
        return found


def _copied(value: Any) -> Any:
    return list(value) if isinstance(value, list) else value


def _reporting(append: Any) -> Any:
    def report(*values: Any) -> None:
        flat = [one for item in values for one in (item if isinstance(item, list) else [item])]
        append(tuple(one.id if isinstance(one, Vertex) else one for one in flat))

    return report


def folded(item: Declared, size: int | None, sent: list[tuple[int | None, Any]]) -> Any:
    """What an accumulator makes of all that was sent to it, element by element."""
    if size is not None:
        return [
            folded(item, None, [(None, value) for at, value in sent if at == index])
            for index in range(size)
        ]
    values = [value for _, value in sent]
    whole = item.type is int
    match item.kind:
        case "sum":
            return _wrapped(sum(values)) if whole else math.fsum(values)
        case "product":
            return _wrapped(math.prod(values)) if whole else _product(values)
        case "count":
            return len(values)
        case "or":
            return any(values)
        case "and":
            return all(values)
        case "min":
            return min(values, default=2**63 - 1 if whole else math.inf)
        case _:
            return max(values, default=-(2**63) if whole else -math.inf)


def _product(values: list[float]) -> float:
    """The product, rounded once; UnjudgedError where another order may leave the floats."""
    if len(values) > 500:
        raise UnjudgedError
    return float(math.prod(map(Fraction, values)))


def _wrapped(value: int) -> int:
    return (value + 2**63) % 2**64 - 2**63


class Sending:
    """An accumulator in `traverse`: called with a value, a list of values, or nothing."""

    def __init__(self, sent: list[Any], name: str, vertex: int | None, size: int | None) -> None:
        self.sent, self.name, self.vertex, self.size = sent, name, vertex, size
        self.index: int | None = None

    def __len__(self) -> int:
        assert self.size is not None
        return self.size

    def __getitem__(self, index: int) -> Sending:
        assert 0 <= index < len(self)
        found = Sending(self.sent, self.name, self.vertex, self.size)
        found.index = index
        return found

    def __call__(self, value: Any = True) -> None:
        if isinstance(value, list):
            for index, one in enumerate(value):
                self[index](one)
        else:
            self.sent.append((self.name, self.vertex, self.index, value))


class Vertex:
    """One vertex as a function sees it; equal and ordered by its number."""

    def __init__(
        self, graph: Graph, number: int, state: Any, held: Any, *, writes: bool = False
    ) -> None:
        for name, value in (("graph", graph), ("id", number), ("state", state), ("held", held)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "writes", writes)

    def __getattr__(self, name: str) -> Any:
        graph, loaded = self.graph, self.graph.loaded
        if name in ("out_degree", "in_degree", "degree"):
            way = {"out_degree": "out", "in_degree": "in", "degree": "both"}[name]
            return len(graph.beside(self.id, way))
        if name in loaded.of("state"):
            return self.state[name][self.id]
        if name in loaded.of("vertex"):
            item, value = loaded.of("vertex")[name], graph.given[self.id][name]
            return given_value(item.type, item.default if value is None else value)
        if name in loaded.of("accumulator"):
            if self.writes:
                return self.held[name][self.id]
            return Sending(self.held, name, self.id, graph.size(loaded.of("accumulator")[name]))
        return Loop(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        assert self.writes
        self.state[name][self.id] = value

    def at(self, number: int) -> Vertex:
        """Another vertex, in the same call."""
        return Vertex(self.graph, number, self.state, self.held)

    def __eq__(self, other: object) -> bool:
        return bool(self.id == (other.id if isinstance(other, Vertex) else other))

    def __lt__(self, other: Vertex) -> bool:
        return bool(self.id < other.id)

    def __le__(self, other: Vertex) -> bool:
        return bool(self.id <= other.id)

    __hash__ = None  # type: ignore[assignment]


class Loop:
    """`u.out_edges` and its like: to be gone over, asked for a member, and repeated."""

    def __init__(self, origin: Vertex, word: str) -> None:
        way, _, what = word.rpartition("_")
        assert what in ("edges", "neighbours"), word
        self.origin, self.way, self.edges = origin, way or "both", what == "edges"

    def _visits(self, vertex: Vertex) -> list[tuple[Vertex, Any]]:
        found = vertex.graph.beside(vertex.id, self.way)
        if not self.edges:
            found = [(number, None) for number in dict.fromkeys(number for number, _ in found)]
        return [(vertex.at(number), edge) for number, edge in found]

    def __iter__(self) -> Any:
        visits = self._visits(self.origin)
        return iter(visits if self.edges else [vertex for vertex, _ in visits])

    def __contains__(self, vertex: Vertex) -> bool:
        return any(other.id == vertex.id for other, _ in self._visits(self.origin))

    def repeat(self, length: int) -> list[Any]:
        """Every path of so many steps, with the vertex that it ends at."""
        paths: list[tuple[list[Vertex], list[Any]]] = [([self.origin], [])]
        for _ in range(length):
            paths = [
                ([*vertices, vertex], [*edges, edge])
                for vertices, edges in paths
                for vertex, edge in self._visits(vertices[-1])
            ]
        return [
            (vertices[-1], SimpleNamespace(vertices=vertices, edges=edges))
            for vertices, edges in paths
        ]
