"""Walk programs as plans: nested loops over neighbours, and what they send.

A run is synchronous, as that of a vertex program is: iteration i empties all accumulators, runs
`traverse` for every vertex on the state of iteration i - 1, and then `update` for every vertex. It
ends in the same way too. The results are the state fields, the accumulators of the whole graph as
the last iteration left them, and the rows that walks reported in it.

`traverse` begins at one position, `root`. A `Step` goes on to another:

- without an edge it visits each *distinct* neighbour once, however many live edges lead there;
- with an edge it visits each live edge once: parallel edges one by one, and a self-loop, traversed
  `both` ways, twice.

A self-loop makes a vertex its own neighbour. Positions may be the same vertex: a program that
wants different vertices says so. `Joined` asks for a live edge, whatever its number. Conditions,
values and indices read positions and edges that are bound there, state of the iteration before,
facts and parameters, and no local names: the language that builds a plan has replaced these.

Positions and edges have unique names in the whole program; `renamed_walk` gives a copy of some
statements other names. `Paths` repeats steps, `ForEach` and `Along` statements, as often as a
parameter says: `walk_lowering.unrolled` replaces them by plain statements once parameters have
values, and whoever runs a program sees those alone. What must be maintained is found out by
`walk_terms`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from graphtide.plan import expressions as x
from graphtide.plan import programs as p
from graphtide.plan.expressions import Expression, PathItems, ValueType
from graphtide.plan.programs import rewrite, subexpressions


@dataclass(frozen=True)
class Matches:
    """Rows that walks report: a name and the type of each column, and how many are kept.

    A column is the number of a vertex (`vertex`), or a number. `limit` is a number or the name of
    an int parameter; None keeps all. A column that `sizes` names stands for as many columns of its
    type; there is none such in a plan that is unrolled.
    """

    name: str
    columns: tuple[tuple[str, ValueType | str], ...]
    limit: int | str | None = None
    sizes: tuple[tuple[str, p.Size], ...] = ()


@dataclass(frozen=True)
class SendAt:
    """`w.accumulator(value)`: to the accumulator of any position of the walk."""

    vertex: str
    accumulator: str
    value: Expression
    index: Expression | None = None


@dataclass(frozen=True)
class SendGlobal:
    """`self.total(value)`: to an accumulator of the whole graph."""

    accumulator: str
    value: Expression
    index: Expression | None = None


@dataclass(frozen=True)
class Report:
    """`self.rings(u, v, e.time)`: one row of matches."""

    matches: str
    values: tuple[Expression, ...]


@dataclass(frozen=True)
class When:
    """Go on where the condition holds, and otherwise where it does not."""

    condition: Expression
    then: tuple[WalkStatement, ...]
    otherwise: tuple[WalkStatement, ...] = ()


@dataclass(frozen=True)
class Step:
    """`for vertex in origin.neighbours`, or `for vertex, edge in origin.edges`."""

    origin: str
    way: p.Direction
    vertex: str
    edge: str | None
    body: tuple[WalkStatement, ...]


@dataclass(frozen=True)
class Paths:
    """`for vertex, path in origin.out_edges.repeat(length)`: so many steps one behind the other.

    `vertex` is the end of the path. What is inside calls the others `path.vertices[2]`, in so many
    characters, and the edges `path.edges[-1]`. The first vertex is the origin, so that there is one
    more of them than of edges. `OverPath` and `Distinct` speak of many at once.
    """

    origin: str
    way: p.Direction
    vertex: str
    path: str
    edges: bool
    """Whether each live edge is gone along, or each distinct neighbour visited once."""
    length: p.Size
    body: tuple[WalkStatement, ...]


@dataclass(frozen=True)
class ForEach:
    """`for variable in range(start, stop, step)`, as a copy of the body for each number.

    Bounds are numbers or names of int parameters; inside, the number is a `Local`.
    """

    variable: str
    start: p.Size
    stop: p.Size
    body: tuple[WalkStatement, ...]
    step: int = 1


@dataclass(frozen=True)
class Along:
    """`for x in path.vertices`, as a copy of the body for each item of a path, in their order.

    Two names stand for two items at a time, as in `OverPath`.
    """

    names: tuple[str, ...]
    items: PathItems
    body: tuple[WalkStatement, ...]
    every: bool = False


WalkStatement = SendAt | SendGlobal | Report | When | Step | Paths | ForEach | Along


@dataclass(frozen=True)
class WalkProgram:
    """A whole walk program; `iterations` and `tolerance` as those of a vertex program."""

    name: str
    parameters: tuple[p.Parameter, ...]
    state: tuple[p.StateField, ...]
    accumulators: tuple[p.Accumulator, ...]
    globals: tuple[p.Accumulator, ...]
    matches: tuple[Matches, ...]
    initialize: p.Body
    root: str
    traverse: tuple[WalkStatement, ...]
    update: p.Body
    iterations: int | str | None = None
    tolerance: float | str = 0.0
    documentation: str = ""

    @property
    def pairs(self) -> p.Parameter | None:
        """The parameter that lists pairs of vertices; None where results are those of vertices."""
        return next((item for item in self.parameters if item.kind is p.ParameterKind.PAIRS), None)

    def parameter(self, name: str) -> p.Parameter:
        """The parameter of that name; KeyError if there is none."""
        return {item.name: item for item in self.parameters}[name]

    def accumulator(self, name: str) -> p.Accumulator:
        """The accumulator of that name, of vertices or of the graph; KeyError if there is none."""
        return {item.name: item for item in (*self.accumulators, *self.globals)}[name]

    @property
    def sized(self) -> tuple[p.StateField | p.Accumulator, ...]:
        return (*self.state, *self.accumulators, *self.globals)


def inner(statement: WalkStatement) -> tuple[WalkStatement, ...]:
    match statement:
        case When(_, then, otherwise):
            return (*then, *otherwise)
        case Step(body=body) | Paths(body=body) | ForEach(body=body) | Along(body=body):
            return body
        case _:
            return ()


def walk_statements(body: tuple[WalkStatement, ...]) -> Iterator[WalkStatement]:
    """Every statement, those inside of others included, in the order in which they stand."""
    for statement in body:
        yield statement
        yield from walk_statements(inner(statement))


def roots(statement: WalkStatement) -> tuple[Expression, ...]:
    """The expressions that stand in a statement itself, not in those inside of it."""
    match statement:
        case SendAt(_, _, value, index) | SendGlobal(_, value, index):
            return (value,) if index is None else (index, value)
        case Report(_, values):
            return values
        case When(condition):
            return (condition,)
        case _:
            return ()


def walk_expressions(body: tuple[WalkStatement, ...]) -> Iterator[Expression]:
    """Every expression of a walk, each followed by the ones inside of it."""
    for statement in walk_statements(body):
        for expression in roots(statement):
            yield from p.subexpressions(expression)


def all_expressions(program: WalkProgram) -> Iterator[Expression]:
    yield from p.expressions_of(program.initialize)
    yield from walk_expressions(program.traverse)
    yield from p.expressions_of(program.update)


Names = Mapping[str, str]
Change = Callable[[x.Expression], x.Expression]


def renamed(expression: x.Expression, names: Names) -> x.Expression:
    """The expression with positions and edges called what `names` says; others stay."""

    def called(name: str) -> str:
        return _called(name, names)

    def leaf(item: x.Expression) -> x.Expression:
        match item:
            case (
                x.StateRef(vertex=vertex)
                | x.VertexFact(vertex=vertex)
                | x.VertexProperty(vertex=vertex)
                | x.Member(vertex=vertex)
            ):
                return replace(item, vertex=called(vertex))
            case x.Joined(source, target, way):
                return x.Joined(called(source), called(target), way)
            case x.EdgeProperty(edge=edge):
                return replace(item, edge=called(edge))
            case x.Distinct(vertices):
                return x.Distinct(tuple(_of_items(one, called) for one in vertices))
            case x.OverPath(items=items):
                return replace(item, items=replace(items, path=called(items.path)))
            case _:
                return item

    return rewrite(expression, leaf)


def with_locals(expression: x.Expression, values: Mapping[str, x.Expression]) -> x.Expression:
    """The expression with local names replaced by values."""

    def leaf(item: x.Expression) -> x.Expression:
        return values.get(item.name, item) if isinstance(item, x.Local) else item

    return rewrite(expression, leaf)


def changed(body: tuple[WalkStatement, ...], change: Change) -> tuple[WalkStatement, ...]:
    """The statements with every expression that stands in one changed; names they bind stay."""
    return tuple(_changed(statement, change) for statement in body)


def renamed_walk(body: tuple[WalkStatement, ...], names: Names) -> tuple[WalkStatement, ...]:
    """The statements with positions and edges called what `names` says, where bound and read."""

    def again(inner: tuple[WalkStatement, ...]) -> tuple[WalkStatement, ...]:
        return tuple(map(one, inner))

    def called(name: str) -> str:
        return _called(name, names)

    def one(statement: WalkStatement) -> WalkStatement:
        match statement:
            case Step(origin, _, vertex, edge, body=inner):
                edge = None if edge is None else called(edge)
                return replace(
                    statement,
                    origin=called(origin),
                    vertex=called(vertex),
                    edge=edge,
                    body=again(inner),
                )
            case Paths(origin, _, vertex, path, body=inner):
                return replace(
                    statement,
                    origin=called(origin),
                    vertex=called(vertex),
                    path=called(path),
                    body=again(inner),
                )
            case SendAt(vertex=vertex):
                return replace(statement, vertex=called(vertex))
            case When(condition, then, otherwise):
                return When(condition, again(then), again(otherwise))
            case ForEach(body=inner):
                return replace(statement, body=again(inner))
            case Along(own, items, inner):
                named = replace(items, path=called(items.path))
                return replace(
                    statement, names=tuple(map(called, own)), items=named, body=again(inner)
                )
            case _:
                return statement

    return again(changed(body, lambda item: renamed(item, names)))


def names_in(expression: x.Expression) -> Iterator[str]:
    """The positions and edges that an expression reads, as it calls them."""
    for item in subexpressions(expression):
        match item:
            case x.StateRef(vertex=name) | x.VertexFact(vertex=name) | x.Member(vertex=name):
                yield name
            case x.VertexProperty(vertex=name):
                yield name
            case x.EdgeProperty(edge=name):
                yield name
            case x.Joined(source, target):
                yield from (source, target)
            case x.Distinct(vertices):
                yield from (name for name in vertices if isinstance(name, str))
            case _:
                pass


def _called(name: str, names: Names) -> str:
    """`path.vertices[2]` is called after its path, unless it has a name of its own."""
    path, dot, item = name.partition(".")
    return names.get(name) or names.get(path, path) + dot + item


def _of_items(one: str | x.PathItems, called: Callable[[str], str]) -> str | x.PathItems:
    return replace(one, path=called(one.path)) if isinstance(one, x.PathItems) else called(one)


def _changed(statement: WalkStatement, change: Change) -> WalkStatement:
    match statement:
        case SendAt(value=value, index=index) | SendGlobal(value=value, index=index):
            index = None if index is None else change(index)
            return replace(statement, value=change(value), index=index)
        case Report(matches, values):
            return Report(matches, tuple(map(change, values)))
        case When(condition, then, otherwise):
            return When(change(condition), changed(then, change), changed(otherwise, change))
        case _:
            return replace(statement, body=changed(statement.body, change))
