"""Memory that nobody has written yet holds the worst there is, where kernels run interpreted.

What `np.empty` returns is often zero, and a reader of it is right by chance: on another machine, or
on a busy one, it is not. Compiled kernels reserve memory without Python, so only interpreted runs
see this.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

_SIGNALLING = {4: 0x7FA00000, 8: 0x7FF4000000000000}
"""The bits of a NaN, by the bytes of its kind, that NumPy warns of where somebody converts it."""


def spoil_unset_memory() -> None:
    """Have `np.empty` and `np.empty_like` return spoiled memory, in interpreted runs."""
    if not numba.config.DISABLE_JIT:
        return
    for name in ("empty", "empty_like"):
        setattr(np, name, _spoiling(getattr(np, name)))


def _spoiling(reserve: Any) -> Any:
    def reserved(*given: Any, **named: Any) -> Any:
        array = reserve(*given, **named)
        _spoil(array)
        return array

    return reserved


def _spoil(array: np.ndarray[Any, Any]) -> None:
    kind = array.dtype.kind
    if kind == "f" and array.itemsize in _SIGNALLING and array.flags.c_contiguous:
        array.view(f"u{array.itemsize}")[...] = _SIGNALLING[array.itemsize]
    elif kind == "b":
        array[...] = True
    elif kind in "iu":
        array[...] = -7_777_777 if kind == "i" and array.itemsize > 2 else np.iinfo(array.dtype).max
