"""The processor's own counter, for loops that have no time to ask the system for it.

A count means nothing alone: shares of it, within one call on one core, tell how the seconds of that
call were spent. Where kernels are interpreted, nanoseconds stand in for it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any, cast

import llvmlite.ir as ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def _read(typing_context: Any) -> Any:
    """cycles(): the count now."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        shape = ir.FunctionType(ir.IntType(64), [])
        insert: Any = cgutils.get_or_insert_function
        return builder.call(insert(builder.module, shape, "llvm.readcyclecounter"), [])

    return types.int64(), emit


_interpreted = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
cycles: Callable[[], int] = time.perf_counter_ns if _interpreted else cast(Any, intrinsic(_read))
