"""Names of variables and fields that stay the same while other parts of a program change."""

from __future__ import annotations

from clang.cindex import CursorKind

from examples.analysis.clang import Cursor


class Names:
    """The names that were given; two variables of one name in a function are told apart."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, str], str] = {}
        self._taken: dict[str, int] = {}

    def variable(self, declared: Cursor) -> str:
        """The name of a variable or parameter by its declaration."""
        key = (declared.hash, declared.spelling)
        if key not in self._known:
            self._known[key] = self._new_variable(declared)
        return self._known[key]

    def field(self, declared: Cursor) -> str:
        """The name of a field: its type and itself; types without a name are left out."""
        key = (declared.hash, declared.spelling)
        if key not in self._known:
            parts, at = [declared.spelling], declared.semantic_parent
            while at is not None and at.kind != CursorKind.TRANSLATION_UNIT:
                if not at.is_anonymous() and "(" not in at.spelling:
                    parts.append(at.spelling)
                at = at.semantic_parent
            self._known[key] = ".".join(reversed([part for part in parts if part]))
        return self._known[key]

    def _new_variable(self, declared: Cursor) -> str:
        around = declared.semantic_parent
        if around is None or around.kind != CursorKind.FUNCTION_DECL:
            return str(declared.spelling)
        name = f"{around.spelling}:{declared.spelling}"
        self._taken[name] = self._taken.get(name, 0) + 1
        return name if self._taken[name] == 1 else f"{name}/{self._taken[name]}"
