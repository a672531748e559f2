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

Positions and edges have unique names in the whole program; a `Paths` repeats steps as often as a
parameter says, and `unrolled` replaces it by plain steps. What a plan needs to be maintained is
found out by `walk_terms`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from graphtide.plan.expressions import Expression, ValueType
from graphtide.plan.programs import (
    Accumulator,
    Body,
    Direction,
    Parameter,
    Size,
    StateField,
)


@dataclass(frozen=True)
class Matches:
    """Rows that walks report: a name and the type of each column, and how many are kept.

    A column is the number of a vertex (`vertex`), or a number. `limit` is a number or the name of
    an int parameter; None keeps all.
    """

    name: str
    columns: tuple[tuple[str, ValueType | str], ...]
    limit: int | str | None = None


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
    way: Direction
    vertex: str
    edge: str | None
    body: tuple[WalkStatement, ...]


@dataclass(frozen=True)
class Paths:
    """A step repeated: `length` steps one behind the other, and then the body.

    The positions are `vertex` with the number of the step behind it (`p1`, `p2`, ...), and so are
    the edges. `first` is a condition on the first step, `each` on every later one; both speak of
    the step's own vertex and edge by `vertex` and `edge`, and `each` of those before it by
    `before` and `edge_before`. In the body, `last` and `last_edge` are the end of the path, and
    `first_vertex` and `first_edge` its beginning.
    """

    origin: str
    way: Direction
    vertex: str
    edge: str | None
    length: Size
    first: Expression | None
    each: Expression | None
    distinct: bool
    """Whether no two vertices of the path, its origin included, may be the same."""
    body: tuple[WalkStatement, ...]


WalkStatement = SendAt | SendGlobal | Report | When | Step | Paths


@dataclass(frozen=True)
class WalkProgram:
    """A whole walk program; `iterations` and `tolerance` as those of a vertex program."""

    name: str
    parameters: tuple[Parameter, ...]
    state: tuple[StateField, ...]
    accumulators: tuple[Accumulator, ...]
    globals: tuple[Accumulator, ...]
    matches: tuple[Matches, ...]
    initialize: Body
    root: str
    traverse: tuple[WalkStatement, ...]
    update: Body
    iterations: int | str | None = None
    tolerance: float | str = 0.0
    documentation: str = ""

    @property
    def sized(self) -> tuple[StateField | Accumulator, ...]:
        """All state fields and accumulators: what may be an array."""
        return (*self.state, *self.accumulators, *self.globals)


def inner(statement: WalkStatement) -> tuple[WalkStatement, ...]:
    """The statements directly inside of one."""
    match statement:
        case When(_, then, otherwise):
            return (*then, *otherwise)
        case Step(body=body) | Paths(body=body):
            return body
        case _:
            return ()


def walk_statements(body: tuple[WalkStatement, ...]) -> Iterator[WalkStatement]:
    """Every statement, those inside of others included, in the order in which they stand."""
    for statement in body:
        yield statement
        yield from walk_statements(inner(statement))
