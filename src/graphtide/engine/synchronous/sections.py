"""The program section of the synchronous templates: a program's functions over rows of words.

`traverse` is written several times, for the places that kernels keep accumulators in: a row in
memory (`contribute`, `withdraw`), local names in a loop over the edges of one vertex
(`gather_messages`), and what a vertex tells all its neighbours alike (`make_parcel`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from graphtide.engine.sections import program_function
from graphtide.engine.synchronous import sending
from graphtide.engine.synchronous.facts import synchronous_facts
from graphtide.engine.synchronous.places import Names, Sender
from graphtide.engine.synchronous.row_layout import Column, row_layout
from graphtide.engine.write import write_body, write_expression
from graphtide.plan.expressions import Const, ValueType
from graphtide.plan.programs import Accumulator, StateField, VertexProgram

_EDGE = "(context, states, source, target, edge, sums)"
_NOTHING = ["    pass"]
_IMPORTS = """\
import math

import numpy as np

from graphtide.kernels.blocks import array_at
from graphtide.kernels.jit import program_kernel
from graphtide.kernels.synchronous.program_words import float_moved, within
from graphtide.kernels.synchronous.reversible import (
    add_to_sum,
    divide_floats,
    divide_ints,
    merge_floats,
    merge_ints,
    merge_sum,
    multiply_floats,
    multiply_ints,
    product_of_floats,
    product_of_ints,
)

"""


def synchronous_section(program: VertexProgram) -> str:
    """All that the synchronous templates ask of a program."""
    return _IMPORTS + "\n".join(_Section(program).lines())


def plain_section(program: VertexProgram) -> str:
    """What runs from scratch ask of it, with plain sums: nothing can be taken back."""
    return _IMPORTS + "\n".join(_Section(program, plain=True).lines())


class _Section:
    def __init__(self, program: VertexProgram, *, plain: bool = False) -> None:
        self.program = program
        self.plain = plain
        self.layout = row_layout(program, plain=plain)
        self.names = Names(program, self.layout)
        self.facts = synchronous_facts(program)

    def lines(self) -> list[str]:
        """The whole section."""
        running = (
            self._widths,
            self._initial,
            self._update,
            self._clear,
            self._moved,
            self._make_parcel,
            self._gather_parcels,
            self._gather_messages,
        )
        correcting = (self._contribute, self._withdraw, self._merge, self._doubt)
        functions = running if self.plain else running + correcting
        return self.facts.functions() + [line for write in functions for line in write()]

    def _widths(self) -> list[str]:
        """Constants wherever no array has a parameter's size: loops over words are unrolled."""
        lines = []
        for name in ("state_width", "sums_width"):
            extent = getattr(self.layout, name).source(self.names.parameter)
            lines += program_function("np.int64", f"{name}(read)", extent)
        return lines

    def _initial(self) -> list[str]:
        places = self.names.vertex_places()

        def default(column: Column, offset: str) -> list[str]:
            assert isinstance(column.item, StateField)
            value = write_expression(Const(column.item.default, column.item.type), places)
            return [f"states.{_memory(column)}[at + {offset}] = {value}"]

        body = self._each(self.layout.state, default) + write_body(self.program.initialize, places)
        return _function("initial_state(context, vertex, states, at)", body)

    def _update(self) -> list[str]:
        body = write_body(self.program.update, self.names.vertex_places())
        head = "update_state(context, vertex, iteration, states, sums, place)"
        return _function(head, ["    at, sums_at = place", *body])

    def _clear(self) -> list[str]:
        body = self._each(self.layout.sums, sending.clearing)
        return _function("clear_sums(context, sums, at)", body)

    def _contribute(self) -> list[str]:
        return _function(f"contribute{_EDGE}", self._traverse(sending.contributing))

    def _withdraw(self) -> list[str]:
        return _function(f"withdraw{_EDGE}", self._traverse(sending.withdrawing))

    def _traverse(self, send: Sender) -> list[str]:
        return write_body(self.program.traverse, self.names.edge_places(send))

    def _merge(self) -> list[str]:
        body = [
            "    trusted = True",
            *self._each(self.layout.sums, sending.merging),
            "    reach = sums_width(read)",
            "    sums.real[at + reach] += other.real[other_at + reach]",
            "    return trusted",
        ]
        return _function("merge_sums(context, sums, at, other, other_at)", body, "np.bool_")

    def _doubt(self) -> list[str]:
        def doubt(_: Column, offset: str) -> list[str]:
            return [f"if abs(sums.real[at + {offset}]) * MOST_SLACK < slack:", "    return True"]

        sums = tuple(column for column in self.layout.sums if sending.is_float_sum(column))
        body = [*self._each(sums, doubt), "    return False"]
        return _function("in_doubt(context, sums, at, slack)", body, "np.bool_")

    def _moved(self) -> list[str]:
        def compare(column: Column, offset: str) -> list[str]:
            words = f"states.{_memory(column)}"
            before, after = f"{words}[before + {offset}]", f"{words}[after + {offset}]"
            differs = f"{before} != {after}"
            if column.item.type is ValueType.FLOAT:
                differs = f"float_moved({before}, {after}, tolerance)"
            return [f"if {differs}:", "    return True"]

        body = [*self._each(self.layout.state, compare), "    return False"]
        head = "moved(context, states, before, after, tolerance)"
        return _function(head, body, "np.bool_")

    def _make_parcel(self) -> list[str]:
        """Every accumulator has one word of a parcel: the message to it, or its identity."""
        body = _NOTHING
        if self.facts.hoisted:

            def send(column: Column, _: str, value: str) -> list[str]:
                return [f"{self._parcel(column, 'vertex')} = {value}"]

            body = ["    source, source_at = vertex, vertex * state_width(read)"]
            for column in self.layout.sums:
                assert isinstance(column.item, Accumulator)
                body += _indented(send(column, "", sending.identity_text(column.item)))
            body += write_body(self.program.traverse, self.names.gather_places(send))
        return _function("make_parcel(context, vertex, states, parcels)", body)

    def _gather_parcels(self) -> list[str]:
        inner: list[str] = []
        for column in self.layout.sums:
            place = self.names.element(column, "at", None)
            inner += sending.gathering(column, place, self._parcel(column, "source"))
        body = self._loop(["source = slabs.neighbour[position]", *inner])
        head = "gather_parcels(context, slabs, vertex, parcels, sums, at)"
        return _function(head, body if self.facts.hoisted else _NOTHING)

    def _gather_messages(self) -> list[str]:
        inner = [
            "source = slabs.neighbour[position]",
            "edge = slabs.edge[position]",
            "source_at = source * state_width(read)",
        ]
        places = self.names.gather_places(sending.gathering)
        inner += write_body(self.program.traverse, places, indent=0)
        body = ["    own_at = vertex * state_width(read)", *self._loop(inner)]
        head = "gather_messages(context, slabs, vertex, states, sums, at)"
        return _function(head, body)

    def _loop(self, inner: list[str]) -> list[str]:
        """A loop over the live edges of a vertex, with scalars in local names."""
        kept = [column for column in self.layout.sums if sending.local_names(column)]
        places = {column: self.names.element(column, "at", None) for column in kept}
        lines = [line for column in kept for line in sending.opening(column, places[column])]
        lines += ["begin = slabs.start[vertex]"]
        lines += ["for position in range(begin, begin + slabs.live[vertex]):", *_indented(inner)]
        lines += [line for column in kept for line in sending.closing(column, places[column])]
        return _indented(lines)

    def _parcel(self, column: Column, vertex: str) -> str:
        number = self.layout.sums.index(column)
        return f"parcels.{_memory(column)}[{vertex} * {len(self.layout.sums)} + {number}]"

    def _each(
        self, columns: Iterable[Column], write: Callable[[Column, str], list[str]]
    ) -> list[str]:
        """Lines for every element of every column; the offset is that in its half of the row."""
        lines: list[str] = []
        for column in columns:
            offset, size = column.offset.source(self.names.parameter), column.item.size
            if size is None:
                lines += write(column, offset)
                continue
            length = self.names.parameter(size) if isinstance(size, str) else str(size)
            lines += [f"for element in range({length}):"]
            lines += _indented(write(column, f"{offset} + {column.words} * element"))
        return _indented(lines)


def _function(head: str, body: list[str], returns: str = "None") -> list[str]:
    decorator = f"@program_kernel({returns}, joined=False)"
    return ["", "", decorator, f"def {head}:", "    read = context.read", *body]


def _indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


def _memory(column: Column) -> str:
    return "real" if column.real else "whole"
