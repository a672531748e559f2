"""The program section of a walk program: its loops, its terms and its functions of one vertex."""

from __future__ import annotations

from collections.abc import Iterable

from graphtide.engine.inputs import KERNEL_TYPES
from graphtide.engine.sections import handing_over
from graphtide.engine.synchronous.row_layout import Column
from graphtide.engine.walks import sending
from graphtide.engine.walks.compact import CompactNest, is_compact
from graphtide.engine.walks.layout import is_gathered, walk_layout
from graphtide.engine.walks.names import WalkNames
from graphtide.engine.walks.ranges import ordering_kernels
from graphtide.engine.walks.terms import gather_kernel, run_kernel, term_kernel
from graphtide.engine.write import constant_text, write_body
from graphtide.plan.expressions import FLOAT
from graphtide.plan.programs import Accumulator, StateField
from graphtide.plan.walk_facts import WalkFacts
from graphtide.plan.walk_forms import Sending
from graphtide.plan.walk_terms import terms_of
from graphtide.plan.walks import SendAt, WalkProgram

_IMPORTS = """
import numpy as np

from graphtide.kernels.blocks import array_at
from graphtide.kernels.graph.adjacency import goes_back
from graphtide.kernels.synchronous.program_words import float_moved
from graphtide.kernels.walks.beside import ask_rows, gather_beside, is_beside
from graphtide.kernels.walks.compact import is_listed, stamp_neighbours
from graphtide.kernels.walks.ends import EVERYBODY, FEW, bit_of
from graphtide.kernels.walks.faults import within
from graphtide.kernels.walks.ordered import NEIGHBOUR, SHIFT, enter_edges, leave_edges, row_bounds
from graphtide.kernels.walks.records import EDGE_CAME, EDGE_LEFT, EITHER, EITHER_CAME, GATHERED
from graphtide.kernels.walks.records import LEFT_EDGE_IN, LEFT_EDGE_OUT, LEFT_EITHER, LEFT_IN
from graphtide.kernels.walks.records import OLD, OLD_VERTICES, VERTICES
from graphtide.kernels.walks.rising import NOBODY, append_edges, note_extent
from graphtide.kernels.walks.sums import gather_float, multiply, multiply_whole, note_doubt
from graphtide.kernels.walks.sums import report, send_exactly, send_float
from graphtide.kernels.walks.versions import BOTH_WAYS, IN_WAY, either_change, entries
from graphtide.kernels.walks.versions import ask_ahead, ask_first, ask_neighbours
from graphtide.kernels.walks.versions import in_degree, is_edge, joined, out_degree, size_of
"""
"""What sections name beside what the template imports for itself."""

_ROUND_IMPORTS = """
from graphtide.kernels.walks.records import BUDGET, LOOKED
from graphtide.kernels.walks.rounds import DIFFERING, reach, state_differs, state_place
"""
"""The same for programs whose walks read state."""

_TAKEN = "inserted, deleted, sources, targets"


def walk_section(program: WalkProgram, facts: WalkFacts) -> str:
    """What stands between the marks of `templates/walks.py`."""
    return "\n".join(_Section(program, facts).lines())


class _Section:
    def __init__(self, program: WalkProgram, facts: WalkFacts) -> None:
        self.program, self.facts = program, facts
        self.layout = walk_layout(program)
        self.names = WalkNames(program, self.layout, facts)
        self.kernels: list[str] = []
        self.compact = [is_compact(walk) for walk in facts.walks]
        self._compact_runs()
        self.runs, self.terms, self.gatherings = self._runs(), self._terms(), self._gatherings()

    def lines(self) -> list[str]:
        facts = self.facts
        return [
            *_IMPORTS.splitlines(),
            *(_ROUND_IMPORTS.splitlines() if facts.stateful else ()),
            "",
            f"NEEDS = {facts.directed * 1 + facts.either * 2 + facts.by_edge * 4}",
            f"READS_DEGREES = {facts.reads_degrees}",
            f"READS_NOTHING = {not facts.reads_own_state and not facts.reads_iteration}",
            "",
            "",
            *handing_over((KERNEL_TYPES[type_] for _, type_ in facts.properties), self.program),
            *ordering_kernels(self.names),
            *self.kernels,
            *_calls("run_walks(words, first, last)", self.runs, "words, first, last"),
            *self._following(),
            *self._clear_vertex(),
            *self._clear_gathered(),
            *self._clear_globals(),
            *self._initialize(),
            *self._update(),
            *self._moved(),
        ]

    def _following(self) -> list[str]:
        """The terms and gatherings of a batch, or of every round of it."""
        terms, gatherings = self.terms, self.gatherings
        once = [] if self.facts.stateful else terms, [] if self.facts.stateful else gatherings
        lines = [
            *_calls(f"run_terms(words, {_TAKEN})", once[0], f"words, {_TAKEN}"),
            *_calls("gather_walks(words, vertex)", once[1], "words, vertex"),
        ]
        if self.facts.stateful:
            given = f"words, rounds, {_TAKEN}"
            lines += _calls(f"round_terms({given})", terms, given)
            lines += _calls(
                "gather_in_round(words, rounds, vertex)", gatherings, "words, rounds, vertex"
            )
        return lines

    def _compact_runs(self) -> None:
        for number, walk in enumerate(self.facts.walks):
            if self.compact[number]:
                self.kernels += CompactNest(self.names, walk).kernel(f"run_compact_{number}")

    def _runs(self) -> list[str]:
        """Walks that go along edges, and those that go nowhere, run over the slabs."""
        found = []
        for number, walk in enumerate(self.facts.walks):
            if self.compact[number]:
                continue
            found.append(f"run_{number}")
            self.kernels += run_kernel(self.names, walk, found[-1], lambda _: True)
        return found

    def _terms(self) -> list[str]:
        found: list[str] = []
        for walk in self.facts.walks:
            for term in terms_of(walk):
                found.append(f"term_{len(found)}")
                self.kernels += term_kernel(self.names, term, found[-1])
        return found

    def _gatherings(self) -> list[str]:
        gathered = {item.name for item in self.program.accumulators if is_gathered(item)}

        def wanted(send: Sending) -> bool:
            return isinstance(send, SendAt) and send.accumulator in gathered

        found: list[str] = []
        for walk in self.facts.walks:
            sends = [send for send in walk.sends if wanted(send)]
            for position in dict.fromkeys(send.vertex for send in sends):  # type: ignore[union-attr]
                found.append(f"gather_{len(found)}")
                self.kernels += gather_kernel(self.names, walk, position, found[-1], wanted)
        return found

    def _clear_vertex(self) -> list[str]:
        return self._clear("clear_vertex(walking, parameters, vertex)", self.layout.sums)

    def _clear_gathered(self) -> list[str]:
        columns = [column for column in self.layout.sums if _is_gathered(column)]
        return self._clear("clear_gathered(walking, parameters, vertex)", columns)

    def _clear(self, head: str, columns: Iterable[Column]) -> list[str]:
        width = self.names.extent(self.layout.sums_width)
        body = [f"sums, base = walking.sums, vertex * ({width})"]
        for column in columns:
            body += sending.clearing(self.names, column, "sums", "base")
        return _function(head, body)

    def _clear_globals(self) -> list[str]:
        body = ["globals_ = walking.globals"]
        for column in self.layout.globals:
            body += sending.clearing(self.names, column, "globals_", "0")
        return _function("clear_globals(walking, parameters)", body)

    def _initialize(self) -> list[str]:
        body = [*self._at_vertex()]
        for column in self.layout.state:
            item = column.item
            assert isinstance(item, StateField)
            place = f"{self.names.element(column, 'at', None)} + element"
            word = f"states.{'real' if column.real else 'whole'}[{place}]"
            body += [
                f"for element in range({self.names.length(column)}):",
                f"    {word} = {constant_text(item.default, item.type)}",
            ]
        body += write_body(self.program.initialize, self.names.vertex_places(), indent=0)
        return _function("initialize(walking, parameters, vertex)", body)

    def _update(self) -> list[str]:
        body = [*self._at_vertex()]
        body += write_body(self.program.update, self.names.vertex_places(), indent=0)
        return _function("update(walking, parameters, vertex, iteration)", body)

    def _at_vertex(self) -> list[str]:
        state = self.names.extent(self.layout.state_width)
        sums = self.names.extent(self.layout.sums_width)
        return [
            "states, sums = walking.states, walking.sums",
            f"at, sums_at = vertex * ({state}), vertex * ({sums})",
        ]

    def _moved(self) -> list[str]:
        """Whether a vertex's state differs from the row in `work`."""
        state = self.names.extent(self.layout.state_width)
        body = [f"states, work, at = walking.states, walking.work, vertex * ({state})"]
        for column in self.layout.state:
            kind = "real" if column.real else "whole"
            offset = f"{self.names.element(column, '0', None)} + element"
            before, after = f"work.{kind}[{offset}]", f"states.{kind}[at + {offset}]"
            differs = f"{before} != {after}"
            if column.item.type is FLOAT:
                differs = f"float_moved({before}, {after}, tolerance)"
            body += [
                f"for element in range({self.names.length(column)}):",
                f"    if {differs}:",
                "        return True",
            ]
        return _function("moved(walking, parameters, vertex, tolerance)", [*body, "return False"])


def _is_gathered(column: Column) -> bool:
    return isinstance(column.item, Accumulator) and is_gathered(column.item)


def _calls(head: str, kernels: list[str], arguments: str) -> list[str]:
    body = [f"{name}({arguments})" for name in kernels] or ["pass"]
    return ["", "", "@bare_kernel", f"def {head}:", *("    " + line for line in body)]


def _function(head: str, body: list[str]) -> list[str]:
    return [
        "",
        "",
        "@joined_kernel",
        f"def {head}:",
        *("    " + line for line in body),
    ]
