"""The declarations of a text, checked: parameters, state, accumulators, properties, settings.

They become the same fields that a program class has, so that the same functions read the rest. An
attribute of vertices that no function assigns is what the data say: a property, and no state.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from graphtide.lang.diagnostics import Span, language_error
from graphtide.lang.nga.parse import DeclaredName, NgaText, TypeName
from graphtide.lang.python.fields import Fields, Settings
from graphtide.model.schema import closest, name_hint
from graphtide.plan import expressions as x
from graphtide.plan import programs as p

FACTS = ("id", "degree", "out_degree", "in_degree")
NEIGHBOURS = {"nbrs": "neighbours", "out_nbrs": "out_neighbours", "in_nbrs": "in_neighbours"}
_PREDEFINED = (*FACTS, "active", *NEIGHBOURS)
_TYPES = {"bool": x.BOOL, "int": x.INT, "long": x.INT, "float": x.FLOAT, "double": x.FLOAT}
_DATA_TYPES = {**_TYPES, "string": x.TEXT, "date": x.DATE, "timestamp": x.TIMESTAMP}
_KINDS = {
    "vertex": p.ParameterKind.VERTEX,
    "vertices": p.ParameterKind.VERTICES,
    "pairs": p.ParameterKind.PAIRS,
}
_OPERATIONS = {str(kind): kind for kind in p.AccumulatorKind} | {"prod": p.AccumulatorKind.PRODUCT}
_LISTS = (p.ParameterKind.VERTICES, p.ParameterKind.PAIRS)
_DATA = (p.ParameterKind.TEXT, p.ParameterKind.DATE, p.ParameterKind.TIMESTAMP)
ACTIVE = "active"
_RESERVED = (*_PREDEFINED, "V", "self")


@dataclass
class Declared(ast.stmt):
    """Where a name is declared, for errors that are found later."""

    span: Span

    def __hash__(self) -> int:
        return id(self)


def read_declarations(text: NgaText) -> Fields:
    reader = _Reader(set(_assigned(text)))
    for attribute in text.parameters:
        reader.parameter(attribute)
    for attribute in text.edge:
        reader.property(attribute)
    for attribute in text.vertex:
        reader.vertex(attribute)
    for attribute in text.globals:
        reader.of_the_graph(attribute)
    reader.check_sizes(text)
    reader.fields.settings = _read_settings(text, reader.fields)
    return reader.fields


def _assigned(text: NgaText) -> Iterator[str]:
    for name in ("initialize", "update"):
        function = text.functions.get(name)
        for part in function.body if function else ():
            for node in ast.walk(part):
                if isinstance(node, ast.Assign):
                    target = node.targets[0]
                    target = target.value if isinstance(target, ast.Subscript) else target
                    if isinstance(target, ast.Attribute):
                        yield target.attr


def is_plain_active(attribute: DeclaredName) -> bool:
    """Whether `active` is given a type, and with it no other meaning than any attribute has."""
    return attribute.name == ACTIVE and attribute.type is not None


class _Reader:
    def __init__(self, assigned: set[str]) -> None:
        self.fields, self.assigned = Fields(), assigned

    def parameter(self, attribute: DeclaredName) -> None:
        """`root: vertex`, `damping: double = 0.85`."""
        self._place(attribute)
        held = self._typed(attribute, "Parameter", "vertex, vertices, pairs or double")
        if held.operation is not None or held.size is not None:
            raise language_error(
                f"the parameter '{attribute.name}' is one value", held.span, "use a plain type"
            )
        word = held.word.lower()
        kind = _KINDS.get(word) or p.ParameterKind(str(_type(held, _DATA_TYPES, *_KINDS)))
        default = attribute.default
        if kind in _DATA and default is not None:
            raise language_error(
                f"'{attribute.name}' is a {word}, and has no default here",
                attribute.span,
                "leave it out, and give the program its value",
            )
        if kind in _LISTS and default is not None:
            raise language_error(
                f"'{attribute.name}' is a list, and has no default", attribute.span, "leave it out"
            )
        if default is not None:
            whole = kind is p.ParameterKind.VERTEX
            default = _default(attribute, x.INT if whole else x.ValueType(kind.value))
        self.fields.parameters[attribute.name] = p.Parameter(attribute.name, kind, default)

    def property(self, attribute: DeclaredName) -> None:
        """`weight: double`."""
        held = self._typed(attribute, "Edge", "double")
        if attribute.name in self.fields.properties:
            raise language_error(f"'{attribute.name}' is declared twice", attribute.span)
        if held.operation is not None or held.size is not None or attribute.default is not None:
            raise language_error(
                "a property of edges is what the graph says",
                attribute.span,
                f"write `{attribute.name}: double`",
            )
        self.fields.properties[attribute.name] = _type(held, _DATA_TYPES)

    def vertex(self, attribute: DeclaredName) -> None:
        """`rank: double`, `sum: Accm<double, SUM>`, or one of the names that need no type."""
        if attribute.name in _PREDEFINED and not is_plain_active(attribute):
            self._predefined(attribute)
            return
        self._place(attribute)
        hint = f"double` or `{attribute.name}: Accm<double, SUM>"
        held = self._typed(attribute, "Vertex", hint)
        if held.operation is not None:
            self.fields.accumulators[attribute.name] = _accumulator(attribute, held)
            return
        if attribute.name not in self.assigned and held.size is None:
            self._vertex_property(attribute, held)
            return
        value_type = _type(held, _TYPES)
        default = _default(attribute, value_type)
        self.fields.state[attribute.name] = p.StateField(
            attribute.name, value_type, default, held.size
        )

    def _vertex_property(self, attribute: DeclaredName, held: TypeName) -> None:
        """`age: int` that nothing assigns, or `age: int = 0` where 0 stands in for missing ones."""
        value_type = _type(held, _DATA_TYPES)
        missing = None
        if attribute.default is not None:
            if value_type not in _TYPES.values():
                raise language_error(
                    f"'{attribute.name}' is a {held.word}, and nothing stands in for it here",
                    attribute.span,
                    "leave it out: a text that is missing equals no text",
                )
            missing = _default(attribute, value_type)
        self.fields.vertex_properties[attribute.name] = x.VertexProperty(
            "v", attribute.name, value_type, missing
        )

    def _predefined(self, attribute: DeclaredName) -> None:
        if attribute.type is not None:
            raise language_error(
                f"'{attribute.name}' has its meaning already",
                attribute.span,
                f"write `{attribute.name}` alone, or choose another name",
            )
        if attribute.name in self.fields.places:
            raise language_error(f"'{attribute.name}' is listed twice", attribute.span)
        self.fields.places[attribute.name] = Declared(attribute.span)
        if attribute.name == ACTIVE:
            self.fields.state[ACTIVE] = p.StateField(ACTIVE, x.BOOL, False)

    def of_the_graph(self, attribute: DeclaredName) -> None:
        """`cnts: Accm<long, SUM>`."""
        self._place(attribute)
        held = self._typed(attribute, "GlobalVariable", "Accm<long, SUM>")
        if held.operation is None:
            raise language_error(
                f"'{attribute.name}' of the whole graph is sent to by many vertices at once",
                held.span,
                f"write `{attribute.name}: Accm<{held.word}, SUM>`; "
                "a value that is given is a Parameter",
            )
        self.fields.globals[attribute.name] = _accumulator(attribute, held)

    def _place(self, attribute: DeclaredName) -> None:
        if attribute.name in self.fields.places:
            raise language_error(
                f"'{attribute.name}' is declared twice",
                attribute.span,
                "give the two different names",
            )
        if attribute.name in _RESERVED and not is_plain_active(attribute):
            raise language_error(
                f"'{attribute.name}' has a meaning of its own",
                attribute.span,
                "choose another name",
            )
        self.fields.places[attribute.name] = Declared(attribute.span)

    def _typed(self, attribute: DeclaredName, where: str, usual: str) -> TypeName:
        if attribute.type is not None:
            return attribute.type
        near = closest(attribute.name, list(_PREDEFINED)) if where == "Vertex" else None
        hint = f"write `{attribute.name}: {usual}`"
        raise language_error(
            f"'{attribute.name}' has no type",
            attribute.span,
            f"did you mean `{near}`? {hint}" if near else hint,
        )

    def check_sizes(self, text: NgaText) -> None:
        """Sizes that are names are int parameters; only now are all parameters known."""
        for attribute in (*text.vertex, *text.globals):
            size = attribute.type.size if attribute.type else None
            if isinstance(size, str):
                known = self.fields.parameters.get(size)
                if known is None or known.kind is not p.ParameterKind.INT:
                    raise language_error(
                        f"'{size}' is no int parameter, so it is no size",
                        attribute.type.span if attribute.type else attribute.span,
                        f"declare it: `Parameter ({size}: int)`",
                    )
            elif size is not None and size < 1:
                raise language_error(
                    f"an array cannot have size {size}", attribute.span, "use 1 or more"
                )
            name = attribute.name
            if size is not None and name in self.fields.state and name not in self.assigned:
                raise language_error(
                    f"nothing assigns the array '{name}', and data of vertices are no arrays",
                    attribute.span,
                    f"assign it in Initialize or Update: u.{name}[k] = ...",
                )


def _accumulator(attribute: DeclaredName, held: TypeName) -> p.Accumulator:
    operation = (held.operation or "").lower()
    kind = _OPERATIONS.get(operation)
    if kind is None:
        raise language_error(
            f"there is no accumulator '{held.operation}'",
            held.span,
            name_hint(
                held.operation or "",
                [item.upper() for item in _OPERATIONS],
                f"there are {', '.join(_OPERATIONS).upper()}",
            ),
        )
    if attribute.default is not None:
        raise language_error(
            "an accumulator begins with what its operation makes of nothing",
            attribute.span,
            "leave the value out",
        )
    value_type = _type(held, _TYPES)
    logic = kind in (p.AccumulatorKind.OR, p.AccumulatorKind.AND)
    if logic != (value_type is x.BOOL):
        raise language_error(
            f"{str(kind).upper()} is of {'truth values' if logic else 'numbers'}",
            held.span,
            f"write `Accm<{'bool' if logic else 'double'}, {str(kind).upper()}>`",
        )
    if kind is p.AccumulatorKind.COUNT and value_type is not x.INT:
        raise language_error("COUNT is an int", held.span, "write `Accm<long, COUNT>`")
    return p.Accumulator(attribute.name, kind, value_type, held.size)


def _type(held: TypeName, known: Mapping[str, x.ValueType], *others: str) -> x.ValueType:
    """The type of that name; `others` are names that could have stood here as well."""
    value_type = known.get(held.word.lower())
    if value_type is not None:
        return value_type
    words = [*known, *others]
    raise language_error(
        f"there is no type '{held.word}'",
        held.span,
        name_hint(held.word, words, f"there are {', '.join(words)}"),
    )


def _default(attribute: DeclaredName, value_type: x.ValueType) -> x.Number:
    value = attribute.default
    if value is None:
        return {x.INT: 0, x.FLOAT: 0.0, x.BOOL: False}[value_type]
    given = x.BOOL if isinstance(value, bool) else x.INT if isinstance(value, int) else x.FLOAT
    if given is not x.INT or p.INT_MIN <= value <= p.INT_MAX:
        if given is value_type:
            return value
        if given is x.INT and value_type is x.FLOAT:
            return float(value)
    raise language_error(
        f"'{attribute.name}' cannot begin with {value}",
        attribute.span,
        f"give it a value of its type, {value_type}",
    )


def _read_settings(text: NgaText, fields: Fields) -> Settings:
    iterations = _setting(text, fields, "iterations", p.ParameterKind.INT)
    tolerance = _setting(text, fields, "tolerance", p.ParameterKind.FLOAT)
    for name, value in (("iterations", iterations), ("tolerance", tolerance)):
        if isinstance(value, int | float) and not 0 <= value <= p.INT_MAX:
            raise language_error(f"{value} is no {name}", text.settings[name].span)
    assert not isinstance(iterations, float)
    held = 0.0 if tolerance is None else tolerance
    return Settings(iterations=iterations, tolerance=held if isinstance(held, str) else float(held))


def _setting(
    text: NgaText, fields: Fields, name: str, kind: p.ParameterKind
) -> int | float | str | None:
    given = text.settings.get(name)
    value = given.value if given else name if name in fields.parameters else None
    if given is not None and name in fields.parameters:
        raise language_error(
            f"'{name}' is a parameter already", given.span, "leave one of the two out"
        )
    if isinstance(value, str):
        known = fields.parameters.get(value)
        if known is None or known.kind is not kind:
            place = fields.places.get(value)
            span = given.span if given else getattr(place, "span", None)
            raise language_error(
                f"'{value}' is no {kind} parameter, so it cannot be the {name}",
                span,
                f"declare it: `Parameter ({value}: {kind})`",
            )
    return value
