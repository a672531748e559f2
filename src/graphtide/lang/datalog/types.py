"""The types of a program: number, float and symbol, `vertex` for those of a graph, and records.

A declared subtype or union stands for its primitive type: whether a city may meet a country is not
checked, whether a number may meet a text is. A record is as many columns as it has fields.
"""

from __future__ import annotations

from dataclasses import dataclass

from graphtide.lang.datalog.habits import type_habit
from graphtide.lang.datalog.mistakes import offered, refuse
from graphtide.lang.datalog.tree import Attribute, ProgramText, RecordDeclaration, TypeDeclaration
from graphtide.plan.dataflow_expressions import FLOAT, INT, TEXT, ColumnType


@dataclass(frozen=True)
class Primitive:
    """A type of one column, by the name that users know."""

    name: str
    column: ColumnType


@dataclass(frozen=True)
class RecordKind:
    """A type of several columns."""

    name: str
    fields: tuple[tuple[str, Kind], ...]


Kind = Primitive | RecordKind
NUMBER = Primitive("number", INT)
REAL = Primitive("float", FLOAT)
SYMBOL = Primitive("symbol", TEXT)
VERTEX = Primitive("vertex", INT)
_PRIMITIVES = {item.name: item for item in (NUMBER, REAL, SYMBOL, VERTEX)}


def same_kind(one: Kind, other: Kind) -> bool:
    """Whether values of two types can be compared."""
    return one == other


def flat_kinds(kind: Kind, name: str) -> list[tuple[str, Primitive]]:
    """The columns of a value of this type that is called so."""
    if isinstance(kind, Primitive):
        return [(name, kind)]
    return [
        column for field, inner in kind.fields for column in flat_kinds(inner, f"{name}.{field}")
    ]


class TypeTable:
    """What the names of types stand for; LanguageError where a declaration means nothing."""

    def __init__(self, program: ProgramText) -> None:
        self._declared: dict[str, TypeDeclaration | RecordDeclaration] = {}
        for item in program.statements:
            if isinstance(item, TypeDeclaration | RecordDeclaration):
                if item.name in self._declared or item.name in _PRIMITIVES:
                    raise refuse(
                        f"type '{item.name}' is declared twice", item, "give it another name"
                    )
                self._declared[item.name] = item
        self._known: dict[str, Kind] = dict(_PRIMITIVES)
        for item in self._declared.values():
            self._kind(item.name, item, ())

    def of(self, attribute: Attribute) -> Kind:
        """The type of an attribute."""
        return self._kind(attribute.type, attribute, ())

    def _kind(
        self,
        name: str,
        where: Attribute | TypeDeclaration | RecordDeclaration,
        within: tuple[str, ...],
    ) -> Kind:
        if name in self._known:
            return self._known[name]
        if name == "unsigned":
            raise refuse("unsigned is not taken", where, "use number, which has 64 bits here")
        if name not in self._declared:
            raise refuse(
                f"there is no type '{name}'",
                where,
                type_habit(name) or offered(name, [*_PRIMITIVES, *self._declared], "types"),
            )
        if name in within:
            raise refuse(
                f"type '{name}' holds itself", where, "records have as many fields as they have"
            )
        declared = self._declared[name]
        inner = (*within, name)
        if isinstance(declared, RecordDeclaration):
            if not declared.fields:
                raise refuse(f"record '{name}' has no fields", declared, "give it one at least")
            kind: Kind = RecordKind(
                name,
                tuple((item.name, self._kind(item.type, item, inner)) for item in declared.fields),
            )
        else:
            kinds = [self._kind(base, declared, inner) for base in declared.bases]
            if not all(same_kind(kinds[0], item) for item in kinds):
                raise refuse(
                    f"the types that '{name}' is made of have different values",
                    declared,
                    "unite numbers with numbers, and symbols with symbols",
                )
            kind = kinds[0]
        self._known[name] = kind
        return kind
