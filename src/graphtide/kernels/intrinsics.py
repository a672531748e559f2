"""What kernels ask of the processor and Numba has no function for.

- `prefetch` asks for memory before it is needed. A loop over scattered places waits for each in
  turn; one that asks for the place it needs a few steps later waits for none: flipping 50,000
  edges of four million took 9.8 ms, and 4.8 ms so. It gains time alone: nothing is read, nothing
  can fail. A loss of a few instructions a step where the places are near already.
- `number_at` and `call_with` read memory that is not ours by its address, and give it back. Nothing
  checks an address: a kernel that reads one has looked at what says how far it may go.
- `cycles` reads the processor's own counter, for loops that have no time to ask the system. A count
  means nothing alone: shares of it, within one call on one core, tell how the seconds of that call
  were spent.

Where kernels are interpreted, prefetching does nothing and nanoseconds stand in for the counter.
"""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable
from typing import Any, cast

import llvmlite.ir as ir  # type: ignore[import-untyped]
import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

NEAR, MIDDLE, FAR = 16, 32, 48
"""Steps ahead to ask at: an address that is itself read from memory is asked for earlier."""

_READ, _KEEP, _DATA = 0, 3, 1


def _prefetch_twin(array: Any, place: int) -> None:
    """What is left of a hint where nothing is compiled."""


def _hint(typing_context: Any, array: Any, place: Any) -> Any:
    """prefetch(array, place): array[place] is needed soon. `array` has one dimension."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        made = context.make_array(signature.args[0])(context, builder, arguments[0])
        stride = builder.extract_value(made.strides, 0)
        byte = ir.IntType(8).as_pointer()
        base = builder.bitcast(made.data, byte)
        address = builder.gep(base, [builder.mul(arguments[1], stride)])
        number = ir.IntType(32)
        shape = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        insert: Any = cgutils.get_or_insert_function
        hint = insert(builder.module, shape, "llvm.prefetch.p0i8")
        builder.call(hint, [address, number(_READ), number(_KEEP), number(_DATA)])
        return context.get_dummy_value()

    return types.void(array, types.intp), emit


_interpreted = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
prefetch = cast(Callable[[Any, int], None], _prefetch_twin if _interpreted else intrinsic(_hint))


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


number_at = cast(
    Callable[[int, Any], int], _number_twin if _interpreted else intrinsic(_number_there)
)
"""number_at(address, dtype): the int of that type, but not uint64, at an address."""
call_with = cast(Callable[[int, int], None], _call_twin if _interpreted else intrinsic(_call_there))
"""call_with(function, address): call a function of C at one address with another one."""


def _read_counter(typing_context: Any) -> Any:
    """cycles(): the count now."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        shape = ir.FunctionType(ir.IntType(64), [])
        insert: Any = cgutils.get_or_insert_function
        return builder.call(insert(builder.module, shape, "llvm.readcyclecounter"), [])

    return types.int64(), emit


cycles: Callable[[], int] = (
    time.perf_counter_ns if _interpreted else cast(Any, intrinsic(_read_counter))
)
