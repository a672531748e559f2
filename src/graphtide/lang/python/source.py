"""The source of a program class and of the functions it calls; what names outside of them mean.

A source is a syntax tree with the place of every node in the user's file. A class is found by the
line that its compiled functions remember, so two classes of one name in one file, classes inside
of functions and cells of a notebook are all told apart. Where there is no source to read (a prompt
that keeps none), the error says so.

A name from outside is looked up where Python would look it up, at the moment the class is read:
numbers and texts become constants of the plan, functions are known by what they are and not by what
they are called, and nothing else of the surroundings gets into a program.
"""

from __future__ import annotations

import ast
import builtins
import itertools
import linecache
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from types import FunctionType, ModuleType

from graphtide.lang.diagnostics import Source, Span, language_error
from graphtide.lang.python.declarations import distinct
from graphtide.model.errors import LanguageError
from graphtide.model.limits import parsed
from graphtide.model.progress import told_file
from graphtide.plan.expressions import BOOL, FLOAT, INT, Const
from graphtide.plan.programs import INT_MAX, INT_MIN

FUNCTIONS = ("initialize", "traverse", "update")


@dataclass(frozen=True)
class SourceText:
    """A text of Python, which shows the place of a mistake."""

    text: str
    file: str

    def error(self, node: ast.AST, what: str, hint: str | None = None) -> LanguageError:
        start, end = self._offsets(node)
        source = Source(self.text, told_file(self.file))
        return language_error(what, Span(source, start, end), hint)

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


@dataclass(frozen=True)
class ClassSource(SourceText):
    """A class as it stands in its file, and what its names stand for.

    `values` and `annotations` are those of the class. `around` takes the name of a function of it,
    and gives the values of names that the function does not make; None where it is no function.
    """

    node: ast.ClassDef
    values: Mapping[str, object]
    annotations: Mapping[str, object]
    around: Callable[[str], Mapping[str, object] | None]

    @property
    def documentation(self) -> str:
        return ast.get_docstring(self.node) or ""


@dataclass(frozen=True)
class FunctionSource(SourceText):
    """A function or a lambda as it stands in its file, and the values of names around it."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    around: Mapping[str, object]


def find_source(cls: type) -> ClassSource:
    """The source of a class that has at least one of the three functions of a program."""
    functions = [item for item in vars(cls).values() if isinstance(item, FunctionType)]
    for function in functions:
        code, text = function.__code__, _text_of(function)
        node = _find_class(text, cls.__name__, function.__name__, code.co_firstlineno)
        if node is not None:
            annotations = getattr(cls, "__annotations__", {})
            around = partial(_names_around, cls)
            return ClassSource(text, code.co_filename, node, vars(cls), annotations, around)
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


def find_function_source(function: FunctionType) -> FunctionSource | None:
    """The source of a function or lambda; None where it is not there any more."""
    text, code = _text_of(function), function.__code__
    tree = _parse(text) or _parse(_alone(text, f"def {function.__name__}", code.co_firstlineno))
    for node in ast.walk(tree) if tree else ():
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                same = name == function.__name__ and _first_line(node) == code.co_firstlineno
            case ast.Lambda(body=body):
                # Several may stand on one line: instructions know the columns they come from.
                span = body.lineno, body.end_lineno, body.col_offset, body.end_col_offset
                same = function.__name__ == "<lambda>" and span in set(code.co_positions())
            case _:
                continue
        if same:
            return FunctionSource(text, code.co_filename, node, names_around(function))
    return None


def _text_of(function: FunctionType) -> str:
    file = function.__code__.co_filename
    linecache.checkcache(file)
    return "".join(linecache.getlines(file, function.__globals__))


def _names_around(cls: type, name: str) -> Mapping[str, object] | None:
    function = vars(cls).get(name)
    return names_around(function) if isinstance(function, FunctionType) else None


def names_around(function: FunctionType) -> Mapping[str, object]:
    """The values of all names that a function can see and does not make."""
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
    tree = _parse(text) or _parse(_alone(text, f"class {name}", line))
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.ClassDef) and node.name == name:
            lines = {item.name: _first_line(item) for item in _functions(node)}
            if lines.get(function) == line:
                return node
    return None


def _alone(text: str, head: str, line: int) -> str:
    """The class or function that begins above or on a line, every character at its place.

    For files that are not Python as a whole: pages of documentation, or a file being edited.
    """
    lines = text.split("\n")
    heads = [at for at in range(min(line, len(lines))) if _is_head(lines[at], head)]
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


def _is_head(line: str, head: str) -> bool:
    word, name = head.split()
    return re.match(rf"\s*{word}\s+{re.escape(name)}\b", line) is not None


def _functions(node: ast.ClassDef) -> Iterator[ast.FunctionDef]:
    return (item for item in node.body if isinstance(item, ast.FunctionDef))


def _first_line(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return min([node.lineno, *(item.lineno for item in node.decorator_list)])


def _line(text: str, line: int) -> str:
    return text.split("\n")[line - 1]


_FUNCTIONS: tuple[tuple[object, str], ...] = (
    (builtins.min, "min"),
    (builtins.max, "max"),
    (builtins.abs, "abs"),
    (builtins.int, "int"),
    (builtins.float, "float"),
    (builtins.bool, "bool"),
    (builtins.len, "len"),
    (builtins.range, "range"),
    (math.sqrt, "sqrt"),
    (math.exp, "exp"),
    (math.log, "log"),
    (math.floor, "floor"),
    (math.ceil, "ceil"),
    (math.fabs, "abs"),
    (math.pow, "**"),
)
_WITHOUT_IMPORT = {
    "inf": math.inf,
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
    "floor": math.floor,
    "ceil": math.ceil,
    "pairwise": itertools.pairwise,
    "combinations": itertools.combinations,
    "distinct": distinct,
}
CALLABLE = "min, max, abs, int, float, bool, len, and sqrt, exp, log, floor, ceil, pow of math"


class Missing:
    """The answer for a name that stands for nothing."""


MISSING = Missing()


def look_up(node: ast.expr, around: Mapping[str, object]) -> object:
    """The value of `name` or `module.name`; MISSING if there is none.

    Attributes are followed through modules only, so that looking never runs anybody's code.
    """
    if isinstance(node, ast.Name):
        return around.get(node.id, _WITHOUT_IMPORT.get(node.id, MISSING))
    if isinstance(node, ast.Attribute):
        owner = look_up(node.value, around)
        if isinstance(owner, ModuleType):
            return getattr(owner, node.attr, MISSING)
    return MISSING


def function_name(value: object) -> str | None:
    """The name of a function that programs know; `**` for math.pow; None for any other object."""
    for function, name in _FUNCTIONS:
        if value is function:
            return name
    return None


def constant(value: object) -> Const | None:
    """The constant for a Python number; None for anything else, NaN and ints beyond 64 bits."""
    if isinstance(value, bool):
        return Const(value, BOOL)
    if isinstance(value, int):
        return Const(int(value), INT) if INT_MIN <= value <= INT_MAX else None
    if isinstance(value, float):
        return None if math.isnan(value) else Const(float(value), FLOAT)
    return None
