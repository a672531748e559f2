"""The program section of the template of lanes: a program's functions over rows of lanes.

State and accumulators are local names inside of a function, read at its beginning and written at
its end: `state_NAME` of the vertex, `source_NAME` of the neighbour, `total_NAME` of what was sent.
A parcel has the word that each accumulator takes from it.
"""

from __future__ import annotations

from dataclasses import replace

from graphtide.engine.inputs import KernelInputs
from graphtide.engine.lanes.write import (
    LaneBody,
    LanePlaces,
    from_words,
    lane_expression,
    to_words,
    word_type,
)
from graphtide.engine.sections import directions, program_function
from graphtide.engine.synchronous.facts import synchronous_facts
from graphtide.engine.synchronous.sending import identity_text
from graphtide.plan.expressions import INT, Const, ValueType
from graphtide.plan.program_reads import reads
from graphtide.plan.programs import Accumulator, AccumulatorKind, StateField, VertexProgram

OR, AND = AccumulatorKind.OR, AccumulatorKind.AND
MIN, MAX = AccumulatorKind.MIN, AccumulatorKind.MAX
_IMPORTS = """\
import numpy as np

from graphtide.kernels.blocks import array_at
from graphtide.kernels.jit import program_kernel
from graphtide.kernels.lanes.values import (
    at_most,
    as_floats,
    as_ints,
    both,
    either,
    equal,
    greatest,
    least,
    less,
    magnitude,
    negative,
    opposite,
    square_root,
    subtract,
)

"""


def lanes_section(program: VertexProgram) -> str:
    """All that the template asks of a program that has a form in lanes."""
    return _IMPORTS + "\n".join(_Section(program, single=False).lines())


def single_section(program: VertexProgram) -> str:
    """All that the template asks of a program for runs of one version, whose rows are slabs."""
    return _IMPORTS + "\n".join(_Section(program, single=True).lines())


def lean_section(program: VertexProgram) -> str:
    """All that the template asks of a program for runs over a lean graph.

    By source, the place of an edge is its number there.
    """
    text = "\n".join(_Section(program, single=True, lean=True).lines())
    return f"{_IMPORTS}from graphtide.kernels.lean.places import edge_at\n\n{text}"


class _Section:
    def __init__(self, program: VertexProgram, *, single: bool, lean: bool = False) -> None:
        self.program = program
        self.single = single
        self.lean = lean
        self.facts = synchronous_facts(program)
        self._inputs = KernelInputs(program, "context.read")

    def lines(self) -> list[str]:
        """The whole section."""
        facts, program = self.facts, self.program
        constants = [
            f"SINGLE = {self.single}",
            f"STATES, SUMS = {len(program.state)}, {len(program.accumulators)}",
            *directions(program),
            *program_function("np.bool_", "hoisted()", str(facts.hoisted)),
            *program_function("np.bool_", "reads_iteration()", str(facts.reads_iteration)),
            *program_function("np.int64", "sums_count()", "SUMS"),
        ]
        functions = (self._begin, self._parcel, self._clear, self._gather, self._update)
        return constants + [line for write in functions for line in write()]

    def _begin(self) -> list[str]:
        places = self._vertex_places()
        defaults = [
            f"state_{item.name} = {lane_expression(Const(item.default, item.type), places)}"
            for item in self.program.state
        ]
        body = self._body(places).write(self.program.initialize)
        lines = [*defaults, *body, *map(self._write_state, self.program.state)]
        return _function("begin_state(context, vertex, work)", lines)

    def _parcel(self) -> list[str]:
        """The word that an accumulator takes from a parcel; its identity where nothing is sent."""
        lines = ["pass"]
        if self.facts.hoisted:

            def send(name: str, value: str, condition: str | None) -> list[str]:
                item, word = self.program.accumulator(name), f"word_{name}"
                text = _sent(item, value)
                return [f"{word} = {_chosen(condition, text, word)}"]

            sums = self.program.accumulators
            lines = [f"word_{item.name} = {_nothing(item)}" for item in sums]
            body = LaneBody(replace(self._edge_places(), send=send))
            lines = [*self._sources(), *lines, *body.write(self.program.traverse)]
            lines += [
                f"store(work.parcels.{_memory(item)}, {self._place(number)}, word_{item.name})"
                for number, item in enumerate(sums)
            ]
        return _function("make_parcel(context, source, work)", lines)

    def _clear(self) -> list[str]:
        lines = [
            f"store(work.sums.{_memory(item)}, {_at(number)}, {_nothing(item)})"
            for number, item in enumerate(self.program.accumulators)
        ]
        return _function("clear_sums(work, at)", lines or ["pass"])

    def _gather(self) -> list[str]:
        sums = list(enumerate(self.program.accumulators))
        lines = [
            f"total_{item.name} = load(work.sums.{_memory(item)}, {_at(number)})"
            for number, item in sums
        ]
        if not self.facts.hoisted and reads(self.program.traverse).target_state:
            lines += self._owns()
        ends = "rows.start[vertex]", "rows.stop[vertex]"
        first, last = (f"np.uint64({end})" if self.lean else end for end in ends)
        lines += [f"for position in range({first}, {last}):"]
        lines += _indented(self._edge())
        lines += [
            f"store(work.sums.{_memory(item)}, {_at(number)}, total_{item.name})"
            for number, item in sums
        ]
        return _function("gather_along(context, rows, vertex, work, at)", lines)

    def _edge(self) -> list[str]:
        """What one edge brings."""
        lines = ["source = np.int64(rows.neighbour[position])"]
        lines += [f"there = lanes_in({'1' if self.single else 'rows.lanes[position]'})"]
        if self.facts.hoisted:
            for number, item in enumerate(self.program.accumulators):
                word = f"load(work.parcels.{_memory(item)}, {self._place(number)})"
                lines += [_taken(item, word, "there")]
            return lines

        def send(name: str, value: str, condition: str | None) -> list[str]:
            item = self.program.accumulator(name)
            return [_taken(item, _sent(item, value), condition or "there")]

        body = LaneBody(replace(self._edge_places(), send=send))
        return lines + self._sources() + body.write(self.program.traverse, "there")

    def _update(self) -> list[str]:
        state = self.program.state
        lines = ["iteration, active, tolerance = course", "running = lanes_in(np.uint8(active))"]
        lines += [
            f"total_{item.name} = load(work.sums.{_memory(item)}, {_at(number)})"
            for number, item in enumerate(self.program.accumulators)
        ]
        for item in state:
            lines += [f"before_{item.name} = {self._read_state(item, 'vertex')}"]
            lines += [f"state_{item.name} = before_{item.name}"]
        lines += self._body(self._vertex_places()).write(self.program.update)
        lines += ["changed = np.uint8(0)", "moved = np.uint8(0)"]
        for item in state:
            lines += self._replace_state(item)
        head = "update_state(context, vertex, work, at, course)"
        return _function(head, [*lines, "return changed, moved"], "(np.int64, np.int64)")

    def _replace_state(self, item: StateField) -> list[str]:
        """Write a field in the lanes that go on, and see where it changed and moved."""
        before, after, place = f"before_{item.name}", f"state_{item.name}", self._state_place(item)
        moved = f"differ({before}, {after})"
        if item.type is ValueType.FLOAT:
            moved = f"floats_moved({before}, {after}, tolerance)"
        return [
            f"{after} = choose(running, {after}, {before})",
            f"words = load(work.states.whole, {place})",
            self._write_state(item),
            f"changed |= set_of(differ(words, load(work.states.whole, {place})))",
            f"moved |= set_of({moved})",
        ]

    def _body(self, places: LanePlaces) -> LaneBody:
        """A function of one vertex, whose state has a value from the start."""
        return LaneBody(places, {f"state_{item.name}" for item in self.program.state})

    def _sources(self) -> list[str]:
        """The fields of the neighbour that messages look at."""
        wanted = reads(self.program.traverse).source_state
        return [
            f"source_{item.name} = {self._read_state(item, 'source')}"
            for item in self.program.state
            if item.name in wanted
        ]

    def _owns(self) -> list[str]:
        wanted = reads(self.program.traverse).target_state
        return [
            f"state_{item.name} = {self._read_state(item, 'vertex')}"
            for item in self.program.state
            if item.name in wanted
        ]

    def _read_state(self, item: StateField, vertex: str) -> str:
        words = f"load(work.states.{word_type(item.type)}, {self._state_place(item, vertex)})"
        return from_words(item.type, words)

    def _write_state(self, item: StateField) -> str:
        value = to_words(item.type, f"state_{item.name}")
        return f"store(work.states.{word_type(item.type)}, {self._state_place(item)}, {value})"

    def _state_place(self, item: StateField, vertex: str = "vertex") -> str:
        return f"({vertex} * STATES + {self.program.state.index(item)}) * LANES"

    def _place(self, number: int) -> str:
        """Where a word of a parcel stands."""
        return f"(source * SUMS + {number}) * LANES"

    def _vertex_places(self) -> LanePlaces:
        def accumulated(name: str) -> str:
            item = self.program.accumulator(name)
            if item.kind in (OR, AND):
                return f"{'differ' if item.kind is OR else 'equal'}(total_{name}, spread(0))"
            return f"total_{name}"

        return LanePlaces(
            parameter=self._parameter,
            edge_property=_refuse,
            state=lambda _, name: f"state_{name}",
            accumulator=accumulated,
            fact=lambda _, name: _fact(name, "vertex"),
            vertex_property=lambda _, name: self._inputs.vertex_property(name, "vertex"),
            text=self._inputs.text,
            member=lambda _, name: f"{self._parameter(name)}[vertex]",
            send=_refuse_send,
        )

    def _edge_places(self) -> LanePlaces:
        place = "rows.edge[position]" if self.single else "position"
        place = "edge_at(rows, position)" if self.lean else place

        def end(which: str) -> str:
            return "source" if which == "u" else "vertex"

        return LanePlaces(
            parameter=self._parameter,
            edge_property=lambda name: f"{self._property(name)}[{place}]",
            state=lambda which, name: f"{'source' if which == 'u' else 'state'}_{name}",
            accumulator=_refuse,
            fact=lambda which, name: _fact(name, end(which)),
            vertex_property=lambda which, name: self._inputs.vertex_property(name, end(which)),
            text=self._inputs.text,
            member=lambda which, name: f"{self._parameter(name)}[{end(which)}]",
            send=_refuse_send,
        )

    def _property(self, name: str) -> str:
        return self._inputs.edge_property(name, "rows.properties")

    def _parameter(self, name: str) -> str:
        return self._inputs.parameter(name)


def _sent(item: Accumulator, value: str) -> str:
    """What a message puts into the word of its accumulator: `or` and `and` are flags."""
    if item.kind is OR:
        return f"as_ints({value})"
    return f"as_ints(opposite({value}))" if item.kind is AND else value


def _taken(item: Accumulator, word: str, lanes: str) -> str:
    """Take a word in, in some lanes: what others get is nothing."""
    total = f"total_{item.name}"
    word = f"choose({lanes}, {word}, {_nothing(item)})"
    match item.kind:
        case AccumulatorKind.MIN:
            return f"{total} = least({total}, {word})"
        case AccumulatorKind.MAX:
            return f"{total} = greatest({total}, {word})"
        case AccumulatorKind.OR | AccumulatorKind.AND:
            return f"{total} = either({total}, {word})"
        case _:
            return f"{total} = add({total}, {word})"


def _chosen(condition: str | None, yes: str, no: str) -> str:
    return yes if condition is None else f"choose({condition}, {yes}, {no})"


def _nothing(item: Accumulator) -> str:
    """The word of an accumulator to which nothing was sent."""
    return "spread(0)" if item.kind in (OR, AND) else f"spread({identity_text(item)})"


def _memory(item: Accumulator) -> str:
    return word_type(INT if item.kind in (OR, AND) else item.type)


def _at(number: int) -> str:
    return f"at + {number} * LANES"


def _fact(name: str, vertex: str) -> str:
    match name:
        case "id":
            return f"spread({vertex})"
        case "degree":
            return f"add({_fact('out_degree', vertex)}, {_fact('in_degree', vertex)})"
        case _:
            return f"load(context.{name}, {vertex} * LANES)"


def _function(head: str, body: list[str], returns: str = "None") -> list[str]:
    return ["", "", f"@program_kernel({returns})", f"def {head}:", *_indented(body)]


def _indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


def _refuse(*_: object) -> str:
    raise AssertionError("the language allows this name in another function only")


def _refuse_send(*_: object) -> list[str]:
    raise AssertionError("only traverse sends")
