"""A walk program on its way from its plan to machine code.

    plan --normal form--> walks --rule 7--> terms --orders--> nests --write--> a module

The section of a program has its runs from scratch, its terms (what the changes of one factor
change), its gatherings, and its functions of one vertex. It is put into `templates/walks.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property
from typing import Any

from graphtide.engine.code import generated_module, generated_source
from graphtide.engine.inputs import KERNEL_TYPES
from graphtide.engine.source import constant_text, handing_over, write_body
from graphtide.engine.synchronous.rows import RowColumn
from graphtide.engine.walks.compact import CompactForm, CompactNest, is_compact
from graphtide.engine.walks.layout import (
    FactorVersions,
    Mode,
    WalkLayout,
    WalkNames,
    clearing,
    indented,
    is_gathered,
    kernel_lines,
    walk_layout,
)
from graphtide.engine.walks.nests import Nest, ordering_kernels
from graphtide.model.errors import InputError
from graphtide.plan.expressions import FLOAT, Joined
from graphtide.plan.programs import Accumulator, Direction, StateField
from graphtide.plan.walk_explain import WalkFacts, explain_walks, walk_facts
from graphtide.plan.walk_forms import Hop, NormalWalk, Sending
from graphtide.plan.walk_orders import order_of_root, order_of_term
from graphtide.plan.walk_terms import (
    DegreeFactor,
    DeltaTerm,
    FactorVersion,
    HopFactor,
    JoinFactor,
    RootFactor,
    StateFactor,
    terms_of,
)
from graphtide.plan.walks import SendAt, WalkProgram

_UPTO = {
    FactorVersion.NEW: "NEW",
    FactorVersion.OLD: "OLD",
    FactorVersion.UPTO: "rank",
    FactorVersion.WITH: "rank + 1",
}
_BATCH = "inserted, deleted, sources, targets"


def run_kernel(
    names: WalkNames, walk: NormalWalk, name: str, wanted: Callable[[Sending], bool]
) -> list[str]:
    """All walks that begin at vertices from `first` to `last`, at the version of the graph."""
    order = order_of_root(walk, walk.root)
    nest = Nest(names, order, FactorVersions(), {}, Mode.RUN, wanted)
    body = [
        *nest.before(),
        f"for at_{walk.root} in range(first, last):",
        *indented(nest.body()),
        *nest.behind(),
    ]
    return _kernel(f"{name}(words, first, last)", body)


def gather_kernel(
    names: WalkNames, walk: NormalWalk, position: str, name: str, wanted: Callable[[Sending], bool]
) -> list[str]:
    """All walks that have a vertex at a position, for what they send to that position."""
    order = order_of_root(walk, position)

    def mine(send: Sending) -> bool:
        return getattr(send, "vertex", None) == position and wanted(send)

    versions = FactorVersions(states={} if names.rounds else None)
    nest = Nest(names, order, versions, {}, Mode.GATHER, mine)
    body = [f"for at_{position} in range(vertex, vertex + 1):", *indented(nest.body())]
    return _kernel(f"{name}(words, {_rounds(names)}vertex)", body)


def term_kernel(names: WalkNames, term: DeltaTerm, name: str) -> list[str]:
    """The kernel of what the changes of one factor change."""
    versions, edges = _versions(names, term)
    nest = Nest(names, order_of_term(term.walk, term.factor), versions, edges, Mode.TERM)
    body = [*nest.before(), *_head(names, term, nest.body()), *nest.behind()]
    return _kernel(f"{name}(words, {_rounds(names)}{_BATCH})", body)


def _rounds(names: WalkNames) -> str:
    return "rounds, " if names.rounds else ""


def _versions(names: WalkNames, term: DeltaTerm) -> tuple[FactorVersions, dict[Hop, str]]:
    joined: dict[Joined, str] = {}
    degrees: dict[str, str] = {}
    states: dict[str, str] = {}
    edges: dict[Hop, str] = {}
    answers: dict[Joined, str] = {}
    for factor, version in term.versions:
        match factor:
            case HopFactor(hop) if hop.edge is not None:
                edges[hop] = _UPTO[version]
            case HopFactor(hop):
                joined[hop.joined] = _UPTO[version]
            case JoinFactor(atom):
                joined[atom] = _UPTO[version]
            case DegreeFactor(position):
                degrees[position] = _UPTO[version]
            case StateFactor(position):
                states[position] = _UPTO[version]
            case RootFactor():
                pass
    match term.factor:
        case HopFactor(hop) if hop.edge is None:
            answers[hop.joined] = "True"
        case JoinFactor(atom, wanted):
            answers[atom] = "answer" if wanted is None else str(wanted)
        case DegreeFactor(position):
            degrees[position] = "side"
        case StateFactor(position):
            states[position] = "side"
    return FactorVersions(joined, degrees, answers, states if names.rounds else None), edges


def _head(names: WalkNames, term: DeltaTerm, inside: list[str]) -> list[str]:
    match term.factor:
        case HopFactor(hop) if hop.edge is not None:
            return _edge_head(hop, inside)
        case HopFactor(hop):
            return _pair_head(hop.joined, term.once, True, inside)
        case JoinFactor(atom, wanted):
            return _pair_head(atom, term.once, wanted, inside)
        case DegreeFactor() as factor:
            return _degree_head(factor, inside)
        case StateFactor() as factor:
            return _state_head(names, factor, inside)
        case RootFactor(position):
            lines = [f"for at_{position} in range(counts[OLD_VERTICES], counts[VERTICES]):"]
            return [*lines, "    sign = 1", *indented(inside)]


def _pair_head(atom: Joined, once: bool, wanted: bool | None, inside: list[str]) -> list[str]:
    """Over changed pairs, from one end or from both."""
    if atom.source == atom.target:
        inside = ["if one != other:", "    continue", *inside]
    lines = [
        "for rank in range(counts[PAIRS]):",
        "    ask_neighbours(walking, rank, counts[PAIRS])",
        f"    for turn in range({1 if once else 2}):",
        "        low, high = changed.low[rank], changed.high[rank]",
        "        one, other = (low, high) if turn == 0 else (high, low)",
        f"        sign = {'either' if atom.way == 'both' else 'direct'}_change(changed, rank, one)",
        "        if sign == 0 or (turn == 1 and one == other):",
        "            continue",
        f"        at_{atom.source}, at_{atom.target} = one, other",
    ]
    if wanted is False:
        lines.append("        sign = -sign")
    if wanted is not None:
        return lines + indented(inside, 2)
    lines += [
        "        change = sign",
        "        for given in range(2):",
        "            answer = given == 1",
        "            sign = change if answer else -change",
    ]
    return lines + indented(inside, 3)


def _edge_head(hop: Hop, inside: list[str]) -> list[str]:
    """Over changed edges, in the ways that the hop goes."""
    ways = {"out": "0, 1", "in": "1, 2", "both": "0, 2"}[hop.way.value]
    if hop.origin == hop.vertex:
        inside = ["if one != other:", "    continue", *inside]
    lines = [
        "for number in range(len(sources)):",
        "    came = number < len(inserted)",
        f"    edge_{hop.edge} = inserted[number] if came else deleted[number - len(inserted)]",
        "    sign = 1 if came else -1",
        f"    for turn in range({ways}):",
        "        one = sources[number] if turn == 0 else targets[number]",
        "        other = targets[number] if turn == 0 else sources[number]",
        f"        at_{hop.origin}, at_{hop.vertex} = one, other",
    ]
    if hop.way is Direction.BOTH:
        again = f"turn == 1 and not goes_back(walking.graph, edge_{hop.edge}, other, one)"
        lines += [f"        if {again}:", "            continue"]
    return lines + indented(inside, 2)


def _degree_head(factor: DegreeFactor, inside: list[str]) -> list[str]:
    """Over vertices whose degrees changed, with the new ones and with the old ones."""
    more = {
        "out_degree": "changed.out_more[slot] != 0",
        "in_degree": "changed.into_more[slot] != 0",
        "degree": "changed.out_more[slot] + changed.into_more[slot] != 0",
    }
    differs = " or ".join(more[fact] for fact in factor.facts)
    lines = [
        "for slot in range(counts[SLOTS]):",
        f"    if not ({differs}):",
        "        continue",
        f"    at_{factor.position} = changed.vertex[slot]",
        "    for turn in range(2):",
        "        side, sign = (NEW, 1) if turn == 0 else (OLD, -1)",
    ]
    return lines + indented(inside, 2)


def _state_head(names: WalkNames, factor: StateFactor, inside: list[str]) -> list[str]:
    """Over vertices whose state of the round before differs, with the new one and with the old."""
    at, differs = f"at_{factor.position}", []
    for name in factor.fields:
        column = names.state[name]
        place = f"{names.row_width}, {names.extent(column.offset)}, {names.length(column)}"
        differs.append(f"state_differs(rounds, {at}, {place})")
    lines = [
        "for number in range(rounds.progress[DIFFERING]):",
        f"    {at} = rounds.differing[number]",
        f"    if not ({' or '.join(differs)}):",
        "        continue",
        "    for turn in range(2):",
        "        side, sign = (NEW, 1) if turn == 0 else (OLD, -1)",
    ]
    return lines + indented(inside, 2)


def _kernel(head: str, body: list[str]) -> list[str]:
    opening = [
        "walking = walking_at(words, 0)",
        "properties, parameters = properties_at(words, READ), parameters_at(words, READ)",
        "changed, counts = walking.changed, walking.counts",
        "sums, states = walking.sums, walking.states",
    ]
    return kernel_lines(head, [*opening, *body])


_IMPORTS = """
import numpy as np

from graphtide.kernels.blocks import array_at
from graphtide.kernels.graph.adjacency import goes_back
from graphtide.kernels.synchronous.sums import float_moved
from graphtide.kernels.walks.versions import ask_rows, gather_beside, is_beside
from graphtide.kernels.walks.compact import is_listed, stamp_neighbours
from graphtide.kernels.walks.versions import EVERYBODY, FEW, bit_of
from graphtide.kernels.walks.records import within
from graphtide.kernels.walks.ordered import NEIGHBOUR, SHIFT, enter_edges, leave_edges, row_bounds
from graphtide.kernels.walks.records import EDGE_CAME, EDGE_LEFT, EITHER, EITHER_CAME, GATHERED
from graphtide.kernels.walks.records import LEFT_EDGE_IN, LEFT_EDGE_OUT, LEFT_EITHER, LEFT_IN
from graphtide.kernels.walks.records import OLD, OLD_VERTICES, VERTICES
from graphtide.kernels.walks.ordered import NOBODY, note_extent
from graphtide.kernels.walks.records import gather_float, multiply, multiply_whole, note_doubt
from graphtide.kernels.walks.records import report, send_exactly, send_float
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


def walk_section(program: WalkProgram, facts: WalkFacts) -> str:
    """What stands between the marks of `templates/walks.py`."""
    names = WalkNames(program, walk_layout(program), facts)
    kernels: list[str] = []
    runs = _runs(names, facts, kernels)
    terms = _terms(names, facts, kernels)
    gatherings = _gatherings(names, program, facts, kernels)
    lines = [
        *_IMPORTS.splitlines(),
        *(_ROUND_IMPORTS.splitlines() if facts.stateful else ()),
        "",
        f"NEEDS = {facts.directed * 1 + facts.either * 2 + facts.by_edge * 4}",
        f"READS_DEGREES = {facts.reads_degrees}",
        f"READS_NOTHING = {not facts.reads_own_state and not facts.reads_iteration}",
        "",
        "",
        *handing_over((KERNEL_TYPES[type_] for _, type_ in facts.properties), program),
        *ordering_kernels(names),
        *kernels,
        *_calls("run_walks", "words, first, last", runs),
        *_calls("run_terms", f"words, {_BATCH}", () if facts.stateful else terms),
        *_calls("gather_walks", "words, vertex", () if facts.stateful else gatherings),
    ]
    if facts.stateful:
        lines += _calls("round_terms", f"words, rounds, {_BATCH}", terms)
        lines += _calls("gather_in_round", "words, rounds, vertex", gatherings)
    return "\n".join([*lines, *_vertex_functions(names, program)])


def _runs(names: WalkNames, facts: WalkFacts, kernels: list[str]) -> list[str]:
    """Walks that go along edges, and those that go nowhere, run over the slabs."""
    over_slabs = []
    for number, walk in enumerate(facts.walks):
        if is_compact(walk):
            kernels += CompactNest(names, walk).kernel(f"run_compact_{number}")
        else:
            over_slabs.append((f"run_{number}", walk))
    for name, walk in over_slabs:
        kernels += run_kernel(names, walk, name, lambda _: True)
    return [name for name, _ in over_slabs]


def _terms(names: WalkNames, facts: WalkFacts, kernels: list[str]) -> list[str]:
    terms = [term for walk in facts.walks for term in terms_of(walk)]
    for number, term in enumerate(terms):
        kernels += term_kernel(names, term, f"term_{number}")
    return [f"term_{number}" for number in range(len(terms))]


def _gatherings(
    names: WalkNames, program: WalkProgram, facts: WalkFacts, kernels: list[str]
) -> list[str]:
    gathered = {item.name for item in program.accumulators if is_gathered(item)}

    def wanted(send: Sending) -> bool:
        return isinstance(send, SendAt) and send.accumulator in gathered

    written: list[str] = []
    for walk in facts.walks:
        sends = [send for send in walk.sends if wanted(send)]
        for position in dict.fromkeys(send.vertex for send in sends):  # type: ignore[union-attr]
            written.append(f"gather_{len(written)}")
            kernels += gather_kernel(names, walk, position, written[-1], wanted)
    return written


def _calls(name: str, arguments: str, kernels: Sequence[str]) -> list[str]:
    body = [f"{kernel}({arguments})" for kernel in kernels] or ["pass"]
    return kernel_lines(f"{name}({arguments})", body)


def _vertex_functions(names: WalkNames, program: WalkProgram) -> list[str]:
    """What clears accumulators, what the program does at one vertex, and whether that moved it."""
    layout = names.layout
    states, sums = names.extent(layout.state_width), names.extent(layout.sums_width)
    row = [f"sums, base = walking.sums, vertex * ({sums})"]
    gathered = [
        column
        for column in layout.sums
        if isinstance(column.item, Accumulator) and is_gathered(column.item)
    ]
    at_vertex = [
        "states, sums = walking.states, walking.sums",
        f"at, sums_at = vertex * ({states}), vertex * ({sums})",
    ]
    defaults, moves = [], []
    for column in layout.state:
        assert isinstance(column.item, StateField)
        each = f"for element in range({names.length(column)}):"
        place = f"{names.element(column, 'at', None)} + element"
        default = constant_text(column.item.default, column.item.type)
        defaults += [each, f"    states.{column.memory}[{place}] = {default}"]
        offset = f"{names.element(column, '0', None)} + element"
        before = f"work.{column.memory}[{offset}]"
        after = f"states.{column.memory}[at + {offset}]"
        differs = f"{before} != {after}"
        if column.item.type is FLOAT:
            differs = f"float_moved({before}, {after}, tolerance)"
        moves += [each, f"    if {differs}:", "        return True"]
    bodies = {
        "clear_vertex(walking, parameters, vertex)": [
            *row,
            *_clearing(names, layout.sums, "sums", "base"),
        ],
        "clear_gathered(walking, parameters, vertex)": [
            *row,
            *_clearing(names, gathered, "sums", "base"),
        ],
        "clear_globals(walking, parameters)": [
            "globals_ = walking.globals",
            *_clearing(names, layout.globals, "globals_", "0"),
        ],
        "initialize(walking, parameters, vertex)": [
            *at_vertex,
            *defaults,
            *write_body(program.initialize, names.vertex_places(), indent=0),
        ],
        "update(walking, parameters, vertex, iteration)": [
            *at_vertex,
            *write_body(program.update, names.vertex_places(), indent=0),
        ],
        "moved(walking, parameters, vertex, tolerance)": [
            f"states, work, at = walking.states, walking.work, vertex * ({states})",
            *moves,
            "return False",
        ],
    }
    return [
        line for head, body in bodies.items() for line in kernel_lines(head, body, "joined_kernel")
    ]


def _clearing(names: WalkNames, columns: Iterable[RowColumn], rows: str, base: str) -> list[str]:
    return [line for column in columns for line in clearing(names, column, rows, base)]


class WalkCode:
    """What was found out about a program, and its module, made when first asked for."""

    def __init__(self, plan: WalkProgram) -> None:
        self.plan = plan

    @cached_property
    def facts(self) -> WalkFacts:
        """What the program reads: properties, degrees, state, globals."""
        return walk_facts(self.plan)

    @cached_property
    def layout(self) -> WalkLayout:
        """Where its accumulators and state stand."""
        return walk_layout(self.plan)

    @cached_property
    def compact_forms(self) -> dict[int, CompactForm]:
        """The copies of the graph that runs from scratch need, by the number of the walk."""
        names = WalkNames(self.plan, self.layout, self.facts)
        return {
            number: CompactNest(names, walk).form
            for number, walk in enumerate(self.facts.walks)
            if is_compact(walk)
        }

    def explain(self) -> list[str]:
        """Each walk, the terms of its delta with their orders, and how results are kept current."""
        return explain_walks(self.plan)

    @cached_property
    def module(self) -> Any:
        """The compiled module; its kernels are compiled when they are first called."""
        others = ["walk_rounds"] if self.facts.stateful else []
        source = generated_source(walk_section(self.plan, self.facts), "walks", *others)
        try:
            return generated_module(source, f"{self.plan.name}_walks")
        except SyntaxError as error:
            if "nested blocks" not in str(error):
                raise
            raise InputError(
                f"{self.plan.name}: a walk has too many steps to be compiled",
                hint="Python takes twenty loops within one another, and a step may need two: "
                "nine steps always fit",
            ) from None


@cache
def walk_code(plan: WalkProgram) -> WalkCode:
    """The one `WalkCode` of a plan."""
    return WalkCode(plan)
