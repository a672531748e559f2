"""libclang as the extractor needs it: parsing, and what its Python package does not tell.

The package has no properties for the operator of an expression and for its value, but the library
behind it has functions, which are called here.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from ctypes import c_int, c_void_p
from functools import cache
from pathlib import Path
from typing import Any

from clang import cindex

from graphtide.model.errors import InputError

ADDRESS_OF, DEREFERENCE, STEPS = 5, 6, (1, 2, 3, 4)
ADD, SUBTRACT, ASSIGN, ADD_ASSIGN, SUBTRACT_ASSIGN, COMMA = 6, 7, 22, 26, 27, 33
INTEGER = 1
Cursor = Any


def parse(path: str | Path, arguments: Sequence[str] = ()) -> Cursor:
    """The tree of a C file; InputError with the first mistake that clang finds."""
    unit = cindex.Index.create().parse(str(path), args=["-x", "c", *arguments, *_headers()])
    for found in unit.diagnostics:
        if found.severity >= cindex.Diagnostic.Error:
            raise InputError(
                f"clang does not read {path}: {found.spelling}",
                where=f"line {found.location.line}",
                hint="give it the folders of headers, as -I",
            )
    return unit.cursor


def binary_operator(cursor: Cursor) -> int:
    """Which operator stands between two operands."""
    return _library().clang_getCursorBinaryOperatorKind(cursor)  # type: ignore[no-any-return]


def unary_operator(cursor: Cursor) -> int:
    """Which operator stands at an operand."""
    return _library().clang_getCursorUnaryOperatorKind(cursor)  # type: ignore[no-any-return]


def is_zero(cursor: Cursor) -> bool:
    """Whether an expression is the constant 0."""
    library = _library()
    result = library.clang_Cursor_Evaluate(cursor)
    if not result:
        return False
    kind, value = (
        library.clang_EvalResult_getKind(result),
        library.clang_EvalResult_getAsInt(result),
    )
    library.clang_EvalResult_dispose(result)
    return bool(kind == INTEGER and value == 0)


@cache
def _headers() -> list[str]:
    """Where headers such as stddef.h are, which libclang's package lacks: with the C compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return []
    told = subprocess.run([compiler, "-print-file-name=include"], capture_output=True, text=True)
    return ["-isystem", told.stdout.strip()] if told.returncode == 0 else []


@cache
def _library() -> Any:
    library = cindex.conf.lib
    for name in ("clang_getCursorBinaryOperatorKind", "clang_getCursorUnaryOperatorKind"):
        function = getattr(library, name)
        function.argtypes, function.restype = [cindex.Cursor], c_int
    library.clang_Cursor_Evaluate.argtypes = [cindex.Cursor]
    library.clang_Cursor_Evaluate.restype = c_void_p
    for name in ("getKind", "getAsInt"):
        function = getattr(library, f"clang_EvalResult_{name}")
        function.argtypes, function.restype = [c_void_p], c_int
    library.clang_EvalResult_dispose.argtypes = [c_void_p]
    library.clang_EvalResult_dispose.restype = None
    return library
