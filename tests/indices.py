"""Interpreted kernels that refuse negative indices, as compiled ones take them to be none.

Compiled kernels do not count from the end of an array (`kernels/compiling/linking.py`): an index
below 0 reads what stands before it. NumPy counts from the end. So a run that notes which kernels it
enters (`tests/reached.py`) has every kernel written anew, with a look at each index that is not
written out; slices, which Numba counts as NumPy does, stay what they are.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np

NAME = "index_from_the_beginning"


def from_the_beginning(index: Any, where: str) -> Any:
    """An index, or several, of which none is negative."""
    for part in index if isinstance(index, tuple) else (index,):
        if isinstance(part, int | np.integer) and part < 0:
            raise AssertionError(f"{where} has the index {part}: kernels do not count from the end")
    return index


def with_checked_indices(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of a kernel, written anew so that it looks at each of its indices."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    written = tree.body[0]
    assert isinstance(written, ast.FunctionDef)
    assert not function.__code__.co_freevars
    written.decorator_list, written.returns = [], None
    for argument in written.args.args:
        argument.annotation = None
    _Looking(f"{function.__module__}.{function.__qualname__}").visit(written)
    names = function.__globals__
    names[NAME] = from_the_beginning
    made: dict[str, Any] = {}
    exec(
        compile(ast.fix_missing_locations(tree), function.__code__.co_filename, "exec"), names, made
    )
    checked: Callable[..., Any] = made[function.__name__]
    checked.__module__, checked.__qualname__ = function.__module__, function.__qualname__
    return checked


class _Looking(ast.NodeTransformer):
    def __init__(self, kernel: str) -> None:
        self._kernel = kernel

    def visit_Subscript(self, node: ast.Subscript) -> ast.Subscript:
        self.generic_visit(node)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if not any(isinstance(part, ast.Slice) for part in parts) and not all(
            isinstance(part, ast.Constant) for part in parts
        ):
            looking = ast.Name(NAME, ast.Load())
            node.slice = ast.Call(looking, [node.slice, ast.Constant(self._kernel)], [])
        return node
