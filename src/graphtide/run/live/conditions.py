"""What edges and vertices must satisfy so that a program can be kept current on them.

A program needs the properties that it reads, of the type it reads them as, and none missing.
Fixpoint mode also needs what its proof asks for, such as weights that are not negative. A check
names the rows or vertices at fault and says what to do; a few comparisons tell that all is well.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.graph_data import NO_MOMENT
from graphtide.model.column_types import property_type
from graphtide.model.columns import named_rows
from graphtide.model.errors import InputError
from graphtide.model.schema import PropertyType, closest, name_hint
from graphtide.plan.expressions import EdgeProperty, ParameterRef, ValueType, VertexProperty
from graphtide.plan.program_proofs import MOST_VERTICES, Obligation
from graphtide.plan.program_reads import default_starts, edge_properties, vertex_properties
from graphtide.plan.program_values import VERTEX_COUNT, BoundProgram
from graphtide.plan.programs import StateField
from graphtide.run.live.named_graph import CODED_TYPES, VertexColumns, takes

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_MOST_NAMED = 5
_VERTEX_SPELLED = {ValueType.DATE: "gt.Date", ValueType.TIMESTAMP: "gt.Timestamp"}
_EXAMPLES = {
    ValueType.INT: "0",
    ValueType.FLOAT: "0.0",
    ValueType.BOOL: "False",
    ValueType.DATE: "'1970-01-01'",
    ValueType.TIMESTAMP: "'1970-01-01'",
}


class VertexSource(Protocol):
    """Vertices that are looked at, all of a graph or those of a task.

    `whose` is what errors say behind their number where they are not all, `name` the id of one.
    """

    @property
    def vertex_columns(self) -> VertexColumns: ...
    @property
    def vertices(self) -> int: ...
    @property
    def whose(self) -> str: ...
    def name(self, number: int) -> Any: ...


Columns = Mapping[str, NDArray[Any]]
_TAKEN = {ValueType.FLOAT: "bif", ValueType.INT: "bi", ValueType.BOOL: "b"}
_FEW = 32
"""Up to this many values, a loop is faster than NumPy's least and greatest."""
_NO_BOUND = float("inf")
"""What every number meets; only NaN does not, which whole numbers never are."""
_ANY = "a program of your own takes any if it ends by itself: `iterations = 10` in its class"
_WORDS = {
    "b": "truth values",
    "i": "whole numbers",
    "f": "numbers with fractions",
    "string": "texts",
    "date": "dates",
    "timestamp": "timestamps",
}
_EDGE_SPELLED = {
    "b": "bool",
    "i": "int",
    "f": "float",
    "string": "str",
    "date": "gt.Date",
    "timestamp": "gt.Timestamp",
}


class Fault(NamedTuple):
    """What is wrong with some rows, which those are, and what to do about it."""

    rows: NDArray[np.bool_]
    what: str
    hint: str

    def error(self, text: Callable[[int], str]) -> InputError:
        where = named_rows(np.flatnonzero(self.rows).tolist(), text)
        return InputError(self.what, where=where, hint=self.hint)


def _named(known: VertexSource, numbers: NDArray[np.int64]) -> str:
    named = [f"vertex {known.name(int(at))!r}" for at in numbers[:_MOST_NAMED]]
    if len(numbers) > _MOST_NAMED:
        named.append(f"and {len(numbers) - _MOST_NAMED:,} more")
    return ", ".join(named)


@dataclass(frozen=True)
class Conditions:
    """What one program in one mode demands of edges and vertices."""

    program: str
    properties: dict[str, ValueType]
    obligations: tuple[Obligation, ...]
    vertices: dict[str, VertexProperty] = field(default_factory=dict)
    given_by: dict[str, str] = field(default_factory=dict)
    """What a property is given by where the program takes another name for it: `weight="km"`."""
    begins: tuple[StateField, ...] = ()
    """State that begins with 0 or False, whatever property of that name the vertices have."""

    def check_vertex_names(self, names: Iterable[str]) -> None:
        """Refuse a graph whose vertices lack a property that the program reads, or have one that
        its state hides."""
        listed = list(names)
        self.check_hidden(listed)
        self._check_names(listed)

    def check_hidden(self, names: Iterable[str]) -> None:
        """Refuse vertices whose property would be hidden by state that begins with 0."""
        there = set(names)
        for item in self.begins:
            if item.name in there:
                raise InputError(
                    f"the vertices have a property '{item.name}', and {self.program} has state of "
                    f"that name, which begins with {item.default} and hides it",
                    hint=f"to read the property, assign it nowhere: `{item.name} = "
                    f"gt.VertexProperty({item.type})` (`Vertex ({item.name}: {item.type})` in "
                    "L_NGA); to begin with a number of your own, assign it in `initialize`, or "
                    "call the state otherwise",
                )

    def reads_vertices(self, names: Iterable[str]) -> bool:
        return not self.vertices.keys().isdisjoint(names)

    def check_columns(self, columns: Columns, coded: Mapping[str, PropertyType]) -> None:
        """Refuse a graph whose edges lack a property, or have it in another type.

        `columns` are numbers and truth values, `coded` says what others hold.
        """
        for name, wanted in self.properties.items():
            if name not in columns and name not in coded:
                readable = [item for item in (*columns, *coded) if item.isidentifier()]
                near = closest(name, readable)
                known = f"they have: {', '.join(readable) or 'none'}"
                raise InputError(
                    f"{self.program} reads the edge property '{name}', which the edges do not have",
                    hint=f"did you mean `{near}`? " * bool(near)
                    + f"{known}; {self._other_name(name, near, readable)}",
                )
            if wanted in CODED_TYPES and coded.get(name) is CODED_TYPES[wanted]:
                continue
            kind = columns[name].dtype.kind if name in columns else str(coded[name])
            if kind not in _TAKEN.get(wanted, ""):
                if kind == "f" and wanted in _TAKEN and np.isnan(columns[name]).any():
                    raise InputError(
                        f"{self.program} reads the edge property '{name}' as {wanted}, "
                        "and some edges have none",
                        hint="give every edge a value: programs read a column with gaps as floats",
                    )
                raise InputError(
                    f"{self.program} reads the edge property '{name}' as {wanted}, "
                    f"and it holds {_WORDS[kind]}",
                    hint="convert the column, or declare the property in the program: "
                    f"{name} = gt.Property({_EDGE_SPELLED[kind]})",
                )

    def _other_name(self, name: str, near: str | None, known: list[str]) -> str:
        if name in ("src", "dst", "source", "target"):
            return "the ends of an edge are u and v, whose ids parameters are compared with"
        if name not in self.given_by or not known:
            return f"call one '{name}' where the graph is made"
        return f"give the one to read: {self.program}({self.given_by[name]}={near or known[0]!r})"

    def check_rows(self, columns: Columns, text: Callable[[int], str]) -> None:
        """Refuse edges with values that the program cannot take; `text` writes a row for errors."""
        for fault in self.faults(columns):
            raise fault.error(text)

    def faults(self, columns: Columns) -> Iterator[Fault]:
        """What is wrong with edges of which some have values that the program cannot take."""
        if self._are_fine(columns):
            return
        for name, wanted in self.properties.items():
            yield from self._missing(name, wanted, columns[name])
        for obligation in self.obligations:
            yield from self._not_met(obligation, columns)

    def _check_names(self, names: Sequence[str]) -> None:
        """Refuse vertices that have properties of these names, and lack another."""
        for name in self.vertices:
            if name not in names:
                there = ", ".join(names) or "none"
                if name in self.given_by and names:
                    one = closest(name, names) or names[0]
                    there += f"; give the one to read: {self.program}"
                    there += f"({self.given_by[name]}={one!r})"
                raise InputError(
                    f"{self.program} reads the vertex property '{name}', "
                    "which the vertices do not have",
                    hint=name_hint(name, names, f"they have: {there}"),
                )

    def check_vertices(self, known: VertexSource, first: int = 0) -> None:
        """Refuse vertices, from a number on, with values that the program cannot take."""
        if not self.vertices:
            return
        self._check_names(known.vertex_columns.table.column_names)
        for item in self.vertices.values():
            self._check_column(known, item)
            if item.missing is None and item.type is not ValueType.TEXT:
                self._check_missing(known, item, first)
        for obligation in self.obligations:
            if isinstance(obligation.subject, VertexProperty):
                self._check_obligation(known, obligation, obligation.subject, first)

    def refuses_bare(self) -> str | None:
        """Why the program takes no vertex without properties; None where it does."""
        for item in self.vertices.values():
            if item.missing is None and item.type is not ValueType.TEXT:
                return f"{self.program} reads '{item.name}' of vertices, and a new one has none"
        for obligation in self.obligations:
            if isinstance(obligation.subject, VertexProperty):
                stands_in = self.vertices[obligation.subject.name].missing
                if isinstance(stands_in, int | float) and not obligation.holds_for(stands_in):
                    return f"{self.program} settles only where {obligation}, of new vertices too"
        return None

    def _check_column(self, known: VertexSource, item: VertexProperty) -> None:
        column = known.vertex_columns.table.column(item.name)
        if not takes(item, column):
            raise InputError(
                f"{self.program} reads the vertex property '{item.name}' as {item.type}, "
                f"and it holds values of type {property_type(column)}",
                hint="convert the column, or declare the property otherwise in the program",
            )

    def _check_missing(self, known: VertexSource, item: VertexProperty, first: int) -> None:
        missing = known.vertex_columns.missing(item.name, first)
        if not len(missing):
            return
        count, all_of = len(missing), known.vertices - first
        entering = " that enter" if first else ""
        lack = "lacks" if count == 1 else "lack"
        spelled = _VERTEX_SPELLED.get(item.type, item.type.value)
        raise InputError(
            f"{self.program} reads the vertex property '{item.name}', "
            f"which {count:,} of {all_of:,} vertices{known.whose}{entering} {lack}",
            where=_named(known, missing),
            hint="give every vertex a value, or say in the program what stands in for it: "
            f"{item.name} = gt.VertexProperty({spelled}, missing={_EXAMPLES[item.type]})",
        )

    def _check_obligation(
        self, known: VertexSource, obligation: Obligation, subject: VertexProperty, first: int
    ) -> None:
        values = known.vertex_columns.array(self.vertices[subject.name])[first:]
        bad = first + np.flatnonzero(~_OPERATORS[obligation.operator](values, obligation.bound))
        if len(bad):
            raise InputError(
                f"{self.program} settles only where {obligation}",
                where=_named(known, bad),
                hint=f"give these vertices other values; {_ANY}",
            )

    def _missing(self, name: str, wanted: ValueType, column: NDArray[Any]) -> Iterator[Fault]:
        if wanted.is_moment:
            missing, lacks, give = column == NO_MOMENT, "is missing", f"a {wanted}"
        elif column.dtype.kind == "f":
            missing, lacks, give = np.isnan(column), "is NaN or missing", "a number"
        else:
            return
        if missing.any():
            what = f"{self.program} reads the edge property '{name}', which {lacks}"
            yield Fault(missing, what, f"give every edge {give}")

    def _are_fine(self, columns: Columns) -> bool:
        """Whether the least and greatest value of each column meet its bounds; NaN meets none."""
        for name, least, meets, bound in self._tests:
            column = columns[name]
            if bound is _NO_BOUND and column.dtype.kind != "f":
                continue
            if len(column) <= _FEW:
                for item in column.tolist():
                    if not meets(item, bound):
                        return False
            elif not meets(column.min() if least else column.max(), bound):
                return False
        return True

    @cached_property
    def _tests(self) -> list[tuple[str, bool, Callable[[Any, Any], Any], float]]:
        """Bounds of columns: name, whether the least (or greatest) value counts, test, bound."""
        tests = [
            (item.subject.name, item.operator[0] == ">", _OPERATORS[item.operator], item.bound)
            for item in self.obligations
            if isinstance(item.subject, EdgeProperty)
        ]
        bounded = {name for name, *_ in tests}
        for name, type_ in self.properties.items():
            if type_.is_moment:
                tests.append((name, True, operator.gt, NO_MOMENT))
            elif type_ not in CODED_TYPES and name not in bounded:
                tests.append((name, True, operator.le, _NO_BOUND))
        return tests

    def _not_met(self, obligation: Obligation, columns: Columns) -> Iterator[Fault]:
        if not isinstance(obligation.subject, EdgeProperty):
            return
        column = columns[obligation.subject.name]
        bad = ~_OPERATORS[obligation.operator](column, obligation.bound)
        if bad.any():
            what = f"{self.program} settles only where {obligation}"
            yield Fault(bad, what, f"leave these edges out; {_ANY}")


def conditions(bound: BoundProgram, obligations: tuple[Obligation, ...]) -> Conditions:
    """What a program needs; refuses values of its parameters that the proof does not allow."""
    for item in obligations:
        if not isinstance(item.subject, ParameterRef):
            continue
        if not holds_for_parameter(bound, item):
            value = bound.value(item.subject.name)
            raise InputError(
                f"{bound.program.name} settles only where {item}, and it is {value!r}",
                hint=f"give another value; {_ANY}",
            )
    program = bound.program
    return Conditions(
        program.name,
        edge_properties(program),
        obligations,
        vertex_properties(program),
        bound.column_parameters,
        default_starts(program),
    )


def holds_for_parameter(bound: BoundProgram, obligation: Obligation) -> bool:
    if not isinstance(obligation.subject, ParameterRef):
        return False
    value = bound.value(obligation.subject.name)
    if value is VERTEX_COUNT:
        return obligation.holds_for(0) and obligation.holds_for(MOST_VERTICES)
    return isinstance(value, int | float) and obligation.holds_for(value)
