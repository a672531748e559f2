"""Programs that read properties under other names: `ShortestPaths(source=3, weight="km")`.

A program says `e.weight`, and the data call the same thing `km`. Whatever property of edges or
vertices a program reads may be called otherwise when it is bound: the plan is rewritten, so that
whoever runs, explains, checks or stores it sees the name that the data have and nothing else. A
parameter of the program goes before a property of the same name. Properties whose name begins with
an underscore, such as those that runs make up, keep it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from graphtide.model.errors import InputError
from graphtide.plan import expressions as x
from graphtide.plan import walks as w
from graphtide.plan.program_reads import expressions_in
from graphtide.plan.program_symbols import changed_body, rewrite
from graphtide.plan.programs import VertexProgram
from graphtide.plan.walk_names import changed

Plan = TypeVar("Plan", VertexProgram, w.WalkProgram)


def column_names(program: VertexProgram | w.WalkProgram) -> tuple[str, ...]:
    """The properties that a program reads and that may be called otherwise, in order of names."""
    taken = {item.name for item in program.parameters}
    read = {item.name for item in _properties(program)}
    return tuple(sorted(name for name in read - taken if not name.startswith(("_", "("))))


def columns_given(
    program: VertexProgram | w.WalkProgram, given: Mapping[str, object]
) -> tuple[tuple[str, str], ...]:
    """What is given of columns among values of parameters; InputError if one is no name."""
    names = [name for name in column_names(program) if name in given]
    return tuple((name, _column_of(program, name, given[name])) for name in names)


def with_columns(program: Plan, columns: Iterable[tuple[str, str]]) -> Plan:
    """The program with properties called as the data call them."""
    names = {name: column for name, column in columns if name != column}
    if not names:
        return program

    def leaf(item: x.Expression) -> x.Expression:
        match item:
            case x.EdgeProperty(name=name) | x.VertexProperty(name=name) if name in names:
                return replace(item, name=names[name])
            case x.StateRef(index=index) | x.AccumulatorRef(index=index) | x.GlobalRef(index=index):
                return item if index is None else replace(item, index=change(index))
            case x.OverPath(value=value):
                return replace(item, value=change(value))
            case _:
                return item

    def change(expression: x.Expression) -> x.Expression:
        return rewrite(expression, leaf)

    initialize = changed_body(program.initialize, change)
    update = changed_body(program.update, change)
    if isinstance(program, VertexProgram):
        traverse = changed_body(program.traverse, change)
        called = replace(program, initialize=initialize, traverse=traverse, update=update)
    else:
        walk = changed(program.traverse, change)
        called = replace(program, initialize=initialize, traverse=walk, update=update)
    _check_types(called)
    return called


def _properties(
    program: VertexProgram | w.WalkProgram,
) -> Iterable[x.EdgeProperty | x.VertexProperty]:
    return (
        item
        for item in expressions_in(program)
        if isinstance(item, x.EdgeProperty | x.VertexProperty)
    )


def _column_of(program: VertexProgram | w.WalkProgram, name: str, value: object) -> str:
    read = {type(item) for item in _properties(program) if item.name == name}
    if len(read) > 1:
        raise InputError(
            f"{program.name} reads '{name}' of edges and of vertices, and cannot be told which of "
            "the two has another name",
            hint="call the column so where the graph is made",
        )
    owners = "edges" if x.EdgeProperty in read else "vertices"
    return given_column(program.name, name, value, owners)


def given_column(program: str, name: str, value: object, owners: str = "edges") -> str:
    """The name of a column that is given for a property; InputError if it is none."""
    if isinstance(value, str) and value:
        return value
    raise InputError(
        f"{program}: '{name}' cannot be {value!r}: it is a property of {owners}",
        hint=f"give the name of the column that holds it: {name}='...'",
    )


def _check_types(program: VertexProgram | w.WalkProgram) -> None:
    """Refuse one column in the place of two that a program reads as different types."""
    known: dict[tuple[type, str], x.ValueType] = {}
    for item in _properties(program):
        kind = known.setdefault((type(item), item.name), item.type)
        if kind is not item.type:
            raise InputError(
                f"{program.name}: '{item.name}' stands for two properties, of which one is read as "
                f"{kind} and the other as {item.type}",
                hint="give the two different columns",
            )
