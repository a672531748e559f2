"""Walk programs as plans: nested loops over neighbours, and what they send.

A run is synchronous, as that of a vertex program is: iteration i empties all accumulators, runs
`traverse` for every vertex on the state of iteration i - 1, and then `update` for every vertex. It
ends in the same way too. The results are the state fields, the accumulators of the whole graph as
the last iteration left them, and the rows that walks reported in it.

`traverse` begins at one position, `root`. A `Step` goes on to another:

- without an edge it visits each *distinct* neighbour once, however many live edges lead there;
- with an edge it visits each live edge once: parallel edges one by one, and a self-loop, gone
  through `both` ways, twice.

A self-loop makes a vertex its own neighbour. Positions may meet: whoever wants different vertices
says so. `Joined` asks for a live edge, whatever its number. Conditions, values and indices read
positions and edges that are bound there, state of the iteration before, facts and parameters, and
no local names: the language that builds a plan has put their values in their place.

Positions and edges have unique names in the whole program. `Paths` repeats steps, `ForEach` and
`Along` statements, as often as a parameter says: `walk_unrolling.unrolled` replaces them by plain
statements once parameters have values, and whoever runs a program sees those alone. What a plan
needs to be maintained is found out by `walk_terms`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from graphtide.plan import programs as p
from graphtide.plan.expressions import Expression, PathItems, ValueType


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
        """All state fields and accumulators: what may be an array."""
        return (*self.state, *self.accumulators, *self.globals)


def inner(statement: WalkStatement) -> tuple[WalkStatement, ...]:
    """The statements directly inside of one."""
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
    """Every expression of the three functions."""
    yield from p.expressions_of(program.initialize)
    yield from walk_expressions(program.traverse)
    yield from p.expressions_of(program.update)
