"""What a walk program looks at: the facts that decide what must be kept and what runs again."""

from __future__ import annotations

from dataclasses import dataclass

from graphtide.plan import expressions as x
from graphtide.plan.programs import Direction, expressions_of
from graphtide.plan.walk_forms import Walk, walks_of
from graphtide.plan.walk_orders import ordered_properties
from graphtide.plan.walks import WalkProgram


@dataclass(frozen=True)
class WalkFacts:
    """`directed` and `either`: whether distinct neighbours, or questions whether two are joined, go
    by direction or not. `by_edge`: whether any hop visits edges. `stateful`: whether walks read
    state. `ordered`: the edge properties by whose order loops go. The last four are about
    `initialize` and `update`.
    """

    walks: tuple[Walk, ...]
    directed: bool
    either: bool
    by_edge: bool
    stateful: bool
    properties: tuple[tuple[str, x.ValueType], ...]
    ordered: tuple[str, ...]
    reads_degrees: bool
    reads_globals: bool
    reads_iteration: bool
    reads_own_state: bool


def walk_facts(program: WalkProgram) -> WalkFacts:
    """The facts of a program."""
    walks = walks_of(program)
    hops = [hop for walk in walks for hop in walk.hops]
    read = [item for walk in walks for item in walk.expressions()]
    ways = {hop.way.value for hop in hops if hop.edge is None}
    ways |= {item.way for item in read if isinstance(item, x.Joined)}
    bodies = [*expressions_of(program.initialize), *expressions_of(program.update)]
    properties = {item.name: item.type for item in read if isinstance(item, x.EdgeProperty)}
    return WalkFacts(
        walks=walks,
        directed=bool(ways - {Direction.BOTH.value}),
        either=Direction.BOTH.value in ways,
        by_edge=any(hop.edge is not None for hop in hops),
        stateful=any(isinstance(item, x.StateRef) for item in read),
        properties=tuple(sorted(properties.items())),
        ordered=tuple(sorted(set().union(*map(ordered_properties, walks)))),
        reads_degrees=any(isinstance(item, x.VertexFact) and item.fact != "id" for item in bodies),
        reads_globals=any(isinstance(item, x.GlobalRef) for item in bodies),
        reads_iteration=any(isinstance(item, x.Iteration) for item in bodies),
        reads_own_state=any(
            isinstance(item, x.StateRef) for item in expressions_of(program.update)
        ),
    )


def open_end(program: WalkProgram, facts: WalkFacts) -> str | None:
    """Why nobody knows what further rounds of a run would be; None where it stands still."""
    if program.tolerance:
        return "a tolerance may end its runs while things move"
    if program.iterations is None and facts.reads_iteration:
        return "update reads the iteration, and runs have no number of them"
    return None
