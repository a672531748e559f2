"""How Python runs kernels where nothing is compiled: without a word of NumPy, as machine code does.

Compiled code divides by 0 and overflows silently. Kernels call kernels, millions of times in a
test, and each change of NumPy's settings takes longer than most of them: so only the outermost
call of a thread changes them.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

import numpy as np


class _Within(threading.local):
    """Whether this thread is within a kernel."""

    kernel = False


_within = _Within()


def quietly(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, during which NumPy warns of nothing."""

    @functools.wraps(function)
    def called(*arguments: Any) -> Any:
        if _within.kernel:
            return function(*arguments)
        _within.kernel = True
        try:
            with np.errstate(all="ignore"):
                return function(*arguments)
        finally:
            _within.kernel = False

    return called
