"""The body of a program class: its parameters, state, accumulators and settings, by name.

An annotated name is state if `initialize` or `update` assigns it on a vertex, and a parameter
otherwise; every other declaration says itself what it is. Types and names come from the running
class, places from its source: whatever cannot be is refused at the line of the declaration.

Settings are the direction of edges, the number of iterations and the tolerance. `iterations` and
`tolerance` are a number, the name of a parameter, or a parameter themselves: `iterations: int = 10`
declares one that the caller may give.
"""

from __future__ import annotations

import ast
import datetime as dt
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from graphtide.lang.python.declarations import (
    UNSET,
    AccumulatorDeclaration,
    Columns,
    Date,
    Declaration,
    Global,
    Matches,
    Pairs,
    Property,
    State,
    Timestamp,
    Vertex,
    VertexProperty,
    Vertices,
)
from graphtide.lang.python.source import FUNCTIONS, ClassSource, constant
from graphtide.plan import expressions as x
from graphtide.plan import walks as plan
from graphtide.plan.expressions import BOOL, DATE, FLOAT, INT, TEXT, TIMESTAMP, Number, ValueType
from graphtide.plan.program_values import date_value, timestamp_value
from graphtide.plan.programs import (
    Accumulator,
    AccumulatorKind,
    Direction,
    Parameter,
    ParameterKind,
    Size,
    StateField,
)

TYPES: dict[object, ValueType] = {int: INT, float: FLOAT, bool: BOOL}
_KINDS: dict[object, ParameterKind] = {
    int: ParameterKind.INT,
    float: ParameterKind.FLOAT,
    bool: ParameterKind.BOOL,
    Vertex: ParameterKind.VERTEX,
    Vertices: ParameterKind.VERTICES,
    Pairs: ParameterKind.PAIRS,
    str: ParameterKind.TEXT,
    Date: ParameterKind.DATE,
    dt.date: ParameterKind.DATE,
    Timestamp: ParameterKind.TIMESTAMP,
    dt.datetime: ParameterKind.TIMESTAMP,
}
_OF_VERTICES = (ParameterKind.VERTEX, ParameterKind.VERTICES, ParameterKind.PAIRS)
_DATA_TYPES = {
    declared: ValueType(kind.value) for declared, kind in _KINDS.items() if kind not in _OF_VERTICES
}
_ARTICLE = {
    INT: "an int",
    FLOAT: "a float",
    BOOL: "a bool",
    TEXT: "a text",
    DATE: "a date",
    TIMESTAMP: "a timestamp",
}


class DeclaredTypes:
    """Reads declarations of one class; errors stand at their places in its source."""

    def __init__(self, source: ClassSource) -> None:
        self._source = source

    def vertex_property(
        self, name: str, node: ast.stmt, declared: object, missing: object
    ) -> x.VertexProperty:
        """A property that programs read of vertices, with what stands in where it is missing."""
        value_type = self.data_type(node, declared, "vertices")
        default = None if missing is UNSET else self.given(node, value_type, missing)
        return x.VertexProperty("v", name, value_type, default)

    def data_type(self, node: ast.stmt, declared: object, owners: str) -> ValueType:
        """The type of a property of edges or vertices."""
        value_type = _DATA_TYPES.get(declared) if isinstance(declared, type) else None
        if value_type is None:
            raise self._source.error(
                node,
                f"properties of {owners} have no such type",
                "use int, float, bool, str, gt.Date or gt.Timestamp",
            )
        return value_type

    def accumulator(self, name: str, node: ast.stmt, item: AccumulatorDeclaration) -> Accumulator:
        value_type = self.value_type(node, item.type)
        word = type(item).__name__
        logic = item.kind in (AccumulatorKind.OR, AccumulatorKind.AND)
        if logic and value_type is not BOOL:
            raise self._source.error(node, f"{word} holds truth values", f"write gt.{word}()")
        if item.kind is AccumulatorKind.COUNT and value_type is not INT:
            raise self._source.error(node, "Count holds ints", "write gt.Count()")
        if not logic and value_type is BOOL:
            raise self._source.error(
                node, f"{word} holds numbers", "use int or float, or gt.Or() and gt.And()"
            )
        return Accumulator(name, item.kind, value_type, self.size(node, item.size))

    def matches(self, name: str, node: ast.stmt, rows: Matches) -> plan.Matches:
        if not rows.columns:
            raise self._source.error(
                node, f"'{name}' has no columns", f"write `{name} = gt.Matches(first=gt.Vertex)`"
            )
        columns: list[tuple[str, ValueType | str]] = []
        sizes: list[tuple[str, Size]] = []
        for column, kind in rows.columns.items():
            size = self.size(node, kind.size) if isinstance(kind, Columns) else None
            kind = kind.type if isinstance(kind, Columns) else kind
            columns.append((column, "vertex" if kind is Vertex else self._column(node, kind)))
            sizes += [] if size is None else [(column, size)]
        return plan.Matches(name, tuple(columns), self._limit(node, rows.limit), tuple(sizes))

    def value_type(self, node: ast.stmt, declared: object) -> ValueType:
        """The type of a number or truth value that a program keeps."""
        if isinstance(declared, type) and declared in TYPES:
            return TYPES[declared]
        raise self._source.error(node, "values have no such type", "use int, float or bool")

    def given(self, node: ast.stmt, value_type: ValueType, value: object) -> x.Constant:
        """A constant of any type that data have; moments in ISO form."""
        if value_type is TEXT and isinstance(value, str):
            return str(value)
        if value_type.is_moment:
            moment = date_value(value) if value_type is DATE else timestamp_value(value)
            if moment is not None:
                return moment.isoformat()
        return self.default(node, value_type, value)

    def default(self, node: ast.stmt, value_type: ValueType, value: object) -> Number:
        """A constant that state begins with, or that a parameter has if none is given."""
        number = constant(0 if value is UNSET else value)
        if value is UNSET:
            return {INT: 0, FLOAT: 0.0, BOOL: False}[value_type]
        if number is not None and number.type is value_type:
            return number.value
        if number is not None and number.type is INT and value_type is FLOAT:
            return float(number.value)
        hint = f"give a constant of type {value_type}"
        if value_type is INT and isinstance(value, float):
            hint = "ints have no infinity and no fractions: declare it as float"
        raise self._source.error(node, f"{value!r} is no default for {_ARTICLE[value_type]}", hint)

    def size(self, node: ast.stmt, size: object) -> Size | None:
        """How long an array is: a number, the name of a parameter, or None where it is no array."""
        if size is None or isinstance(size, str):
            return size
        if isinstance(size, int) and not isinstance(size, bool) and size >= 1:
            return size
        raise self._source.error(
            node, f"an array cannot have size {size!r}", "use 1 or more, or the name of a parameter"
        )

    def _column(self, node: ast.stmt, kind: object) -> ValueType:
        if isinstance(kind, type) and kind in TYPES:
            return TYPES[kind]
        raise self._source.error(
            node,
            "columns of matches have no such kind",
            "use gt.Vertex, int, float, bool, or gt.Columns(gt.Vertex, size=...) for several",
        )

    def _limit(self, node: ast.stmt, limit: object) -> Size | None:
        if limit is None or isinstance(limit, str):
            return limit
        if isinstance(limit, int) and not isinstance(limit, bool) and limit >= 0:
            return limit
        raise self._source.error(
            node,
            f"{limit!r} is no number of rows",
            "`limit` is a number, the name of an int parameter, or None to keep all rows",
        )


@dataclass(frozen=True)
class Settings:
    """What a program says besides its fields and functions."""

    direction: Direction = Direction.OUT
    iterations: int | str | None = None
    tolerance: float | str = 0.0


def read_settings(
    source: ClassSource,
    places: Mapping[str, ast.stmt],
    parameters: Mapping[str, Parameter],
) -> Settings:
    reader = _SettingReader(source, places, parameters)
    values = source.values
    return Settings(
        reader.direction(values.get("direction", "out")),
        reader.iterations(values.get("iterations")),
        reader.tolerance(values.get("tolerance", 0.0)),
    )


@dataclass(frozen=True)
class _SettingReader:
    source: ClassSource
    places: Mapping[str, ast.stmt]
    parameters: Mapping[str, Parameter]

    def direction(self, value: object) -> Direction:
        if isinstance(value, str) and value in tuple(Direction):
            return Direction(value)
        raise self.source.error(
            self.places["direction"],
            f"edges cannot be traversed {value!r}",
            '`direction` is "out", "in" or "both"',
        )

    def iterations(self, value: object) -> int | str | None:
        name = self._parameter("iterations", value, ParameterKind.INT)
        if name is not None or value is None:
            return name
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        raise self.source.error(
            self.places["iterations"],
            f"{value!r} is no number of iterations",
            "give a number, the name of an int parameter, or None to go on until nothing changes",
        )

    def tolerance(self, value: object) -> float | str:
        name = self._parameter("tolerance", value, ParameterKind.FLOAT)
        if name is not None:
            return name
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if number and 0 <= float(value) < math.inf:  # type: ignore[arg-type]
            return float(value)  # type: ignore[arg-type]
        raise self.source.error(
            self.places["tolerance"],
            f"{value!r} is no tolerance",
            "give 0 or more, as a share of the value, or the name of a float parameter",
        )

    def _parameter(self, setting: str, value: object, kind: ParameterKind) -> str | None:
        """The name of the parameter that the setting is, or names."""
        name = setting if setting in self.parameters else value
        if not isinstance(name, str):
            return None
        if name not in self.parameters or self.parameters[name].kind is not kind:
            raise self.source.error(
                self.places[setting],
                f"'{name}' is no {kind} parameter, so it cannot be the {setting}",
                f"declare it: `{name}: {kind} = ...`",
            )
        return name


_RESERVED = ("id", "out_degree", "in_degree", "degree", "iteration")
_SETTINGS = ("direction", "iterations", "tolerance")
_LISTS = {
    ParameterKind.VERTICES: "a set of vertices",
    ParameterKind.PAIRS: "a list of pairs",
}
_WORDS: dict[str, object] = {getattr(kind, "__name__", ""): kind for kind in _KINDS}
_WORDS["Global"] = Global


@dataclass
class Fields:
    """Everything that a program class declares, by name."""

    parameters: dict[str, Parameter] = field(default_factory=dict)
    state: dict[str, StateField] = field(default_factory=dict)
    accumulators: dict[str, Accumulator] = field(default_factory=dict)
    globals: dict[str, Accumulator] = field(default_factory=dict)
    matches: dict[str, plan.Matches] = field(default_factory=dict)
    properties: dict[str, ValueType] = field(default_factory=dict)
    vertex_properties: dict[str, x.VertexProperty] = field(default_factory=dict)
    places: dict[str, ast.stmt] = field(default_factory=dict)
    settings: Settings = field(default_factory=Settings)


def read_fields(source: ClassSource) -> Fields:
    reader = _FieldReader(source)
    for node in source.node.body:
        reader.read(node)
    reader.check_sizes()
    reader.fields.settings = read_settings(source, reader.fields.places, reader.fields.parameters)
    return reader.fields


class _FieldReader:
    def __init__(self, source: ClassSource) -> None:
        self.source = source
        self.types = DeclaredTypes(source)
        self.values = source.values
        self.annotations = source.annotations
        self.assigned = set(_assigned_on_vertex(source.node))
        self.fields = Fields()

    def read(self, node: ast.stmt) -> None:
        match node:
            case ast.FunctionDef(name=name):
                self._place(name, node)
                self._check_function(name, node)
            case ast.AnnAssign(target=ast.Name(id=name)):
                self._place(name, node)
                self._read_annotated(name, node)
            case ast.Assign(targets=[ast.Name(id=name)]):
                self._place(name, node)
                self._read_plain(name, node)
            case ast.Expr(value=ast.Constant(value=str())) | ast.Pass():
                pass
            case _:
                raise self.source.error(
                    node,
                    "this cannot stand in the body of a program",
                    "it holds declarations such as `best = gt.Min(float)`, and the functions "
                    "initialize, traverse and update",
                )

    def _place(self, name: str, node: ast.stmt) -> None:
        if name in self.fields.places:
            raise self.source.error(
                node, f"'{name}' is declared twice", "give the two different names"
            )
        if name in _RESERVED:
            raise self.source.error(
                node, f"'{name}' has a meaning of its own in programs", "choose another name"
            )
        self.fields.places[name] = node

    def _check_function(self, name: str, node: ast.FunctionDef) -> None:
        if name not in FUNCTIONS:
            raise self.source.error(
                node,
                f"a program has no function '{name}'",
                "it has initialize(self, v), traverse(self, u, e, v), or traverse(self, u) with "
                "loops, and update(self, v); a function of numbers that these call stands above "
                "the class",
            )

    def _read_annotated(self, name: str, node: ast.AnnAssign) -> None:
        value = self.values.get(name, UNSET)
        setting = name == "direction" or (name in _SETTINGS and value is None)
        if isinstance(value, AccumulatorDeclaration) and self._annotation(name) is Global:
            self.fields.globals[name] = self.types.accumulator(name, node, value)
        elif setting or isinstance(value, Declaration):
            self._read_plain(name, node)
        elif name in self.assigned:
            value_type = self._annotated_type(name, node)
            self.fields.state[name] = StateField(
                name, value_type, self.types.default(node, value_type, value)
            )
        else:
            self._read_parameter(name, node, value)

    def _read_parameter(self, name: str, node: ast.AnnAssign, value: object) -> None:
        kind = _KINDS.get(self._annotation(name))
        if kind is None:
            raise self.source.error(
                node.annotation,
                f"'{name}' has a kind that parameters cannot have",
                "use int, float, bool, str, gt.Date, gt.Timestamp, gt.Vertex, gt.Vertices or "
                "gt.Pairs",
            )
        if kind is ParameterKind.PAIRS:
            self._check_only_pairs(node)
        if value is UNSET:
            default = None
        elif kind in _LISTS:
            raise self.source.error(
                node, f"{_LISTS[kind]} has no default", "leave it out and give it in the call"
            )
        else:
            whole = kind is ParameterKind.VERTEX
            default = self.types.given(node, INT if whole else ValueType(kind.value), value)
        self.fields.parameters[name] = Parameter(name, kind, default)

    def _check_only_pairs(self, node: ast.AnnAssign) -> None:
        if any(item.kind is ParameterKind.PAIRS for item in self.fields.parameters.values()):
            raise self.source.error(
                node, "a program has one list of pairs", "put all pairs into one list"
            )

    def _read_plain(self, name: str, node: ast.Assign | ast.AnnAssign) -> None:
        if name in _SETTINGS:
            return
        match self.values.get(name, UNSET):
            case State(declared, default, size):
                value_type = self.types.value_type(node, declared)
                self.fields.state[name] = StateField(
                    name,
                    value_type,
                    self.types.default(node, value_type, default),
                    self.types.size(node, size),
                )
            case Property(declared):
                self.fields.properties[name] = self.types.data_type(node, declared, "edges")
            case VertexProperty(declared, missing):
                self.fields.vertex_properties[name] = self.types.vertex_property(
                    name, node, declared, missing
                )
            case AccumulatorDeclaration() as item:
                self.fields.accumulators[name] = self.types.accumulator(name, node, item)
            case Global(AccumulatorDeclaration() as item):
                self.fields.globals[name] = self.types.accumulator(name, node, item)
            case Global():
                raise self.source.error(
                    node,
                    f"'{name}' does not say how what is sent becomes one",
                    f"write `{name} = gt.Global(gt.Sum(int))`",
                )
            case Matches() as rows:
                self.fields.matches[name] = self.types.matches(name, node, rows)
            case _:
                raise self.source.error(
                    node,
                    f"'{name}' says neither that it is a parameter nor that it is state",
                    f"annotate a parameter, `{name}: float = ...`; "
                    f"write state as `{name} = gt.State(float)`",
                )

    def _annotation(self, name: str) -> object:
        annotation = self.annotations.get(name)
        if isinstance(annotation, str):
            return _WORDS.get(annotation.strip(" '\"").split(".")[-1])
        return annotation if isinstance(annotation, type) else None

    def _annotated_type(self, name: str, node: ast.AnnAssign) -> ValueType:
        value_type = TYPES.get(self._annotation(name))
        if value_type is None:
            raise self.source.error(
                node.annotation, f"the state '{name}' has no such type", "use int, float or bool"
            )
        return value_type

    def check_sizes(self) -> None:
        """Sizes that are names are int parameters; only now are all parameters known."""
        sizes = {name: item.size for name, item in self.fields.state.items()}
        sizes |= {name: item.size for name, item in self.fields.accumulators.items()}
        sizes |= {name: item.size for name, item in self.fields.globals.items()}
        for name, size in sizes.items():
            self._check_size(name, size, "size")
        for name, rows in self.fields.matches.items():
            self._check_size(name, rows.limit, "limit")
            for _, size in rows.sizes:
                self._check_size(name, size, "size")

    def _check_size(self, name: str, size: Size | None, word: str) -> None:
        known = self.fields.parameters.get(size) if isinstance(size, str) else None
        if isinstance(size, str) and (known is None or known.kind is not ParameterKind.INT):
            raise self.source.error(
                self.fields.places[name],
                f"'{size}' is no int parameter, so it is no {word}",
                f"declare it: `{size}: int`",
            )


def _assigned_on_vertex(node: ast.ClassDef) -> Iterator[str]:
    for function in node.body:
        if isinstance(function, ast.FunctionDef) and function.name in ("initialize", "update"):
            for inner in ast.walk(function):
                if isinstance(inner, ast.Assign):
                    yield from filter(None, map(_attribute_of, inner.targets))
                elif isinstance(inner, ast.AugAssign | ast.AnnAssign):
                    yield from filter(None, [_attribute_of(inner.target)])


def _attribute_of(target: ast.expr) -> str | None:
    if isinstance(target, ast.Subscript):
        target = target.value
    match target:
        case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner != "self":
            return name
        case _:
            return None
