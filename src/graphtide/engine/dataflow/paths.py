"""Paths: how records get from an operator that makes them to an operator that keeps them.

Map, filter, negate, weigh, concat, enter, leave and variables keep no state, so they are no
operators of the machine. From where records are needed, `paths_to` walks back through them to the
operators that make records, and collects what happens to a record on the way: the columns as
expressions over those of the origin, the conditions, the sign, the weight, and the change of the
position. Each path becomes one edge.

A collection that is reached on very many paths, and a variable that is defined by itself without
an operator that adds up in between, are consolidated where they stand, which cuts the paths there.
So is a variable that changes in some rounds only, or starts as a collection that differs from round
to round, of which it takes the first: its edges have to look at the round.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from graphtide.kernels.dataflow.numbers import MOST_COORDINATES
from graphtide.model.errors import LimitError
from graphtide.plan.dataflow import (
    Compute,
    Concat,
    DataflowPlan,
    Enter,
    Filter,
    Foreign,
    Leave,
    Map,
    Negate,
    Variable,
    Weigh,
    sources_of,
)
from graphtide.plan.dataflow_expressions import Column, Expression, substitute

MOST_PATHS = 48
MOST_ROUNDS = 1 << 20
"""Rounds after which a loop is taken to be one that never comes to rest."""
ALL_BITS = (1 << 62) - 1
LINEAR = (Map, Filter, Negate, Weigh, Concat, Enter, Leave, Variable)
"""Nodes that keep no state: what passes them does so on the way."""


@dataclass(frozen=True)
class LinearPath:
    """One way from an origin: columns and conditions over the origin's columns, and the rest.

    The position loses the bits that are not kept; then `add`, and every delay times its unit, are
    added to it. `last_round`, where it is not None, is the last round of the loop at the end of the
    path that still counts.
    """

    origin: int
    columns: tuple[tuple[str, Expression], ...]
    conditions: tuple[Expression, ...] = ()
    weights: tuple[Expression, ...] = ()
    delays: tuple[tuple[Expression, int], ...] = ()
    sign: int = 1
    keep: int = ALL_BITS
    add: int = 0
    through: tuple[int, ...] = ()
    last_round: int | None = None

    def moved(self, keep: int, add: int) -> LinearPath:
        delays = tuple((delay, unit) for delay, unit in self.delays if unit & keep)
        return replace(self, keep=self.keep & keep, add=(self.add & keep) + add, delays=delays)


class LinearPaths:
    """The paths of one plan, remembered; `cuts` are the nodes that must be consolidated."""

    def __init__(self, plan: DataflowPlan, width: int, most_rounds: int) -> None:
        self.plan = plan
        self.width = width
        self.round_limit = min(1 << (most_rounds - 1).bit_length(), 1 << (width - 1))
        """The round that no loop may come to: a power of two that the times can count."""
        self.cuts = {
            number
            for number in plan.definitions
            if number in plan.rounds or _reaches_itself(plan, number, plan.definitions[number])
        }
        self._starting = {
            number
            for number in plan.definitions
            for initial in sources_of(plan.nodes[number])
            if _varies(plan, initial, plan.scope_of[number])
        }
        self.cuts |= self._starting
        self._found: dict[int, list[LinearPath]] = {}

    def paths_to(self, number: int) -> list[LinearPath]:
        """All paths that end with the records of a node."""
        waiting = [number]
        while waiting:  # Not by recursion: hundreds of nodes may stand behind one another.
            node = waiting[-1]
            before = [item for item in self._before(node) if item not in self._found]
            if before and node not in self._found:
                waiting += before
                continue
            waiting.pop()
            if node not in self._found:
                self._found[node] = self._few_paths(node)
        return self._found[number]

    def _before(self, number: int) -> tuple[int, ...]:
        """The nodes whose paths make up those of a linear node; none of any other."""
        if not self._is_passed(number):
            return ()
        initial = sources_of(self.plan.nodes[number])
        defined = self.plan.definitions.get(number)
        return (*initial, *(() if defined is None else (defined,)))

    def _is_passed(self, number: int) -> bool:
        return number not in self.cuts and isinstance(self.plan.nodes[number], LINEAR)

    def _few_paths(self, number: int) -> list[LinearPath]:
        if not self._is_passed(number):
            return [self._whole(number)]
        try:
            paths = self._through(number)
        except LimitError:
            # What many nodes do to a column is too much for one expression: begin anew before it.
            before = [item for item in self._before(number) if self._is_passed(item)]
            if not before:
                raise
            for item in before:
                self._cut(item)
            return self._few_paths(number)
        return paths if len(paths) <= MOST_PATHS else self._cut(number)

    def _cut(self, number: int) -> list[LinearPath]:
        self.cuts.add(number)
        self._found[number] = [self._whole(number)]
        return self._found[number]

    def into_cut(self, number: int) -> list[LinearPath]:
        """All paths into a node that is consolidated where it stands."""
        return self._through(number)

    def unit(self, depth: int) -> int:
        """One round of the loop at a depth, as an addend of the position."""
        return 1 << (self.width * (self._depths - depth))

    @property
    def beyond(self) -> int:
        """The bits of a position that are set where some loop has gone round too often."""
        bits = (1 << self.width) - self.round_limit
        return sum(bits * self.unit(depth) for depth in range(1, self._depths + 1))

    def round_of(self, path: LinearPath) -> int:
        """The depth of the outermost loop that a path goes round; beyond all for none."""
        field = (1 << self.width) - 1
        rounds = [d for d in range(1, self._depths + 1) if path.add & field * self.unit(d)]
        return min(rounds, default=MOST_COORDINATES + 1)

    def outermost(self, path: LinearPath) -> int:
        """The least depth that a path comes to, as far as it leaves loops on the way."""
        return sum(1 for d in range(1, self._depths + 1) if path.keep & self.unit(d))

    @property
    def _depths(self) -> int:
        return max(self.plan.depth(), 1)

    def _whole(self, number: int) -> LinearPath:
        names = tuple((name, Column(name)) for name, _ in self.plan.schemas[number])
        return LinearPath(number, names)

    def _through(self, number: int) -> list[LinearPath]:
        node = self.plan.nodes[number]
        found = [
            replace(path, through=(*path.through, number))
            for source in sources_of(node)
            for path in self._renamed(source, number)
        ]
        match node:
            case Map():
                return [_mapped(path, node) for path in found]
            case Filter():
                return [_filtered(path, node) for path in found]
            case Negate():
                return [replace(path, sign=-path.sign) for path in found]
            case Weigh():
                return [_weighed(path, node) for path in found]
            case Enter() if node.delay is not None:
                return [self._delayed(path, number, node.delay) for path in found]
            case Leave():
                depth = self.plan.scopes[self.plan.scope_of[node.source]].depth
                below = self.width * (self._depths - depth + 1)
                return [path.moved(ALL_BITS >> below << below, 0) for path in found]
            case Variable():
                first = self._until(number, found, 0)
                return [*first, *self._around(number, found)]
        return found

    def _delayed(self, path: LinearPath, number: int, delay: Expression) -> LinearPath:
        unit = self.unit(self.plan.scopes[self.plan.scope_of[number]].depth)
        rounds = substitute(delay, dict(path.columns))
        return replace(path, delays=(*path.delays, (rounds, unit)))

    def _around(self, number: int, initial: list[LinearPath]) -> list[LinearPath]:
        """What comes round the loop into a variable: its definition, less the initial value."""
        if number not in self.plan.definitions:
            return []
        unit = self.unit(self.plan.scopes[self.plan.scope_of[number]].depth)
        back = [
            replace(path, through=(*path.through, number))
            for path in self._renamed(self.plan.definitions[number], number)
        ]
        gone = [replace(path, sign=-path.sign).moved(ALL_BITS, unit) for path in initial]
        return [*(path.moved(ALL_BITS, unit) for path in back), *self._until(number, gone, 1)]

    def _until(self, number: int, paths: list[LinearPath], last: int) -> list[LinearPath]:
        """Paths of the initial value, of which the first round alone counts where it varies."""
        if number not in self._starting:
            return paths
        return [replace(path, last_round=last) for path in paths]

    def _renamed(self, source: int, target: int) -> list[LinearPath]:
        """The paths to a source, with the column names of a node that takes it as it is."""
        node = self.plan.nodes[target]
        if isinstance(node, Map | Weigh):
            return self.paths_to(source)
        names = [name for name, _ in self.plan.schemas[target]]
        return [
            replace(
                path,
                columns=tuple(
                    (name, expression)
                    for name, (_, expression) in zip(names, path.columns, strict=True)
                ),
            )
            for path in self.paths_to(source)
        ]


def _mapped(path: LinearPath, node: Map) -> LinearPath:
    by = dict(path.columns)
    return replace(
        path,
        columns=tuple((name, substitute(expression, by)) for name, expression in node.columns),
    )


def _filtered(path: LinearPath, node: Filter) -> LinearPath:
    condition = substitute(node.predicate, dict(path.columns))
    return replace(path, conditions=(*path.conditions, condition))


def _weighed(path: LinearPath, node: Weigh) -> LinearPath:
    return replace(
        path,
        weights=(*path.weights, dict(path.columns)[node.column]),
        columns=tuple(item for item in path.columns if item[0] != node.column),
    )


def _reaches_itself(plan: DataflowPlan, variable: int, start: int) -> bool:
    """True where a definition leads back to its variable through nodes that add nothing up.

    What goes round such a loop would never end: a record and its like that is taken away would go
    round together for ever. Functions of Python are operators, but add nothing up either.
    """
    waiting, seen = [start], set()
    while waiting:
        number = waiting.pop()
        if number == variable:
            return True
        node = plan.nodes[number]
        if number in seen or not isinstance(node, (*LINEAR, Foreign, Compute)):
            continue
        seen.add(number)
        waiting.extend(sources_of(node))
        if number in plan.definitions:
            waiting.append(plan.definitions[number])
    return False


def _varies(plan: DataflowPlan, start: int, loop: int) -> bool:
    """True where a collection may differ from one round of a loop to the next."""
    waiting, seen = [start], set()
    while waiting:
        number = waiting.pop()
        if number in seen or not plan.encloses(loop, plan.scope_of[number]):
            continue
        seen.add(number)
        node = plan.nodes[number]
        here = plan.scope_of[number] == loop
        if here and (isinstance(node, Variable) or (isinstance(node, Enter) and node.delay)):
            return True
        waiting.extend(sources_of(node))
        if number in plan.definitions:
            waiting.append(plan.definitions[number])
    return False
