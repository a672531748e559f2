"""What `lane_values` has, for a run of one version: a lane is a number alone.

The functions of a program are written once, over lanes. With these in place of the wide ones they
are plain arithmetic, and a version has every edge that it is given.
"""

from __future__ import annotations

from typing import Any

import llvmlite.ir as ir  # type: ignore[import-untyped]
import numpy as np
from numba import types

from graphtide.kernels.lanes.values import (
    add,
    as_floats,
    as_ints,
    at_most,
    both,
    choose,
    differ,
    divide,
    either,
    equal,
    greatest,
    least,
    less,
    magnitude,
    multiply,
    negative,
    operation,
    opposite,
    square_root,
    subtract,
)
from graphtide.kernels.synchronous.sums import float_moved as floats_moved

LANES = 1
_ALIGNMENT = 8


def _address(given: Any, builder: Any, operands: tuple[Any, ...]) -> Any:
    context, signature = given
    made = context.make_array(signature.args[0])(context, builder, operands[0])
    return builder.gep(made.data, [operands[1]])


def _load(given: Any, builder: Any, operands: tuple[Any, ...]) -> Any:
    return builder.load(_address(given, builder, operands), align=_ALIGNMENT)


def _store(given: Any, builder: Any, operands: tuple[Any, ...]) -> Any:
    builder.store(operands[2], _address(given, builder, operands), align=_ALIGNMENT)
    return given[0].get_dummy_value()


def _store_twin(array: Any, at: int, value: Any) -> None:
    array[at] = value


def _spread_type(number: Any) -> Any:
    if isinstance(number, types.Boolean):
        return types.boolean(types.boolean)
    kind = types.float64 if isinstance(number, types.Float) else types.int64
    return kind(kind)


def _spread_twin(number: Any) -> Any:
    kind = np.bool_ if isinstance(number, bool | np.bool_) else np.int64
    return np.float64(number) if isinstance(number, float) else kind(number)


load = operation(
    lambda array, at: array.dtype(array, types.intp), _load, lambda array, at: array[at]
)
store = operation(
    lambda array, at, value: types.void(array, types.intp, value), _store, _store_twin
)
spread = operation(_spread_type, lambda _, builder, operands: operands[0], _spread_twin)
lanes_in = operation(
    lambda lanes: types.boolean(types.uint8),
    lambda given, builder, operands: given[0].get_constant(types.boolean, True),
    lambda lanes: np.bool_(True),
)
set_of = operation(
    lambda truth: types.uint8(types.boolean),
    lambda _, builder, operands: builder.zext(operands[0], ir.IntType(8)),
    lambda truth: np.uint8(truth),
)

__all__ = [
    "LANES",
    "add",
    "as_floats",
    "as_ints",
    "at_most",
    "both",
    "choose",
    "differ",
    "divide",
    "either",
    "equal",
    "floats_moved",
    "greatest",
    "lanes_in",
    "least",
    "less",
    "load",
    "magnitude",
    "multiply",
    "negative",
    "opposite",
    "set_of",
    "spread",
    "square_root",
    "store",
    "subtract",
]
