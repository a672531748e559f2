"""The body of a program class: its parameters, state, accumulators and settings, by name.

An annotated name is state if `initialize` or `update` assigns it on a vertex, and a parameter
otherwise; everything else says itself what it is. Types and names come from the running class,
places from its source.
"""

from __future__ import annotations

import ast
import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass, field

from graphtide.lang.python.declarations import (
    UNSET,
    AccumulatorDeclaration,
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
from graphtide.lang.python.declared_types import TYPES, DeclaredTypes
from graphtide.lang.python.settings import Settings, read_settings
from graphtide.lang.python.source import FUNCTIONS, ClassSource
from graphtide.plan import expressions as x
from graphtide.plan import walks as plan
from graphtide.plan.expressions import INT, ValueType
from graphtide.plan.programs import Accumulator, Parameter, ParameterKind, Size, StateField

_RESERVED = ("id", "out_degree", "in_degree", "degree", "iteration")
_SETTINGS = ("direction", "iterations", "tolerance")
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
_LISTS = {
    ParameterKind.VERTICES: "a set of vertices",
    ParameterKind.PAIRS: "a list of pairs",
}
_WORDS: dict[str, object] = {
    "int": int,
    "float": float,
    "bool": bool,
    "Vertex": Vertex,
    "Vertices": Vertices,
    "Pairs": Pairs,
    "str": str,
    "Date": Date,
    "date": Date,
    "Timestamp": Timestamp,
    "datetime": Timestamp,
    "Global": Global,
}


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
    """All declarations of the class; LanguageError at the first that cannot be."""
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
        """One statement of the class body."""
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
