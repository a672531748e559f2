"""Facts of expressions and statements of C, one function at a time.

An expression is a vertex, and its name says what it is:

| name | expression |
|---|---|
| `total` | a variable of the program |
| `insert:node` | a variable of a function, its parameters included |
| `insert()` | what a function returns |
| `Node.next` | a field, of all objects of its type together |
| `*insert:at` | what a pointer points to; elements of an array are one |
| `&insert:new` | an address |
| `&heap@insert#1` | what the first call of an allocator in a function returns |
| `null@insert#2` | the second null that a function hands on |

Fields are told apart by their type and name, and not by object ("field-based"): so `p->next` is a
vertex that needs no pointer, and taking the address of a field is the address of all of its kind.
The order of statements does not count, nor do conditions. A call binds what it hands over to the
parameters, and what returns to the call, whoever calls. Calls through pointers to functions are not
followed, and functions without a body do nothing but allocate and copy. What is no pointer has no
flow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from clang.cindex import CursorKind, TypeKind

from examples.analysis import clang
from examples.analysis.clang import Cursor
from examples.analysis.names import Names

NULL = "null"
COPIES = {"memcpy", "memmove"}
ARRAYS = {TypeKind.CONSTANTARRAY, TypeKind.INCOMPLETEARRAY, TypeKind.VARIABLEARRAY}
Values = list[str]
Row = tuple[str, str, str, str, int]


class Extractor:
    """Goes through the tree of a file and collects facts; `allocators` return new objects."""

    def __init__(self, allocators: Iterable[str]) -> None:
        self._allocators = frozenset(allocators)
        self._names = Names()
        self._function = ""
        self._parameters: dict[str, list[str | None]] = {}
        self._found: dict[tuple[str, str, str, str, int], int] = {}
        self._counts: dict[str, int] = {}
        self._ways: dict[CursorKind, Callable[[Cursor], Values]] = {
            CursorKind.DECL_REF_EXPR: self._reference,
            CursorKind.MEMBER_REF_EXPR: self._member,
            CursorKind.UNARY_OPERATOR: self._unary,
            CursorKind.BINARY_OPERATOR: self._binary,
            CursorKind.COMPOUND_ASSIGNMENT_OPERATOR: self._step,
            CursorKind.ARRAY_SUBSCRIPT_EXPR: self._element,
            CursorKind.PAREN_EXPR: self._last,
            CursorKind.UNEXPOSED_EXPR: self._cast,
            CursorKind.CSTYLE_CAST_EXPR: self._cast,
            CursorKind.CONDITIONAL_OPERATOR: self._choice,
            CursorKind.CALL_EXPR: self._call,
            CursorKind.StmtExpr: self._last,
            CursorKind.COMPOUND_STMT: self._last,
            CursorKind.RETURN_STMT: self._return,
            CursorKind.VAR_DECL: self._variable,
        }

    @property
    def rows(self) -> list[Row]:
        """All facts: source, target, kind, function, line."""
        return [(*key[:4], line) for key, line in self._found.items()]

    def take(self, root: Cursor) -> None:
        """Add the facts of a file."""
        members = list(root.get_children())
        bodies = [
            item
            for item in members
            if item.kind == CursorKind.FUNCTION_DECL and item.is_definition()
        ]
        for body in bodies:
            given = [item for item in body.get_children() if item.kind == CursorKind.PARM_DECL]
            self._parameters[body.spelling] = [
                self._names.variable(item) if _is_pointer(item) else None for item in given
            ]
        for item in members:
            if item.kind == CursorKind.VAR_DECL:
                self._function = ""
                self._variable(item)
        for body in bodies:
            self._function = body.spelling
            self.value(body)

    # ---- facts

    def _edge(self, source: str, target: str, kind: str, at: Cursor) -> None:
        line = at.location.line
        place = line if kind in ("deref", "field") else 0
        self._found.setdefault((source, target, kind, self._function, place), line)

    def _assign(self, targets: Iterable[str], sources: Sequence[str], at: Cursor) -> None:
        for target in targets:
            for source in sources:
                if source == NULL:
                    self._edge(self._numbered(NULL), target, "null", at)
                elif source != target:
                    self._edge(source, target, "assign", at)

    def _numbered(self, what: str) -> str:
        name = f"{what}@{self._function}"
        self._counts[name] = self._counts.get(name, 0) + 1
        return f"{name}#{self._counts[name]}"

    def _places(self, pointers: Values, at: Cursor) -> Values:
        """What pointers point to; that they are followed is a fact, that of an address is none."""
        found = []
        for pointer in pointers:
            if pointer.startswith("&"):
                found.append(pointer[1:])
            elif pointer != NULL:
                self._edge(pointer, f"*{pointer}", "deref", at)
                found.append(f"*{pointer}")
        return found

    def _addresses(self, places: Values, at: Cursor) -> Values:
        found = []
        for place in places:
            if not place.startswith("*"):
                self._edge(f"&{place}", place, "address", at)
            found.append(place[1:] if place.startswith("*") else f"&{place}")
        return found

    # ---- expressions: each is gone through once, for its facts and for the values that it may have

    def value(self, cursor: Cursor) -> Values:
        """The vertices of the values that an expression may have; adds its facts."""
        way = self._ways.get(cursor.kind)
        if way is not None:
            return way(cursor)
        for child in cursor.get_children():
            self.value(child)
        return []

    def _last(self, cursor: Cursor) -> Values:
        found: Values = []
        for child in cursor.get_children():
            found = self.value(child)
        return found

    def _reference(self, cursor: Cursor) -> Values:
        declared = cursor.referenced
        if declared.kind == CursorKind.FUNCTION_DECL:
            return self._addresses([declared.spelling], cursor)
        if declared.kind in (CursorKind.VAR_DECL, CursorKind.PARM_DECL):
            return [self._names.variable(declared)]
        return []

    def _member(self, cursor: Cursor) -> Values:
        for base in cursor.get_children():
            pointers = self.value(base)
            if _is_pointer(base):
                for pointer in pointers:
                    if pointer != NULL and not pointer.startswith("&"):
                        self._edge(pointer, f"*{pointer}", "field", cursor)
        return [self._names.field(cursor.referenced)]

    def _unary(self, cursor: Cursor) -> Values:
        found, operator = self._last(cursor), clang.unary_operator(cursor)
        if operator == clang.DEREFERENCE:
            return self._places(found, cursor)
        if operator == clang.ADDRESS_OF:
            return self._addresses(found, cursor)
        return found if operator in clang.STEPS else []

    def _binary(self, cursor: Cursor) -> Values:
        left, right = cursor.get_children()
        operator = clang.binary_operator(cursor)
        one, other = self.value(left), self.value(right)
        if operator == clang.ASSIGN:
            if _is_pointer(left):
                self._assign(one, other, cursor)
            return one
        if operator == clang.COMMA:
            return other
        if operator in (clang.ADD, clang.SUBTRACT) and _is_pointer(cursor):
            return one if _is_pointer(left) else other
        return []

    def _step(self, cursor: Cursor) -> Values:
        left, right = cursor.get_children()
        self.value(right)
        return self.value(left)

    def _element(self, cursor: Cursor) -> Values:
        array, index = cursor.get_children()
        self.value(index)
        return self._places(self.value(array), cursor)

    def _cast(self, cursor: Cursor) -> Values:
        inner = list(cursor.get_children())[-1:]
        if not inner or not _is_pointer(cursor):
            return self._last(cursor)
        kind = inner[0].type.get_canonical().kind
        found = self.value(inner[0])
        if kind in ARRAYS:
            return self._addresses(found, cursor)
        if kind == TypeKind.POINTER or kind == TypeKind.FUNCTIONPROTO:
            return found
        return [NULL] if clang.is_zero(inner[0]) else []

    def _choice(self, cursor: Cursor) -> Values:
        condition, one, other = cursor.get_children()
        self.value(condition)
        return [*self.value(one), *self.value(other)]

    def _call(self, cursor: Cursor) -> Values:
        given = [self.value(item) for item in cursor.get_arguments()]
        called = cursor.referenced
        if called is None or called.kind != CursorKind.FUNCTION_DECL:
            for child in list(cursor.get_children())[:1]:
                self.value(child)
            return []
        name = called.spelling
        if name in self._allocators:
            old = [item for values in given for item in values] if "realloc" in name.lower() else []
            return [*self._addresses([self._numbered("heap")], cursor), *old]
        if name in COPIES:
            self._assign(self._places(given[0], cursor), self._places(given[1], cursor), cursor)
            return given[0]
        for parameter, values in zip(self._parameters.get(name, ()), given, strict=False):
            if parameter is not None:
                self._assign([parameter], values, cursor)
        return [f"{name}()"] if _is_pointer(cursor) and name in self._parameters else []

    # ---- statements

    def _return(self, cursor: Cursor) -> Values:
        for child in cursor.get_children():
            found = self.value(child)
            if _is_pointer(child):
                self._assign([f"{self._function}()"], found, cursor)
        return []

    def _variable(self, cursor: Cursor) -> Values:
        inits = [item for item in cursor.get_children() if item.kind.is_expression()]
        of_array = cursor.type.get_canonical().kind in ARRAYS
        if inits and (not of_array or inits[-1].kind == CursorKind.INIT_LIST_EXPR):
            self._initialise([self._names.variable(cursor)], inits[-1])
        return []

    def _initialise(self, targets: Values, cursor: Cursor) -> None:
        if cursor.kind != CursorKind.INIT_LIST_EXPR:
            found = self.value(cursor)
            if _is_pointer(cursor):
                self._assign(targets, found, cursor)
            return
        plain = cursor.type.get_canonical()
        fields = list(plain.get_fields()) if plain.kind == TypeKind.RECORD else []
        for place, item in enumerate(cursor.get_children()):
            if place < len(fields):
                self._initialise([self._names.field(fields[place])], item)
            else:
                self._initialise(targets, item)


def _is_pointer(cursor: Cursor) -> bool:
    return cursor.type.get_canonical().kind == TypeKind.POINTER  # type: ignore[no-any-return]
