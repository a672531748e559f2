"""Words that several threads write: a value is put in place of the one that was seen, or not.

`swap_if(array, place, seen, new)` writes `new` if `array[place]` is still `seen`, in one step that
no other thread can come between, and says whether it did. Values of any type of four or eight bytes
are compared by their bits. Where kernels are interpreted, parts are run one after the other
(`engine.lean.workers`), and nobody comes between anyway.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import llvmlite.ir as ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from graphtide.kernels.jit import INTERPRETED


def _twin(array: Any, place: Any, seen: Any, new: Any) -> bool:
    if array[place] != seen:
        return False
    array[place] = new
    return True


def _swap(typing_context: Any, array: Any, place: Any, seen: Any, new: Any) -> Any:
    """swap_if(array, place, seen, new); `array` has one dimension."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        made = context.make_array(signature.args[0])(context, builder, arguments[0])
        word = ir.IntType(array.dtype.bitwidth)
        address = builder.bitcast(builder.gep(made.data, [arguments[1]]), word.as_pointer())
        before, after = (builder.bitcast(item, word) for item in arguments[2:])
        pair = builder.cmpxchg(address, before, after, "acq_rel", "acquire")
        return builder.extract_value(pair, 1)

    return types.boolean(array, types.uintp, array.dtype, array.dtype), emit


swap_if = cast(Callable[[Any, Any, Any, Any], bool], _twin if INTERPRETED else intrinsic(_swap))
