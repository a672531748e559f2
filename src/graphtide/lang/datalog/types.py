"""The types of a Datalog program: those it declares, and those of the variables of each rule.

Primitive types are number, float, symbol, and `vertex` for the vertices of a graph. A declared
subtype or union stands for its primitive type: whether a city may meet a country is not checked,
whether a number may meet a text is. A record is as many columns as it has fields.

The types of variables follow from the relations and functions that they stand in. What one literal
tells helps to understand the next, so inference goes through the literals until it learns nothing
new. A variable that stands in places of two types is refused at the second one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from graphtide.lang.datalog import tree
from graphtide.lang.datalog.mistakes import function_habit, offered, refuse, type_habit
from graphtide.lang.datalog.parse import FUNCTIONS
from graphtide.lang.datalog.tree import Attribute, ProgramText, RecordDeclaration, TypeDeclaration
from graphtide.lang.trees import Node
from graphtide.model.text import counted
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


def flat_kinds(kind: Kind, name: str) -> list[tuple[str, Primitive]]:
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
            if any(item != kinds[0] for item in kinds):
                raise refuse(
                    f"the types that '{name}' is made of have different values",
                    declared,
                    "unite numbers with numbers, and symbols with symbols",
                )
            kind = kinds[0]
        self._known[name] = kind
        return kind


_LITERAL_KINDS = {"int": NUMBER, "float": REAL, "str": SYMBOL}
_TEXTS: dict[str, tuple[Kind, ...]] = {
    "substr": (SYMBOL, NUMBER, NUMBER),
    "strlen": (SYMBOL,),
    "contains": (SYMBOL, SYMBOL),
    "match": (SYMBOL, SYMBOL),
}
_SHOWN = {
    "cat": "cat(text, more)",
    "substr": "substr(text, from, length)",
    "strlen": "strlen(text)",
    "contains": "contains(part, text)",
    "match": "match(pattern, text)",
}
_RESULTS: dict[str, Kind] = {
    "cat": SYMBOL,
    "substr": SYMBOL,
    "strlen": NUMBER,
    "to_string": SYMBOL,
    "to_number": NUMBER,
    "to_float": REAL,
    "%": NUMBER,
}
_NUMERIC = ("+", "-", "*", "/", "^", "neg", "min", "max")

Signatures = Mapping[str, tuple[Kind, ...]]


class Inference:
    """What is known of the variables of a rule; relations by their attributes' types."""

    def __init__(self, relations: Signatures) -> None:
        self._relations = relations
        self.kinds: dict[str, Kind] = {}
        self._seen: dict[int, tuple[tree.Term, int, Kind | None]] = {}

    def learn(self, literals: Iterable[tree.BodyLiteral]) -> None:
        listed, before = list(literals), -1
        while before != len(self.kinds):
            before = len(self.kinds)
            for item in listed:
                self._literal(item)

    def attributes(self, atom: tree.Atom) -> tuple[Kind, ...]:
        if atom.relation not in self._relations:
            hint = offered(atom.relation, self._relations, "relations")
            raise refuse(f"there is no relation '{atom.relation}'", atom, hint)
        kinds = self._relations[atom.relation]
        if len(kinds) != len(atom.arguments):
            raise refuse(
                f"{atom.relation} has {len(kinds)} attributes, and is given {len(atom.arguments)}",
                atom,
                "write `_` for those that do not matter",
            )
        return kinds

    def kind(self, term: tree.Term) -> Kind | None:
        match term:
            case tree.Variable():
                return self.kinds.get(term.name)
            case tree.Literal():
                return _LITERAL_KINDS[term.kind]
            case tree.Call() | tree.Aggregate():
                return self._inner(term)
            case _:
                return None

    def _inner(self, term: tree.Call | tree.Aggregate) -> Kind | None:
        """The type of a term of terms, looked at anew only after something was learned.

        Each level asks several times for the types of those below, so that the time would double
        from level to level.
        """
        _, then, kind = self._seen.get(id(term), (None, -1, None))
        if then == len(self.kinds):
            return kind
        before = len(self.kinds)
        kind = self._called(term) if isinstance(term, tree.Call) else self._aggregated(term)
        self._seen[id(term)] = (term, before if kind is None else len(self.kinds), kind)
        return kind

    def _aggregated(self, term: tree.Aggregate) -> Kind | None:
        self.learn(term.body[0])
        if term.operation == "count" or term.target is None:
            return NUMBER
        return self._numeric(term.target, f"{term.operation} of")

    def known(self, term: tree.Term) -> Kind:
        """The type of a term; LanguageError where nothing tells it."""
        kind = self.kind(term)
        if kind is None:
            raise refuse("nothing tells the type of this", term, "use it in a relation as well")
        return kind

    def expect(self, term: tree.Term, kind: Kind) -> None:
        """Let a term be of a type; LanguageError where it is of another."""
        match term:
            case tree.Anonymous():
                return
            case tree.Variable() if term.name not in self.kinds:
                self.kinds[term.name] = kind
                return
            case tree.Record():
                self._record(term, kind)
                return
            case tree.Literal() if kind is VERTEX:
                raise refuse(
                    "a vertex has no name in the text",
                    term,
                    "let a relation hold it, `.decl root(v: vertex)`, and give that: root=[...]",
                )
        if isinstance(term, tree.Call) and isinstance(kind, Primitive):
            self._operands(term, kind)
        found = self.kind(term)
        if found is not None and found != kind:
            raise _clash(found, kind, term)

    def _record(self, term: tree.Record, kind: Kind) -> None:
        if not isinstance(kind, RecordKind):
            raise refuse(f"a record stands where a {kind.name} is expected", term, "give one value")
        if len(kind.fields) != len(term.fields):
            raise refuse(
                f"{kind.name} has {len(kind.fields)} fields, and is given {len(term.fields)}",
                term,
                "write `_` for those that do not matter",
            )
        for item, (_, inner) in zip(term.fields, kind.fields, strict=True):
            self.expect(item, inner)

    def _literal(self, literal: tree.BodyLiteral) -> None:
        match literal:
            case tree.Atom():
                for term, kind in zip(literal.arguments, self.attributes(literal), strict=True):
                    self.expect(term, kind)
            case tree.Negation():
                self._literal(literal.literal)
            case tree.Comparison():
                self._comparison(literal)
            case tree.Test():
                self._given(literal.name, literal.arguments, literal)
            case tree.Disjunction():
                raise AssertionError("alternatives have been taken apart")

    def _comparison(self, literal: tree.Comparison) -> None:
        left, right = self.kind(literal.left), self.kind(literal.right)
        if left is not None:
            self.expect(literal.right, left)
        elif right is not None:
            self.expect(literal.left, right)
        if isinstance(left, RecordKind) and literal.operator not in ("=", "!="):
            raise refuse("records have no order", literal, "compare their fields")

    def _called(self, term: tree.Call) -> Kind | None:
        name = term.function
        if name in _TEXTS or name in ("cat", "to_string", "to_number", "to_float"):
            self._given(name, term.arguments, term)
            return _RESULTS[name]
        if name not in _NUMERIC and name != "%":
            hint = function_habit(name) or offered(name, FUNCTIONS, "functions")
            raise refuse(f"there is no function '{name}'", term, hint)
        if name == "%":
            for item in term.arguments:
                self.expect(item, NUMBER)
            return NUMBER
        kinds = [kind for item in term.arguments if (kind := self.kind(item)) is not None]
        if kinds:
            _check_number(kinds[0], term, f"`{'-' if name == 'neg' else name}` of")
            for item in term.arguments:
                self.expect(item, kinds[0])
        return kinds[0] if kinds else None

    def _operands(self, term: tree.Call, kind: Primitive) -> None:
        """What stands in arithmetic of a type is of that type."""
        if term.function in _NUMERIC and kind in (NUMBER, REAL):
            for item in term.arguments:
                if self.kind(item) is None:
                    self.expect(item, kind)

    def _given(self, name: str, arguments: tuple[tree.Term, ...], where: Node) -> None:
        if name in ("to_string", "to_number", "to_float"):
            wanted: tuple[Kind | None, ...] = (None,)
        elif name == "cat":
            wanted = (SYMBOL,) * max(len(arguments), 2)
        else:
            wanted = _TEXTS[name]
        if len(wanted) != len(arguments):
            raise refuse(
                f"{name} takes {counted(len(wanted), 'value')}, and is given {len(arguments)}",
                where,
                f"write {_SHOWN.get(name, f'{name}(x)')}",
            )
        for item, kind in zip(arguments, wanted, strict=True):
            if kind is not None:
                self.expect(item, kind)

    def _numeric(self, term: tree.Term, what: str) -> Kind | None:
        kind = self.kind(term)
        if kind is not None:
            _check_number(kind, term, what)
        return kind


def _check_number(kind: Kind, term: tree.Term, what: str) -> None:
    ordered = kind is VERTEX and what.split()[0] in ("`min`", "`max`", "min", "max")
    if kind not in (NUMBER, REAL) and not ordered:
        raise refuse(f"{what} a {kind.name} has no value", term, "give numbers or floats")


def _clash(found: Kind, wanted: Kind, term: tree.Term) -> Exception:
    hint = "all places of a variable have one type"
    if {found, wanted} == {NUMBER, REAL}:
        hint = "write 1.0 for a float; to_float(x) and to_number(x) convert"
    return refuse(f"a {found.name} stands where a {wanted.name} is expected", term, hint)
