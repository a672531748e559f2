"""A program with values for its parameters: what a run or a maintainer is given.

`bind` refuses unknown, missing and ill-typed values before anything is run. Numbers may be scalars
of NumPy, moments texts in ISO form. Vertices stay as the user named them; whoever knows the graph
turns them into vertex numbers.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Generic, TypeVar, overload

from graphtide.model.errors import InputError
from graphtide.model.schema import closest
from graphtide.plan.program_reads import column_names, columns_given, with_columns
from graphtide.plan.programs import (
    INT_MAX,
    INT_MIN,
    Accumulator,
    Parameter,
    ParameterKind,
    Size,
    StateField,
    VertexProgram,
)
from graphtide.plan.walk_lowering import unrolled
from graphtide.plan.walks import WalkProgram

ParameterValue = Hashable
"""A number, a text, a moment, the id of a vertex, a tuple of such ids, or of pairs of them."""


def converted_value(kind: ParameterKind, value: object) -> ParameterValue:
    """A value of that kind; None where it cannot be one."""
    return _CONVERSIONS[kind](value)


def _int_value(value: object) -> ParameterValue:
    plain = _plain(value)
    if isinstance(plain, bool) or not isinstance(plain, int):
        return None
    return plain if INT_MIN <= plain <= INT_MAX else None


def _float_value(value: object) -> ParameterValue:
    plain = _plain(value)
    if isinstance(plain, bool) or not isinstance(plain, int | float):
        return None
    return None if math.isnan(plain) else float(plain)


def _bool_value(value: object) -> ParameterValue:
    plain = _plain(value)
    return plain if isinstance(plain, bool) else None


def _text_value(value: object) -> ParameterValue:
    return str(value) if isinstance(value, str) else None


def date_value(value: object) -> dt.date | None:
    """A date, or one in ISO form as a text; None of anything else, a timestamp included."""
    if isinstance(value, str):
        try:
            return dt.date.fromisoformat(value.strip())
        except ValueError:
            return None
    return value if isinstance(value, dt.date) and not isinstance(value, dt.datetime) else None


def timestamp_value(value: object) -> dt.datetime | None:
    """A timestamp in UTC, from one, a date (its midnight) or either in ISO form as a text.

    One without an offset is taken to be in UTC.
    """
    if isinstance(value, str):
        try:
            value = dt.datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        value = dt.datetime(value.year, value.month, value.day)
    if not isinstance(value, dt.datetime):
        return None
    return (value if value.tzinfo else value.replace(tzinfo=dt.UTC)).astimezone(dt.UTC)


def moment_number(value: dt.date) -> int:
    """A moment as programs compute with it: days, or microseconds, since 1970 began (in UTC)."""
    if isinstance(value, dt.datetime):
        return (value - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) // dt.timedelta(microseconds=1)
    return (value - dt.date(1970, 1, 1)).days


def _vertex_value(value: object) -> ParameterValue:
    plain = _plain(value)
    return plain if isinstance(plain, Hashable) else None


def _vertices_value(value: object) -> ParameterValue:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        return None
    vertices = [_vertex_value(item) for item in value]
    return None if None in vertices else tuple(dict.fromkeys(vertices))


def _pairs_value(value: object) -> ParameterValue:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        return None
    pairs = [_pair_value(item) for item in value]
    return None if None in pairs or not pairs else tuple(dict.fromkeys(pairs))


def _pair_value(value: object) -> ParameterValue:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        return None
    ends = tuple(_vertex_value(item) for item in value)
    return None if None in ends or len(ends) != 2 else ends


def _plain(value: object) -> object:
    """The Python value of a NumPy scalar; anything else as it is."""
    item = getattr(value, "item", None)
    return item() if item is not None and getattr(value, "shape", None) == () else value


_CONVERSIONS = {
    ParameterKind.INT: _int_value,
    ParameterKind.FLOAT: _float_value,
    ParameterKind.BOOL: _bool_value,
    ParameterKind.TEXT: _text_value,
    ParameterKind.DATE: date_value,
    ParameterKind.TIMESTAMP: timestamp_value,
    ParameterKind.VERTEX: _vertex_value,
    ParameterKind.VERTICES: _vertices_value,
    ParameterKind.PAIRS: _pairs_value,
}
WANTED = {
    ParameterKind.INT: "a whole number of 64 bits",
    ParameterKind.FLOAT: "a number",
    ParameterKind.BOOL: "True or False",
    ParameterKind.TEXT: "a text",
    ParameterKind.DATE: "a date, or a text such as '2020-12-31'",
    ParameterKind.TIMESTAMP: "a timestamp, or a text such as '2020-12-31 18:00'",
    ParameterKind.VERTEX: "the id of a vertex",
    ParameterKind.VERTICES: "a list of ids of vertices",
    ParameterKind.PAIRS: "a list of pairs of vertices by their ids: [(source, target), ...]",
}
"""What to give of each kind, for hints."""


MOST_ITERATIONS = 10_000_000
"""The most iterations of a run: it counts who moved in each, 80 MB for this many."""

_MOST_TOLD = 6
_MOMENTS = (ParameterKind.DATE, ParameterKind.TIMESTAMP)

SIZE = "V"
"""What the number of vertices is called, by the paper: an int parameter of this name, without a
default, need not be given."""


class Unbound(Enum):
    """A value that only the graph knows, at each of its versions."""

    VERTEX_COUNT = "the number of vertices"


VERTEX_COUNT = Unbound.VERTEX_COUNT

Plan = TypeVar("Plan", VertexProgram, WalkProgram)


@dataclass(frozen=True, repr=False)
class BoundPlan(Generic[Plan]):
    """A plan and the values of all its parameters, in the order they are declared.

    `columns` are the properties that have another name in the data, each with that: `program` reads
    them by it, and `written` is the plan as its author wrote it.
    """

    program: Plan
    values: tuple[tuple[str, ParameterValue], ...]
    columns: tuple[tuple[str, str], ...] = ()
    written: Plan | None = field(default=None, compare=False)

    def value(self, name: str) -> ParameterValue:
        """The value of one parameter; KeyError if there is none of that name."""
        return dict(self.values)[name]

    @property
    def fields(self) -> tuple[str, ...]:
        return tuple(item.name for item in self.program.state)

    @property
    def column_parameters(self) -> dict[str, str]:
        """The parameter by which each property is given, by the property's name in the data."""
        called = dict(self.columns)
        return {called.get(name, name): name for name in column_names(self.written or self.program)}

    @property
    def told_columns(self) -> list[str]:
        """Which properties have another name in the data, a line each."""
        return [f"{name} is the column {column}" for name, column in self.columns]

    @property
    def iterations(self) -> int | None:
        """How many iterations to run; None: until nothing changes."""
        count = self.program.iterations
        return self.whole(count) if isinstance(count, str) else count

    @property
    def tolerance(self) -> float:
        """The relative change of a float field that counts as none."""
        given = self.program.tolerance
        value = self.value(given) if isinstance(given, str) else given
        assert isinstance(value, float)
        return value

    def size(self, item: StateField | Accumulator) -> int | None:
        """The length of an array; None for a scalar."""
        return self.whole(item.size) if isinstance(item.size, str) else item.size

    def whole(self, name: str) -> int:
        value = self.value(name)
        if value is VERTEX_COUNT:
            raise InputError(
                f"{self.program.name}: '{name}' is the number of vertices, which the graph tells, "
                "and a size or a number of steps must be known before",
                hint=f"give it: {self.program.name}({name}=...)",
            )
        assert isinstance(value, int)
        return value

    @property
    def is_sized(self) -> bool:
        """True if a value is the number of vertices of the graph, which may change."""
        return any(value is VERTEX_COUNT for _, value in self.values)

    def __repr__(self) -> str:
        given = [told_values(self.program.parameters, self.values)]
        given += [f"{name}={column!r}" for name, column in self.columns]
        return f"{self.program.name}({', '.join(filter(None, given))})"


class BoundProgram(BoundPlan[VertexProgram]):
    """A vertex program with values."""


class BoundWalk(BoundPlan[WalkProgram]):
    """A walk program with values."""

    @property
    def unrolled(self) -> WalkProgram:
        """The program with loops that are repeated as often as the values say."""
        return unrolled(self.program, dict(self.values))


def told_values(
    parameters: Iterable[Parameter], values: Iterable[tuple[str, ParameterValue]]
) -> str:
    """Values by name as people write them: lists in brackets, the end of long ones left out.

    sources=('a',)  becomes  sources=['a']
    """
    lists = (ParameterKind.VERTICES, ParameterKind.PAIRS)
    pairs = zip(parameters, values, strict=True)
    return ", ".join(
        f"{name}={_told_list(value) if item.kind in lists else repr(value)}"
        for item, (name, value) in pairs
        if value is not VERTEX_COUNT
    )


def _told_list(value: ParameterValue) -> str:
    assert isinstance(value, tuple)
    shown = [repr(item) for item in value[:_MOST_TOLD]]
    if len(value) > _MOST_TOLD:
        shown.append(f"and {len(value) - _MOST_TOLD:,} more")
    return f"[{', '.join(shown)}]"


@overload
def bind(program: VertexProgram, given: Mapping[str, object]) -> BoundProgram: ...
@overload
def bind(program: WalkProgram, given: Mapping[str, object]) -> BoundWalk: ...
def bind(
    program: VertexProgram | WalkProgram, given: Mapping[str, object]
) -> BoundProgram | BoundWalk:
    """The program with the given values, and defaults for the rest; InputError if it cannot be."""
    every = {**{item.name: VERTEX_COUNT for item in program.parameters if _is_size(item)}, **given}
    columns = columns_given(program, given)
    plain = {name: value for name, value in every.items() if name not in dict(columns)}
    values = bound_values(program.name, program.parameters, plain, column_names(program))
    if isinstance(program, VertexProgram):
        bound = BoundProgram(with_columns(program, columns), values, columns, program)
        _check_settings(bound)
        return bound
    walk = BoundWalk(with_columns(program, columns), values, columns, program)
    _check_settings(walk)
    _check_walk(walk)
    return walk


def _is_size(item: Parameter) -> bool:
    return item.name == SIZE and item.kind is ParameterKind.INT and item.default is None


def bound_values(
    program: str,
    parameters: Sequence[Parameter],
    given: Mapping[str, object],
    columns: Sequence[str] = (),
) -> tuple[tuple[str, ParameterValue], ...]:
    """A value for each parameter of a program of that name; InputError if it cannot be.

    `columns` are what else could have been given, for the hint of the error.
    """
    known = [*(parameter.name for parameter in parameters), *columns]
    for name in given:
        if name not in known:
            raise InputError(f"{program} has no parameter '{name}'", hint=_known(name, known))
    return tuple((item.name, _value(program, item, given)) for item in parameters)


def _known(name: str, known: list[str]) -> str:
    near = closest(name, known)
    if near:
        return f"did you mean `{near}`?"
    listed = f"it has {', '.join(known)}" if known else "it has no parameters: leave it out"
    counts_alike = "; all edges count alike in it, and a program of your own can read weights"
    return listed + counts_alike * (name == "weight")


def _value(program: str, parameter: Parameter, given: Mapping[str, object]) -> ParameterValue:
    if given.get(parameter.name) is VERTEX_COUNT:
        return VERTEX_COUNT
    if parameter.name in given:
        return _converted(program, parameter, given[parameter.name])
    if parameter.default is None:
        raise InputError(
            f"{program} needs a value for '{parameter.name}'",
            hint=f"give it: {program}({parameter.name}=...), {WANTED[parameter.kind]}",
        )
    if parameter.kind in _MOMENTS:
        return _converted(program, parameter, parameter.default)
    return parameter.default


def _converted(program: str, parameter: Parameter, value: object) -> ParameterValue:
    converted = converted_value(parameter.kind, value)
    if converted is None:
        raise InputError(
            f"{program}: '{parameter.name}' cannot be {value!r}",
            hint=f"give {WANTED[parameter.kind]}",
        )
    return converted


def _check_walk(bound: BoundWalk) -> None:
    """Refuse limits and repetitions that cannot be; columns are sized before walks are unrolled."""
    for item in bound.program.matches:
        if isinstance(item.limit, str) and bound.whole(item.limit) < 0:
            _refuse(bound, item.limit, f"the limit of {item.name}", "0 or more")
        for column, size in item.sizes:
            if isinstance(size, str) and bound.whole(size) < 1:
                _refuse(bound, size, f"the size of {column}", "1 or more")
    _ = bound.unrolled


def _check_settings(bound: BoundProgram | BoundWalk) -> None:
    program = bound.program
    if isinstance(program.iterations, str) and (bound.iterations or 0) < 0:
        _refuse(bound, program.iterations, "the number of iterations", "0 or more")
    if (bound.iterations or 0) > MOST_ITERATIONS:
        raise InputError(
            f"{program.name}: {bound.iterations:,} iterations are more than a run counts",
            hint=f"give at most {MOST_ITERATIONS:,}; a program that has no number of iterations "
            "runs until nothing changes",
        )
    if isinstance(program.tolerance, str) and not 0 <= bound.tolerance < math.inf:
        _refuse(bound, program.tolerance, "the tolerance", "0 or more, and finite")
    for item in program.sized:
        if isinstance(item.size, str) and (bound.size(item) or 0) < 1:
            _refuse(bound, item.size, f"the size of {item.name}", "1 or more")


def _refuse(bound: BoundProgram | BoundWalk, name: Size, what: str, wanted: str) -> None:
    raise InputError(
        f"{bound.program.name}: '{name}' is {what} and cannot be {bound.value(str(name))!r}",
        hint=f"give {wanted}",
    )
