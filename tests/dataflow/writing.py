"""Descriptions of dataflows as Python text: what a test runs is what it can print.

Collection 7 of a dataflow with the prefix `n` is the variable `n7`, its loops are `n_loop1`, its
outputs `n7_out`.
"""

from __future__ import annotations

from typing import Any

from tests.oracle.flows import Description, Node

HEADER = (
    "from contextlib import ExitStack",
    "import datetime",
    "from decimal import Decimal",
    "from math import inf, nan",
    "from graphtide.dataflow import *",
    "from tests.dataflow.checked import Dataflow",
    "stack = ExitStack()",
)


def lines(description: Description, prefix: str, imports: str = "") -> list[str]:
    """The lines that build a dataflow which is there already, under the name `{prefix}_flow`.

    `imports` is the prefix of the dataflow that it imports arrangements from.
    """
    found: list[str] = []
    made: set[int] = {0}
    for number, node in enumerate(description.nodes):
        for loop in reversed(description.around(node.scope)):
            if loop not in made:
                made.add(loop)
                found.append(_loop(description, prefix, loop))
        found.append(f"{prefix}{number} = {_node(description, prefix, number, node, imports)}")
    for variable, (definition, rounds) in description.definitions.items():
        bound = "" if rounds is None else f", rounds={rounds}"
        found.append(f"{prefix}{variable}.set({prefix}{definition}{bound})")
    return found + [f"{prefix}{n}_out = {prefix}{n}.output()" for n in description.outputs]


def _loop(description: Description, prefix: str, loop: int) -> str:
    outer = description.loops[loop]
    where = f"{prefix}_loop{outer}" if outer else f"{prefix}_flow"
    return f"{prefix}_loop{loop} = stack.enter_context({where}.loop('loop {loop}'))"


def _types(schema: Any) -> str:
    return ", ".join(f"{name}={kind}" for name, kind in schema)


def _typed(schema: Any) -> str:
    return "{" + ", ".join(f"{name!r}: {kind}" for name, kind in schema) + "}"


def _node(d: Description, prefix: str, number: int, node: Node, imports: str) -> str:
    names = [f"{prefix}{source}" for source in node.sources]
    given = node.given
    match node.operator:
        case "input":
            return f"{prefix}_flow.input('{prefix}{number}', {_types(node.schema)})"
        case "import_arrangement":
            kept = ", history=True" if given[1] else ""
            return f"{prefix}_flow.import_arrangement({imports}{given[0]}{kept})"
        case "variable":
            first = names[0] if names else _types(node.schema)
            return f"{prefix}_loop{node.scope}.variable({first})"
        case "enter":
            at = f", at={given[0]}" if given else ""
            return f"{names[0]}.enter({prefix}_loop{node.scope}{at})"
        case "leave" | "negate" | "consolidate":
            return f"{names[0]}.{node.operator}()"
        case "inspect":
            return f"{names[0]}.inspect(lambda record, time, diff: None)"
        case "concat" | "minus":
            return f"{names[0]}.{node.operator}({', '.join(names[1:])})"
        case "map":
            return f"{names[0]}.map({', '.join(f'{name}={text}' for name, text in given[0])})"
        case "filter":
            return f"{names[0]}.filter({given[0]})"
        case "function":
            return _function(names[0], node)
        case "arrange":
            return f"{names[0]}.arrange({given[0]!r}, order={given[1]!r})"
        case "join" | "semijoin" | "antijoin" | "left_join":
            return f"{names[0]}.{node.operator}({names[1]}, on={given[0]!r})"
    return _reduction(names[0], node)


def _function(source: str, node: Node) -> str:
    text, kind = node.given
    if kind == "filter":
        return f"{source}.filter({text})"
    if kind == "flat_map":
        return f"{source}.flat_map({text}, types={_typed(node.schema)})"
    vectorised = ", vectorised=True" if kind == "columns" else ""
    return f"{source}.map({text}, types={_typed(node.schema)}{vectorised})"


def _reduction(source: str, node: Node) -> str:
    given = node.given
    match node.operator:
        case "ends":
            kind, count, by, of = given
            how_many = f"{count}, " if kind in ("first", "top") else ""
            return f"{source}.{kind}({how_many}by={by!r}, of={of!r})"
        case "aggregate":
            parts = [
                f"{name}={kind}({'' if column is None else repr(column)})"
                for name, kind, column in given[1]
            ]
            return f"{source}.aggregate({given[0]!r}, {', '.join(parts)})"
        case "threshold":
            return f"{source}.distinct()" if given[0] == 1 else f"{source}.threshold({given[0]})"
        case "reduce":
            types = _typed(node.schema[len(given[0]) :])
            return f"{source}.reduce({given[1]}, by={given[0]!r}, types={types})"
    raise AssertionError(node.operator)
