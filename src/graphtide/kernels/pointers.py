"""Memory that is not ours, by its address: numbers in it, and the way to give it back.

Nothing here checks an address. A kernel that reads one has looked at what says how far it may go.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from typing import Any, cast

import llvmlite.ir as ir  # type: ignore[import-untyped]
import numpy as np
from numba import types
from numba.extending import intrinsic

_WORD = ir.IntType(64)
_BYTE = ir.IntType(8).as_pointer()
_RELEASE = ir.FunctionType(ir.VoidType(), [_BYTE])


def _number_twin(address: int, dtype: Any) -> int:
    """The number at an address where nothing is compiled."""
    size = np.dtype(dtype).itemsize
    return int(np.frombuffer(ctypes.string_at(int(address), size), dtype)[0])


def _number_there(typing_context: Any, address: Any, dtype: Any) -> Any:
    """number_at(address, dtype): the int of that type, but not uint64, at an address."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        item = context.get_data_type(dtype.dtype)
        found = builder.load(builder.inttoptr(arguments[0], item.as_pointer()))
        if item.width == _WORD.width:
            return found
        return (builder.sext if dtype.dtype.signed else builder.zext)(found, _WORD)

    return types.int64(types.intp, dtype), emit


def _call_twin(function: int, address: int) -> None:
    """Call a function of C where nothing is compiled."""
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(int(function))(int(address))


def _call_there(typing_context: Any, function: Any, address: Any) -> Any:
    """call_with(function, address): call a function of C, which returns nothing."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        called = builder.inttoptr(arguments[0], _RELEASE.as_pointer())
        builder.call(called, [builder.inttoptr(arguments[1], _BYTE)])
        return context.get_dummy_value()

    return types.void(types.intp, types.intp), emit


_interpreted = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
number_at = cast(
    Callable[[int, Any], int], _number_twin if _interpreted else intrinsic(_number_there)
)
"""number_at(address, dtype): the int of that type, but not uint64, at an address."""
call_with = cast(Callable[[int, int], None], _call_twin if _interpreted else intrinsic(_call_there))
"""call_with(function, address): call a function of C at one address with another one."""
