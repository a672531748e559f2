"""The program section of the template of lanes: a program's functions over rows of lanes.

Lanes go different ways at a condition, so there are no branches: both sides are computed, and every
assignment keeps the lanes that its condition leaves out. Nothing in the language traps, so that
this gives what branches would. What has no form in lanes is told by `why_not_lanes`.

State and accumulators are local names inside of a function, read at its beginning and written at
its end: `state_NAME` of the vertex, `source_NAME` of the neighbour, `total_NAME` of what was sent.
A parcel has the word that each accumulator takes from it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from graphtide.engine.inputs import KernelInputs
from graphtide.engine.source import constant_text, directions, may_be_missing, program_function
from graphtide.engine.synchronous.facts import synchronous_facts
from graphtide.engine.synchronous.source import identity_text
from graphtide.plan import expressions as x
from graphtide.plan import programs as p
from graphtide.plan.expressions import INT, Const, ValueType
from graphtide.plan.program_reads import reads
from graphtide.plan.programs import Accumulator, AccumulatorKind, StateField, VertexProgram

_ARITHMETIC = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide"}
_COMPARISONS = {"<": "less", "<=": "at_most", "==": "equal", "!=": "differ"}
_SWAPPED = {">": "less", ">=": "at_most"}


@dataclass(frozen=True)
class LanePlaces:
    """Where the names of a program are found, as text of lanes.

    `send` takes an accumulator, a value and the lanes that send, or None where all do.
    """

    parameter: Callable[[str], str]
    edge_property: Callable[[str], str]
    state: Callable[[str, str], str]
    accumulator: Callable[[str], str]
    fact: Callable[[str, str], str]
    vertex_property: Callable[[str, str], str]
    text: Callable[[str], str]
    member: Callable[[str, str], str]
    send: Callable[[str, str, str | None], list[str]]


def why_not_lanes(program: p.VertexProgram) -> str | None:
    """The reason in words why a program is run one version at a time; None if it is not."""
    if any(item.size is not None for item in program.sized):
        return "it has arrays"
    if any(item.kind is p.AccumulatorKind.PRODUCT for item in program.accumulators):
        return "it multiplies messages"
    for body in (program.initialize, program.traverse, program.update):
        if any(isinstance(statement, p.ForRange) for statement in p.statements_of(body)):
            return "it has a loop"
        for expression in p.expressions_of(body):
            reason = _why_not(expression)
            if reason is not None:
                return reason
    return None


def _why_not(expression: x.Expression) -> str | None:
    match expression:
        case x.Binary(operator) if operator not in _ARITHMETIC:
            return f"it uses {operator}"
        case x.Call("int", (argument,)) if argument.type is x.FLOAT:
            return "it makes ints of floats"
        case x.Call(("exp" | "log" | "floor" | "ceil") as function):
            return f"it uses {function}"
    return None


def lane_expression(node: x.Expression, places: LanePlaces) -> str:
    def write(inner: x.Expression) -> str:
        return lane_expression(inner, places)

    match node:
        case x.Const(value, type_):
            return f"spread({constant_text(value, type_)})"
        case x.Text(value):
            return f"spread({places.text(value)})"
        case x.ParameterRef(name):
            return f"spread({places.parameter(name)})"
        case x.PairSource(parameter):
            return f"spread({places.parameter(parameter)})"
        case x.StateRef(vertex, name):
            return places.state(vertex, name)
        case x.AccumulatorRef(name):
            return places.accumulator(name)
        case x.EdgeProperty(name):
            return f"spread({places.edge_property(name)})"
        case x.VertexFact(vertex, fact):
            return places.fact(vertex, fact)
        case x.VertexProperty(vertex, name):
            return f"spread({places.vertex_property(vertex, name)})"
        case x.Member(vertex, parameter):
            return f"spread({places.member(vertex, parameter)})"
        case x.Local(name):
            return f"local_{name}"
        case x.Iteration():
            return "spread(iteration)"
        case x.Unary(operator, operand):
            return f"{'negative' if operator == '-' else 'opposite'}({write(operand)})"
        case x.Binary(operator, left, right):
            return f"{_ARITHMETIC[operator]}({write(left)}, {write(right)})"
        case x.Compare(operator, left, right) if may_be_missing(node):
            there = f"at_most(spread(0), {write(left)})"
            same = f"both(equal({write(left)}, {write(right)}), {there})"
            return same if operator == "==" else f"opposite({same})"
        case x.Compare(operator, left, right) if operator in _SWAPPED:
            return f"{_SWAPPED[operator]}({write(right)}, {write(left)})"
        case x.Compare(operator, left, right):
            return f"{_COMPARISONS[operator]}({write(left)}, {write(right)})"
        case x.Boolean(operator, terms):
            return _folded("both" if operator == "and" else "either", list(map(write, terms)))
        case x.Choice(condition, yes, no):
            return f"choose({write(condition)}, {write(yes)}, {write(no)})"
        case x.Call(function, arguments):
            return _call(function, arguments[0].type, list(map(write, arguments)))
        case x.Joined() | x.GlobalRef() | x.Distinct() | x.OverPath():
            raise AssertionError(f"{node} stands in walks only")


def _folded(function: str, terms: list[str]) -> str:
    text = terms[0]
    for term in terms[1:]:
        text = f"{function}({text}, {term})"
    return text


def _call(function: str, given: x.ValueType, arguments: list[str]) -> str:
    text = arguments[0]
    match function, given:
        case ("min", _):
            return _folded("least", arguments)
        case ("max", _):
            return _folded("greatest", arguments)
        case ("abs", x.ValueType.FLOAT):
            return f"magnitude({text})"
        case ("abs", _):
            return f"greatest({text}, negative({text}))"
        case ("sqrt", _):
            return f"square_root({text})"
        case ("int", x.ValueType.BOOL):
            return f"as_ints({text})"
        case ("float", x.ValueType.INT):
            return f"as_floats({text})"
        case ("float", x.ValueType.BOOL):
            return f"as_floats(as_ints({text}))"
        case ("bool", x.ValueType.INT | x.ValueType.FLOAT):
            return f"differ({text}, spread({constant_text(0, given)}))"
        case _:
            return text


@dataclass
class LaneBody:
    """Writes the statements of one function; names that have a value so far are in `assigned`."""

    places: LanePlaces
    assigned: set[str] = field(default_factory=set)
    _conditions: int = 0

    def write(self, body: p.Body, condition: str | None = None) -> list[str]:
        """Lines for statements that the lanes of a condition run."""
        lines: list[str] = []
        for statement in body:
            match statement:
                case p.AssignState(name, value):
                    lines += self._assign(f"state_{name}", value, condition)
                case p.AssignLocal(name, value):
                    lines += self._assign(f"local_{name}", value, condition)
                case p.Send(accumulator, value):
                    sent = lane_expression(value, self.places)
                    lines += self.places.send(accumulator, sent, condition)
                case p.If(test, then, otherwise):
                    lines += self._branches(test, then, otherwise, condition)
                case p.ForRange():
                    raise AssertionError("a loop has no form in lanes")
        return lines

    def _assign(self, name: str, value: x.Expression, condition: str | None) -> list[str]:
        text = lane_expression(value, self.places)
        if condition is not None and name in self.assigned:
            text = f"choose({condition}, {text}, {name})"
        self.assigned.add(name)
        return [f"{name} = {text}"]

    def _branches(
        self, test: x.Expression, then: p.Body, otherwise: p.Body, condition: str | None
    ) -> list[str]:
        self._conditions += 1
        yes, no = f"yes_{self._conditions}", f"no_{self._conditions}"
        lines = [f"{yes} = {lane_expression(test, self.places)}", f"{no} = opposite({yes})"]
        if condition is not None:
            lines += [f"{side} = both({condition}, {side})" for side in (yes, no)]
        return lines + self.write(then, yes) + self.write(otherwise, no)


def word_type(type_: x.ValueType) -> str:
    """Whether a value stands in memory as a float or as an int."""
    return "real" if type_ is x.FLOAT else "whole"


def from_words(type_: x.ValueType, words: str) -> str:
    """Lanes that were read from memory, as a value."""
    return f"differ({words}, spread(0))" if type_ is x.BOOL else words


def to_words(type_: x.ValueType, value: str) -> str:
    """A value as it is written to memory."""
    return f"as_ints({value})" if type_ is x.BOOL else value


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
    """All that the template asks of a program for runs of one version.

    Its rows are slabs, or those of a lean graph: by source, the place of an edge is its number.
    """
    text = "\n".join(_Section(program, single=True).lines())
    return f"{_IMPORTS}from graphtide.kernels.lanes.rows import edge_at\n\n{text}"


class _Section:
    def __init__(self, program: VertexProgram, *, single: bool) -> None:
        self.program = program
        self.single = single
        self.facts = synchronous_facts(program)
        self._inputs = KernelInputs(program, "context.read")

    def lines(self) -> list[str]:
        facts, program = self.facts, self.program
        constants = [
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
        ends = "np.uint64(rows.start[vertex]), np.uint64(rows.stop[vertex])"
        lines += [f"for position in range({ends}):"]
        lines += _indented(self._edge())
        lines += [
            f"store(work.sums.{_memory(item)}, {_at(number)}, total_{item.name})"
            for number, item in sums
        ]
        return _function("gather_along(context, rows, vertex, work, at)", lines)

    def _edge(self) -> list[str]:
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
        place = "edge_at(rows, position)" if self.single else "position"

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
