"""From plan to machine: operators for what keeps state, edges for what does not, a schedule.

Each node that keeps state becomes one operator (see `making`). Where it reads records, the paths to
them become edges from the operators that make them; where it reads an arrangement, it is made a
reader of the trace. The schedule has the operators in topological order, each loop in one piece.

On one of several workers, an edge into an operator that keeps keys sends each row to the worker
that has its key, unless every row on that edge is there already.
"""

from __future__ import annotations

from graphtide.engine.dataflow.making import Installed, Making
from graphtide.engine.dataflow.paths import Path
from graphtide.engine.dataflow.programs import (
    doubtful,
    is_plain,
    path_program,
    sums_of,
    sums_program,
)
from graphtide.engine.dataflow.schedule import Flow, schedule
from graphtide.kernels.dataflow import layout
from graphtide.model.errors import LimitError
from graphtide.plan.dataflow import Arrange, Compute, Consolidate, Foreign, Node, Output, Reduce
from graphtide.plan.dataflow_expressions import Column


class Lowering(Making):
    """One plan on its way into a machine: its operators, the edges between them, the schedule."""

    def install(self) -> Installed:
        """Make all operators, connect them, and write the schedule."""
        self.paths.cuts |= doubtful(self.plan, self.encode)
        for number, node in enumerate(self.plan.nodes):
            self._make(number, node)
        for number, node in enumerate(self.plan.nodes):
            self._connect(number, node)
        if self.watch:
            # Who watches all nodes needs the paths to all of them.
            for number in range(len(self.plan.nodes)):
                self.paths.paths_to(number)
        # Connecting finds nodes that have to be consolidated; connecting those may find more.
        connected: set[int] = set()
        while self.paths.cuts - connected:
            for number in sorted(self.paths.cuts - connected):
                connected.add(number)
                if number not in self.done.operators:
                    self._cut(number)
                self._feed(number, self.done.ports[number], self.paths.into_cut(number))
        if self.watch:
            self._watch_all()
        self.done.instructions = schedule(
            self.plan, self.done.operators, self._flows, self._exchanged
        )
        return self.done

    def _connect(self, number: int, node: Node) -> None:
        """Make the edges that bring records to a node with a port."""
        match node:
            case Arrange() if number in self.tables.values():
                pass
            case Reduce() if number in self.tables:
                source = self.plan.nodes[self.tables[number]]
                assert isinstance(source, Arrange)
                self._feed(number, self.done.ports[number], self.paths.paths_to(source.source))
            case Consolidate() | Foreign() | Compute() | Output() | Arrange():
                self._feed(number, self.done.ports[number], self.paths.paths_to(node.source))

    def _feed(self, number: int, port: int, paths: list[Path]) -> None:
        listed = self._programs(paths, summed=number in self._summed)
        for place, (path, program) in enumerate(listed):
            if path.origin not in self.done.operators:
                self._cut(path.origin)
            edge = self._edge(port, path, program) | self._last_round(number, path)
            edge |= self._owners(number, path)
            address = self.machine.add_edge(self.done.operators[path.origin], edge)
            self.done.edges[path.origin, number, place] = address
            round_of, outermost = self.paths.round_of(path), self.paths.outermost(path)
            self._flows.append(Flow(path.origin, number, round_of, outermost))

    def _programs(self, paths: list[Path], *, summed: bool) -> list[tuple[Path, list[int]]]:
        """A program for each path; one for all paths of the same sums where they are summed up."""
        groups: dict[Path, list[Path]] = {}
        for path in paths:
            groups.setdefault((sums_of(path) if summed else None) or path, []).append(path)
        programs = []
        for shared, together in groups.items():
            whole = self._sums_program(together) if shared is not together[0] else None
            if whole is not None:
                programs.append((together[0], whole))
            else:
                programs += [(path, self._program(path)) for path in together]
        return programs

    def _sums_program(self, paths: list[Path]) -> list[int] | None:
        """One program for paths of the same sums; None where it would be too large."""
        schema = self.plan.schemas[paths[0].origin]
        try:
            program = sums_program(paths, schema, self.encode)
        except LimitError:
            return None
        return program if len(paths) <= layout.MOST_SUMS else None

    def _program(self, path: Path) -> list[int]:
        schema = self.plan.schemas[path.origin]
        return path_program(path, schema, self.encode, self.paths.round_limit)

    def _owners(self, number: int, path: Path) -> dict[int, int]:
        """What an edge has to know to send rows to the workers whose keys they have."""
        keys = self.key_words(number)
        if self.machine.workers == 1 or keys is None or self._stays(path, keys):
            return {}
        if number not in self._exchanged:
            operator = self.done.operators[number]
            self._exchanged[number] = self.machine.new_outboxes(operator)
        return {layout.EDGE_KEYS: keys, layout.EDGE_OWNERS: self._exchanged[number]}

    def _stays(self, path: Path, keys: int) -> bool:
        """True where rows have, at the end of a path, the key that they are where they are for."""
        names = [name for name, _ in self.plan.schemas[path.origin]]
        same = [expression for _, expression in path.columns[:keys]]
        return self.key_words(path.origin) == keys and same == [
            Column(name) for name in names[:keys]
        ]

    def _watch_all(self) -> None:
        """Let the differences of every node be kept in a port of its own, for debug mode."""
        for number, node in enumerate(self.plan.nodes):
            if isinstance(node, Output):
                continue
            port = self.machine.new_port(len(self.plan.schemas[number]))
            self.done.watched[number] = port
            for path in self.paths.paths_to(number):
                edge = self._edge(port, path, self._program(path))
                self.machine.add_edge(self.done.operators[path.origin], edge)

    def _edge(self, port: int, path: Path, program: list[int]) -> dict[int, int]:
        return {
            layout.EDGE_PORT: port,
            layout.EDGE_PROGRAM: self.machine.store(program),
            layout.EDGE_SIGN: path.sign,
            layout.EDGE_KEEP: path.keep,
            layout.EDGE_ADD: path.add,
            layout.EDGE_BEYOND: self.paths.beyond,
            layout.EDGE_FAULTS: self._fault_port(path, program),
        }

    def _fault_port(self, path: Path, program: list[int]) -> int:
        """A port for records for which the program has no word; 0 where it has one for all."""
        if program[layout.PROGRAM_FAULT] < 0:
            return 0
        return self.machine.new_port(len(self.plan.schemas[path.origin]))

    def _last_round(self, number: int, path: Path) -> dict[int, int]:
        """What an edge into a variable has to know, of which only the first rounds count."""
        bounds = [self.plan.rounds.get(number), path.last_round]
        known = [bound for bound in bounds if bound is not None]
        if not known:
            return {}
        unit = self.paths.unit(self.plan.scopes[self.plan.scope_of[number]].depth)
        return {
            layout.EDGE_LAST_ROUND: min(known),
            layout.EDGE_ROUND_SHIFT: unit.bit_length() - 1,
            layout.EDGE_ROUND_MASK: (1 << self.paths.width) - 1,
        }

    def shortcut(self, number: int) -> int:
        """The port for what users feed an input: straight to its only reader where that is all."""
        schema = self.plan.schemas[number]
        ends = [key for key in self.done.edges if key[0] == number]
        port = self.done.ports[number]
        if self.watch or len(ends) != 1 or isinstance(self.plan.nodes[ends[0][1]], Output):
            return port
        source = self.plan.nodes[ends[0][1]]
        if not isinstance(source, Arrange | Consolidate):
            return port
        paths = self.paths.paths_to(source.source)
        # What has no key at all is added up by each worker before one has it.
        keyed = self.machine.workers == 1 or self.key_words(ends[0][1])
        if len(paths) == 1 and is_plain(paths[0], schema) and keyed:
            return self.done.ports[ends[0][1]]
        return port
