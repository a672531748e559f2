"""Kernels index from the beginning: nothing counts from the end, and nobody relies on it."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

import graphtide
from graphtide.kernels import jit
from tests.indices import with_checked_indices

SOURCES = Path(graphtide.__file__).parent
DECORATORS = {"kernel", "lean_kernel", "bare_kernel", "inner_kernel", "joined_kernel"}
compiled = pytest.mark.skipif(
    not jit.LINKS or "NUMBA_DISABLE_JIT" in os.environ, reason="Numba indexes as it always did"
)


def element(numbers: Any, at: Any) -> Any:
    return numbers[at]


def of_two(numbers: Any, row: Any, column: Any) -> Any:
    numbers[row, column] += 1
    return numbers[row, column]


def checked(function: Any) -> Any:
    from graphtide.kernels.compiling.linking import KernelCompiler

    return numba.njit(boundscheck=True, pipeline_class=KernelCompiler)(function)


@compiled
@pytest.mark.parametrize("kind", [np.int64, np.int32, np.int8])
def test_a_negative_index_is_out_of_bounds_in_a_kernel(kind: Any) -> None:
    kernel = checked(element)
    assert [kernel(np.arange(5, 8), kind(at)) for at in range(3)] == [5, 6, 7]
    for outside in (-1, -3, 3):
        with pytest.raises(IndexError):
            kernel(np.arange(5, 8), kind(outside))


@compiled
@pytest.mark.parametrize("place", [(-1, 0), (0, -1), (2, 0), (0, 3)])
def test_so_it_is_in_two_dimensions(place: tuple[int, int]) -> None:
    kernel = checked(of_two)
    assert kernel(np.zeros((2, 3)), 1, np.int32(2)) == 1
    with pytest.raises(IndexError):
        kernel(np.zeros((2, 3)), *place)


@compiled
def test_functions_of_others_count_from_the_end_as_ever() -> None:
    checked(element)(np.arange(5, 8), 0)
    assert numba.njit(element)(np.arange(5, 8), -1) == 7


def first_of_row(numbers: Any, at: Any) -> Any:
    return numbers[0:1][0] + numbers[at]


@pytest.mark.parametrize("function", [element, first_of_row])
def test_an_interpreted_kernel_can_be_had_that_refuses_negative_indices(function: Any) -> None:
    kernel = with_checked_indices(function)
    assert kernel(np.arange(5, 8), 1) == function(np.arange(5, 8), 1)
    assert with_checked_indices(of_two)(np.zeros((2, 3)), 1, np.int32(2)) == 1
    with pytest.raises(AssertionError, match=f"{function.__name__} has the index -1"):
        kernel(np.arange(5, 8), np.int64(-1))
    with pytest.raises(AssertionError, match="of_two has the index -2"):
        with_checked_indices(of_two)(np.zeros((2, 3)), 1, -2)


def negative_indices(tree: ast.Module) -> Iterator[int]:
    """Lines of kernels with a subscript that says a negative number."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and any(map(_is_ours, function.decorator_list)):
            for node in ast.walk(function):
                if isinstance(node, ast.Subscript) and _is_negative(node.slice):
                    yield node.lineno


def _is_ours(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Name) and decorator.id in DECORATORS


def _is_negative(index: ast.expr) -> bool:
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return any(isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.USub) for part in parts)


def test_no_kernel_says_a_negative_index() -> None:
    found = {
        f"{path.relative_to(SOURCES)}:{line}"
        for path in SOURCES.rglob("*.py")
        for line in negative_indices(ast.parse(path.read_text()))
    }
    assert not found


def test_one_that_does_is_found() -> None:
    text = "@kernel\ndef last(numbers):\n    return numbers[0, -1] + numbers[-1]\n"
    assert list(negative_indices(ast.parse(text))) == [3, 3]
