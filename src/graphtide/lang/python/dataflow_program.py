"""Dataflows as programs: a function from the edges of a graph to a value for each vertex.

A dataflow can say what a vertex program cannot, such as loops within loops. `dataflow_program`
turns a function over collections into a program with a name, parameters and one result; users run
it over views and keep it current like any other. Whoever builds the dataflow calls the function
with collections and checks what it returns.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphtide.lang.python.declarations import Vertex, Vertices
from graphtide.model.errors import InputError
from graphtide.plan.expressions import Number, ValueType
from graphtide.plan.program_reads import given_column
from graphtide.plan.program_values import ParameterValue, bound_values, told_values
from graphtide.plan.programs import Parameter, ParameterKind

Build = Callable[..., Any]
Scratch = Callable[[Any], Any]
_KINDS: dict[object, ParameterKind] = {
    int: ParameterKind.INT,
    float: ParameterKind.FLOAT,
    bool: ParameterKind.BOOL,
    Vertex: ParameterKind.VERTEX,
    Vertices: ParameterKind.VERTICES,
}
_BY_PLACE = inspect.Parameter.POSITIONAL_OR_KEYWORD
_TYPES: dict[object, ValueType] = {
    int: ValueType.INT,
    float: ValueType.FLOAT,
    bool: ValueType.BOOL,
}


@dataclass(frozen=True)
class DataflowResult:
    """What a dataflow says of each vertex; `missing` where it says nothing, None if it must.

    `names_vertices` tells that values are the numbers of vertices, and `labels` that these name
    components.
    """

    name: str
    type: ValueType
    missing: Number | None = None
    labels: bool = False
    names_vertices: bool = field(default=False, repr=False)


@dataclass(frozen=True, repr=False)
class DataflowProgram:
    """A dataflow that is ready to be given its parameters: `SCC()`.

    `build` makes the collection of results from those of edges and, where it asks for a second
    one, of vertices. `scratch` computes the same from a graph at rest, faster than by a dataflow.
    """

    name: str
    build: Build
    result: DataflowResult
    properties: tuple[tuple[str, ValueType], ...] = ()
    parameters: tuple[Parameter, ...] = ()
    takes_vertices: bool = False
    scratch: Scratch | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "__name__", self.name)
        object.__setattr__(self, "__doc__", inspect.getdoc(self.build) or "")

    def __call__(self, /, *values: object, **parameters: object) -> BoundDataflow:
        """The program with values for its parameters; InputError if they do not fit."""
        if values:
            known = ", ".join(f"{item.name}=..." for item in self.parameters)
            raise InputError(
                f"the parameters of {self.name} are given by name",
                hint=f"write {self.name}({known})",
            )
        columns = tuple(
            (name, given_column(self.name, name, parameters.pop(name)))
            for name in self.columns
            if name in parameters
        )
        bound = bound_values(self.name, self.parameters, parameters, self.columns)
        return BoundDataflow(self, bound, columns)

    @property
    def columns(self) -> tuple[str, ...]:
        """The properties of edges that it reads, each of which may be given by another name."""
        taken = {item.name for item in self.parameters}
        return tuple(name for name, _ in self.properties if name not in taken)

    def __repr__(self) -> str:
        return f"<program {self.name}({', '.join(item.name for item in self.parameters)})>"


@dataclass(frozen=True, repr=False)
class BoundDataflow:
    """A dataflow and the values of all its parameters, in the order they are declared.

    `columns` are the properties that have another name in the data, each with that.
    """

    program: DataflowProgram
    values: tuple[tuple[str, ParameterValue], ...]
    columns: tuple[tuple[str, str], ...] = ()

    @property
    def read(self) -> tuple[tuple[str, str, ValueType], ...]:
        """The properties of edges: what the dataflow and what the data call each, and its type."""
        called = dict(self.columns)
        return tuple((name, called.get(name, name), kind) for name, kind in self.program.properties)

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the results: one."""
        return (self.program.result.name,)

    def __repr__(self) -> str:
        given = [told_values(self.program.parameters, self.values)]
        given += [f"{name}={column!r}" for name, column in self.columns]
        return f"{self.program.name}({', '.join(filter(None, given))})"


def dataflow_program(
    result: str,
    kind: type,
    *,
    missing: Number | None = None,
    labels: bool = False,
    properties: Mapping[str, type] | None = None,
    scratch: Scratch | None = None,
) -> Callable[[Build], DataflowProgram]:
    """Make a function from edges to (vertex, value) a program with one named and typed result.

        @gt.dataflow.program("followers", int, missing=0)
        def Followers(edges):
            return edges.count(by="dst")

    The function is given the collection of edges, with the columns `src`, `dst` and the named
    `properties`; as a second argument, if it has one, that of vertices, with the column `node`;
    and its keyword-only arguments, which are the program's parameters. It returns a collection of
    two columns, a vertex and its value: one record a vertex; a vertex without one has the value
    `missing`, if that is given. Vertices are numbers in a dataflow. Where values are vertices, the
    type is `gt.Vertex`, and tables show their ids; `missing=-1` is then nobody. `labels` says that
    these vertices name components, so that summaries count those. `scratch` is a function from a
    graph at rest to an array of values.
    """
    names_vertices = labels or kind is Vertex
    value_type = ValueType.INT if kind is Vertex else _value_type(kind, result)
    declared = DataflowResult(result, value_type, missing, labels, names_vertices)
    types = {name: _value_type(item, name) for name, item in (properties or {}).items()}

    def decorate(build: Build) -> DataflowProgram:
        parameters, takes_vertices = _signature(build)
        name = build.__name__
        return DataflowProgram(
            name, build, declared, tuple(types.items()), parameters, takes_vertices, scratch
        )

    return decorate


def _value_type(kind: object, name: str) -> ValueType:
    if kind not in _TYPES:
        hint = "use int, float or bool; gt.Vertex for a result that names a vertex"
        raise InputError(f"'{name}' cannot be of type {kind!r}", hint=hint)
    return _TYPES[kind]


def _signature(build: Build) -> tuple[tuple[Parameter, ...], bool]:
    """The parameters of a function, and whether it asks for the vertices."""
    given = list(inspect.signature(build).parameters.values())
    named = [item for item in given if item.kind is item.KEYWORD_ONLY]
    places = [item for item in given if item.kind in (item.POSITIONAL_ONLY, _BY_PLACE)]
    if len(named) + len(places) != len(given) or not 1 <= len(places) <= 2:
        raise InputError(
            f"{build.__name__} is to be a program, and cannot be called with collections",
            hint="it takes the edges, and the vertices if it asks for them: def f(edges, vertices)",
        )
    return tuple(_parameter(build, item) for item in named), len(places) == 2


def _parameter(build: Build, item: inspect.Parameter) -> Parameter:
    kind: Any = item.annotation
    if isinstance(kind, str):
        # Under `from __future__ import annotations` they are text.
        with contextlib.suppress(NameError, AttributeError, SyntaxError):
            kind = eval(kind, build.__globals__)
    if not isinstance(kind, Hashable) or kind not in _KINDS:
        raise InputError(
            f"{build.__name__}: the parameter '{item.name}' has no type to be given in",
            hint="annotate it with int, float, bool, gt.Vertex or gt.Vertices",
        )
    default = None if item.default is item.empty else item.default
    return Parameter(item.name, _KINDS[kind], default)
