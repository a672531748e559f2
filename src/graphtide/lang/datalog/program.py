"""A Datalog program as users hold it: its text and plan, and the same over graphs.

Over a graph, `edge(u: vertex, v: vertex, ...)` and `vertex(v: vertex, ...)` hold the graph;
further attributes are properties, by their names. A relation of one vertex that nothing derives is
a parameter: the user gives its vertices by their ids. Relations that the program puts out are
results.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path

from graphtide.lang.datalog.parse import parse_datalog
from graphtide.lang.datalog.resolve import lower_datalog
from graphtide.lang.diagnostics import is_file_name, text_of
from graphtide.model.errors import InputError
from graphtide.plan.dataflow_expressions import ColumnType
from graphtide.plan.expressions import ValueType, VertexProperty
from graphtide.plan.program_values import ParameterValue, bound_values, told_values
from graphtide.plan.programs import Parameter, ParameterKind
from graphtide.plan.rules import Relation, RulePlan

SUFFIX = ".dl"


@dataclass(frozen=True)
class DatalogText:
    """What a text of Datalog says; `name` is that of its file, or `rules`."""

    name: str
    plan: RulePlan
    text: str = field(default="", repr=False)


def read_datalog(text: str | PathLike[str]) -> DatalogText:
    """The program that a text says, or the file of that name if it ends in `.dl`."""
    if isinstance(text, PathLike) or is_file_name(text, SUFFIX):
        path = Path(text)
        found = text_of(path, "Datalog")
        return DatalogText(path.stem, lower_datalog(parse_datalog(found, str(path))), found)
    if not isinstance(text, str):
        raise InputError(
            f"a Datalog program is a text, and this is a {type(text).__name__}",
            hint="give the text, or the name of a file that ends in .dl",
        )
    return DatalogText("rules", lower_datalog(parse_datalog(text)), text)


EDGE, VERTEX = "edge", "vertex"
Properties = tuple[tuple[str, ValueType], ...]


@dataclass(frozen=True, repr=False)
class RuleProgram:
    """Rules that are ready to be given their parameters and run over a graph or its views."""

    name: str
    plan: RulePlan
    text: str = field(default="", compare=False)
    parameters: tuple[Parameter, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "__name__", self.name)
        object.__setattr__(self, "__doc__", f"What the rules of {self.name} derive.")

    @cached_property
    def edge_properties(self) -> Properties:
        """The properties of edges that it reads."""
        return _properties(self.plan, EDGE, 2)

    @cached_property
    def vertex_properties(self) -> Properties:
        """The properties of vertices that it reads."""
        return _properties(self.plan, VERTEX, 1)

    @property
    def reads_vertices(self) -> bool:
        """Whether it asks for the vertices."""
        return any(item.name == VERTEX for item in self.plan.relations)

    def __call__(self, /, *values: object, **parameters: object) -> BoundRules:
        """The program with values for its parameters; InputError if they do not fit."""
        if values:
            raise InputError(
                f"the parameters of {self.name} are given by name",
                hint=f"write {', '.join(f'{item.name}=...' for item in self.parameters)}",
            )
        return BoundRules(self, bound_values(self.name, self.parameters, parameters))

    def __repr__(self) -> str:
        return f"<program {self.name}({', '.join(item.name for item in self.parameters)})>"


@dataclass(frozen=True, repr=False)
class BoundRules:
    """Rules and the values of all their parameters."""

    program: RuleProgram
    values: tuple[tuple[str, ParameterValue], ...]

    is_sized = False

    @property
    def fields(self) -> tuple[str, ...]:
        """Rules have no results of vertices: rows alone."""
        return ()

    def __repr__(self) -> str:
        return f"{self.program.name}({told_values(self.program.parameters, self.values)})"


def graph_rules(given: DatalogText) -> RuleProgram:
    """A text as a program over graphs; InputError where it asks for what no graph has."""
    plan = given.plan
    _check_outputs(given)
    parameters = []
    for relation in plan.relations:
        if relation.name in plan.derived or relation.name in dict(plan.facts):
            if relation.name in (EDGE, VERTEX):
                raise InputError(
                    f"'{relation.name}' is what the graph holds, and {given.name} derives it",
                    hint="call what the rules derive otherwise",
                )
        elif relation.name in (EDGE, VERTEX):
            _check_graph(relation)
        elif relation.names and relation.vertices == relation.names and len(relation.names) == 1:
            parameters.append(Parameter(relation.name, ParameterKind.VERTICES, None))
        else:
            raise InputError(
                f"nothing says what '{relation.name}' holds over a graph",
                hint="`edge` and `vertex` hold the graph; a relation of one vertex is a parameter; "
                "write the facts of others in the text",
            )
    _check_files(given)
    return RuleProgram(given.name, plan, given.text, tuple(parameters))


def vertex_wanted(properties: Properties) -> Iterator[VertexProperty]:
    """What to ask the data of vertices for."""
    for name, kind in properties:
        yield VertexProperty("u", name, kind)


def _check_outputs(given: DatalogText) -> None:
    if not given.plan.wanted:
        raise InputError(f"{given.name} puts nothing out", hint="say which relation: .output tc")
    for name in given.plan.wanted:
        if not given.plan.relation(name).columns:
            raise InputError(
                f"{name} has no attributes, and results over graphs are rows",
                hint=f"give it one: {name}(count: number)",
            )


def _check_graph(relation: Relation) -> None:
    ends = relation.names[: 2 if relation.name == EDGE else 1]
    if relation.vertices != ends or len(relation.names) < len(ends):
        places = "u: vertex, v: vertex" if relation.name == EDGE else "v: vertex"
        raise InputError(
            f"'{relation.name}' over a graph begins with {len(ends) or 1} of type vertex",
            hint=f".decl {relation.name}({places}), and properties by their names behind",
        )


def _check_files(given: DatalogText) -> None:
    for item in (*given.plan.inputs, *given.plan.outputs):
        if item.settings:
            raise InputError(
                f"{item.relation} is to come from a file or go to one, and {given.name} runs over "
                "a graph",
                hint="leave the settings of `.input` and `.output` out",
            )


def _properties(plan: RulePlan, name: str, ends: int) -> Properties:
    for item in plan.relations:
        if item.name == name:
            return tuple((own, _VALUES[kind]) for own, kind in item.columns[ends:])
    return ()


_VALUES = {
    ColumnType.INT: ValueType.INT,
    ColumnType.FLOAT: ValueType.FLOAT,
    ColumnType.TEXT: ValueType.TEXT,
}
