"""The text of a program's class made ready to be run as it stands, by Python itself.

Graphtide reads such a class and never runs it. Here the class is executed: its functions are
compiled by Python from their own text, after each number in them has been made a machine number.
"""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from tests.oracle import machine_numbers as machine
from tests.oracle.class_rewriting import LocalTypes, Rewriting
from tests.oracle.given_values import Day

FUNCTIONS = ("initialize", "traverse", "update")
CALLS = {
    "min": machine.least,
    "max": machine.greatest,
    "abs": abs,
    "fabs": abs,
    "int": lambda value: machine.Int(value) if isinstance(value, Day) else machine.int_of(value),
    "float": machine.float_of,
    "bool": bool,
    "len": lambda array: machine.Int(len(array)),
    "range": lambda *bounds: map(machine.Int, range(*map(int, bounds))),
    "sqrt": machine.square_root,
    "exp": machine.exponential,
    "log": machine.logarithm,
    "floor": machine.floor_of,
    "ceil": machine.ceil_of,
    "pow": lambda base, exponent: machine.power(base, exponent, False),
}


@dataclass(frozen=True)
class Declared:
    """A state field or an accumulator as the class declares it."""

    kind: str
    type: type
    default: Any = None
    size: int | str | None = None


@dataclass
class ClassText:
    """What a class declares, and its three functions, ready to be called."""

    parameters: dict[str, Any] = field(default_factory=dict)
    defaults: dict[str, Any] = field(default_factory=dict)
    state: dict[str, Declared] = field(default_factory=dict)
    accumulators: dict[str, Declared] = field(default_factory=dict)
    properties: dict[str, type] = field(default_factory=dict)
    vertex_properties: dict[str, Declared] = field(default_factory=dict)
    functions: dict[str, Any] = field(default_factory=dict)
    direction: str = "out"
    iterations: int | str | None = None
    tolerance: float | str = 0.0
    asks_iteration: bool = False


def _declaration(kind: str) -> Any:
    def make(type: Any = None, size: Any = None, default: Any = None) -> Declared:
        return Declared(kind, type or {"count": int, "or": bool, "and": bool}[kind], default, size)

    return make


def _state(type: Any, default: Any = None, size: Any = None) -> Declared:
    return Declared("state", type, default, size)


def _property(type: Any) -> Declared:
    return Declared("property", type)


def _vertex_property(type: Any, missing: Any = None) -> Declared:
    return Declared("vertex property", type, missing)


WORDS = SimpleNamespace(
    program=lambda cls: cls,
    State=_state,
    Property=_property,
    Vertex="vertex",
    Vertices="vertices",
    Pairs="pairs",
    VertexProperty=_vertex_property,
    Date=Day,
    inf=math.inf,
    **{
        name: _declaration(name.lower())
        for name in ("Min", "Max", "Sum", "Product", "Count", "Or", "And")
    },
)


def load_class(text: str) -> ClassText:
    """The one class in a text that may use `gt`, `inf` and `math`, and defines numbers besides."""
    tree = ast.parse(text)
    node = next(item for item in tree.body if isinstance(item, ast.ClassDef))
    around: dict[str, Any] = {"gt": WORDS, "inf": math.inf, "math": math}
    exec(compile(tree, "<class>", "exec", dont_inherit=True), around)
    loaded = _declarations(node, vars(around[node.name]))
    for function in node.body:
        if isinstance(function, ast.FunctionDef):
            loaded.functions[function.name] = _compiled(function, loaded, around)
    return loaded


def _declarations(node: ast.ClassDef, values: dict[str, Any]) -> ClassText:
    found = ClassText()
    assigned = _assigned_on_vertex(node)
    annotated = values.get("__annotations__", {})
    for name in [*annotated, *(name for name in values if name not in annotated)]:
        value = values.get(name)
        if isinstance(value, Declared):
            _sort_in(found, name, value)
        elif name in assigned and name in annotated:
            found.state[name] = Declared("state", annotated[name], value)
        elif name in annotated and name != "direction":
            found.parameters[name] = annotated[name]
            if name in values:
                found.defaults[name] = value
    found.direction = values.get("direction", "out")
    for setting in ("iterations", "tolerance"):
        if setting in found.parameters:
            setattr(found, setting, setting)
        elif setting in values:
            setattr(found, setting, values[setting])
    return found


def _sort_in(found: ClassText, name: str, value: Declared) -> None:
    if value.kind == "state":
        found.state[name] = value
    elif value.kind == "property":
        found.properties[name] = value.type
    elif value.kind == "vertex property":
        found.vertex_properties[name] = value
    else:
        found.accumulators[name] = value


def _assigned_on_vertex(node: ast.ClassDef) -> set[str]:
    """Annotated names are state if `initialize` or `update` assigns them on a vertex."""
    return {
        inner.attr
        for function in node.body
        if isinstance(function, ast.FunctionDef) and function.name != "traverse"
        for inner in _stored(function)
    }


def _stored(function: ast.FunctionDef) -> list[ast.Attribute]:
    found = []
    for inner in ast.walk(function):
        if isinstance(inner, ast.Subscript) and isinstance(inner.ctx, ast.Store):
            inner = inner.value
        elif not (isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store)):
            continue
        if isinstance(inner, ast.Attribute):
            found.append(inner)
    return found


def _compiled(function: ast.FunctionDef, loaded: ClassText, around: dict[str, Any]) -> Any:
    types = LocalTypes(function, loaded, around)
    if any(
        isinstance(item, ast.Attribute) and item.attr == "iteration" for item in ast.walk(function)
    ):
        loaded.asks_iteration = True
    whole = Rewriting(types).visit(function)
    module = ast.fix_missing_locations(ast.Module([whole], []))
    names = {**around, **{f"_call_{name}": call for name, call in CALLS.items()}}
    names |= {"_number": machine.number, "_power": machine.power, "_of_type": machine.of_type}
    names |= {"_int": int, "_float": float, "_bool": bool}
    exec(compile(module, f"<{function.name}>", "exec", dont_inherit=True), names)
    return names[function.name]
