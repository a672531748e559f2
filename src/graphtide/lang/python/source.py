"""The source of a program class: its syntax tree, and the place of every node in the user's file.

Readers see a class by its source alone; what its names stand for is handed to them beside it, by
the class that Python made (here) or by what its text says (`written`).

The class is found by the line that its compiled functions remember, so two classes of one name in
one file, classes inside of functions and cells of a notebook are all told apart. Where there is no
source to read (a prompt that keeps none), the error says so.
"""

from __future__ import annotations

import ast
import builtins
import linecache
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from types import FunctionType

from graphtide.lang.diagnostics import Source, Span, language_error
from graphtide.model.errors import LanguageError
from graphtide.model.syntax import parsed

FUNCTIONS = ("initialize", "traverse", "update")


@dataclass(frozen=True)
class ClassSource:
    """A class as it stands in its file, and what its names stand for.

    `values` and `annotations` are those of the class. `around` takes the name of a function of it,
    and gives the values of names that the function does not make; None where it is no function.
    """

    node: ast.ClassDef
    text: str
    file: str
    values: Mapping[str, object]
    annotations: Mapping[str, object]
    around: Callable[[str], Mapping[str, object] | None]

    @property
    def documentation(self) -> str:
        """The docstring, without its indentation."""
        return ast.get_docstring(self.node) or ""

    def error(self, node: ast.AST, what: str, hint: str | None = None) -> LanguageError:
        """The error for a mistake at a node, to be raised by the caller."""
        start, end = self._offsets(node)
        return language_error(what, Span(Source(self.text, self.file), start, end), hint)

    def _offsets(self, node: ast.AST) -> tuple[int, int]:
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        end_line = getattr(node, "end_lineno", None) or line
        end_column = getattr(node, "end_col_offset", None) or column + 1
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.For | ast.If | ast.While):
            end_line, end_column = line, len(_line(self.text, line).encode())
        return self._offset(line, column), self._offset(end_line, end_column)

    def _offset(self, line: int, column: int) -> int:
        """Syntax trees count columns in bytes of UTF-8; places count characters."""
        before = sum(len(item) + 1 for item in self.text.split("\n")[: line - 1])
        return before + len(_line(self.text, line).encode()[:column].decode(errors="ignore"))


def find_source(cls: type) -> ClassSource:
    """The source of a class that has at least one of the three functions of a program."""
    functions = [item for item in vars(cls).values() if isinstance(item, FunctionType)]
    for function in functions:
        code = function.__code__
        linecache.checkcache(code.co_filename)
        text = "".join(linecache.getlines(code.co_filename, function.__globals__))
        node = _find_class(text, cls.__name__, function.__name__, code.co_firstlineno)
        if node is not None:
            annotations = getattr(cls, "__annotations__", {})
            around = partial(_names_around, cls)
            return ClassSource(node, text, code.co_filename, vars(cls), annotations, around)
    if not functions:
        raise LanguageError(
            f"the program {cls.__name__} has no functions",
            hint="write `def traverse(self, u, e, v)` and `def update(self, v)` in the class",
        )
    raise LanguageError(
        f"the source of {cls.__name__} cannot be found, and a program is read from its source",
        where=functions[0].__code__.co_filename,
        hint="write the class in a file or in a cell of a notebook, and import it anew "
        "if the file changed",
    )


def _names_around(cls: type, name: str) -> Mapping[str, object] | None:
    function = vars(cls).get(name)
    if not isinstance(function, FunctionType):
        return None
    names: dict[str, object] = dict(vars(builtins))
    names.update(function.__globals__)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            names[name] = cell.cell_contents
        except ValueError:  # assigned only after the class
            names.pop(name, None)
    return names


@lru_cache(maxsize=16)
def _parse(text: str) -> ast.Module | None:
    try:
        return parsed(text)
    except (SyntaxError, ValueError):
        return None
    except (RecursionError, MemoryError):
        raise LanguageError(
            "something in this file is nested too deep to be read",
            hint="give parts of long expressions a name of their own, or move the program to a "
            "file of its own",
        ) from None


def _find_class(text: str, name: str, function: str, line: int) -> ast.ClassDef | None:
    tree = _parse(text) or _parse(_class_alone(text, name, line))
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.ClassDef) and node.name == name:
            lines = {item.name: _first_line(item) for item in _functions(node)}
            if lines.get(function) == line:
                return node
    return None


def _class_alone(text: str, name: str, line: int) -> str:
    """The class that ends above or on a line, every character at its place and nothing else.

    For files that are not Python as a whole: pages of documentation, or a file being edited.
    """
    lines = text.split("\n")
    heads = [at for at in range(min(line, len(lines))) if _is_head(lines[at], name)]
    if not heads:
        return ""
    start, stop = heads[-1], heads[-1] + 1
    indent = len(lines[start]) - len(lines[start].lstrip())
    while stop < len(lines) and (not lines[stop].strip() or lines[stop][: indent + 1].isspace()):
        stop += 1
    above = [""] * start
    if indent and above:
        above[-1] = "if True:"
    return "\n".join(above + lines[start:stop])


def _is_head(line: str, name: str) -> bool:
    return re.match(rf"\s*class\s+{re.escape(name)}\b", line) is not None


def _functions(node: ast.ClassDef) -> Iterator[ast.FunctionDef]:
    return (item for item in node.body if isinstance(item, ast.FunctionDef))


def _first_line(node: ast.FunctionDef) -> int:
    return min([node.lineno, *(item.lineno for item in node.decorator_list)])


def _line(text: str, line: int) -> str:
    return text.split("\n")[line - 1]
