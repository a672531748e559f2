"""The one decorator of all kernels, and where their machine code is kept.

Numba caches compiled code beside a source file and checks that file alone: editing a kernel that
another one calls would leave the caller stale. So the cache folder is named after a hash of all
our kernel sources, and after the bounds-check setting, which Numba's own key leaves out.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

from graphtide.model.cache import cache_root

Inputs = ParamSpec("Inputs")
Output = TypeVar("Output")


@cache
def cache_folder() -> Path:
    """The folder for machine code of exactly these sources and settings."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    checked = os.environ.get("NUMBA_BOUNDSCHECK", "0")
    return cache_root() / f"kernels-{digest.hexdigest()[:16]}-bounds{checked}"


os.environ.setdefault("NUMBA_CACHE_DIR", str(cache_folder()))

import numba  # noqa: E402
import numpy as np  # noqa: E402

from graphtide.kernels.first_use import tell_of_first_use  # noqa: E402
from graphtide.kernels.linking import KNOWN, KernelCache, LinkedCache, LinkedCompiler  # noqa: E402
from graphtide.kernels.unused_folders import mark_used  # noqa: E402

# Whoever imported numba before us has fixed its folder; it would change at the first compilation.
vars(numba.config)["CACHE_DIR"] = os.environ["NUMBA_CACHE_DIR"]
tell_of_first_use(cache_root())
mark_used(cache_folder())

# Kernels are called from Python or from kernels, never through a pointer.
_ALL: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


def _compiled(function: Callable[Inputs, Output], more: dict[str, Any]) -> Callable[Inputs, Output]:
    if vars(numba.config)["DISABLE_JIT"]:
        return np.errstate(all="ignore")(function)  # Compiled code divides by 0 without a word.
    compiled: Any = numba.njit(cache=not KNOWN, **_ALL, **more)(function)
    if KNOWN:
        compiled._cache = KernelCache(function)
    return cast(Callable[Inputs, Output], compiled)


def _linked(function: Callable[Inputs, Output], more: dict[str, Any]) -> Callable[Inputs, Output]:
    """Compiled for kernels alone: there is no way in from Python."""
    inner = {**more, "no_cpython_wrapper": True}
    if not KNOWN or vars(numba.config)["DISABLE_JIT"]:
        return _compiled(function, inner)
    linked: Any = numba.njit(pipeline_class=LinkedCompiler, **_ALL, **inner)(function)
    linked._cache = LinkedCache(function)
    return cast(Callable[Inputs, Output], linked)


def kernel(function: Callable[Inputs, Output]) -> Callable[Inputs, Output]:
    """Compile on first call; cached on disk, without the interpreter lock, NumPy's division."""
    return _compiled(function, {})


def lean_kernel(function: Callable[Inputs, Output]) -> Callable[Inputs, Output]:
    """The same for a kernel that makes no arrays: references to its arguments are not counted.

    Counting costs ten nanoseconds an array and call wherever Numba cannot see that it is of no
    use, which is in any function with a branch: a call with thirty arrays took 300 ns, and 2 ns
    without. Numba refuses to compile one that makes an array.
    """
    lean: dict[str, Any] = {"_nrt": False, "forceinline": True}
    return _compiled(function, lean)


def bare_kernel(function: Callable[Inputs, Output]) -> Callable[Inputs, Output]:
    """The same without inlining: for kernels that call one another with one array and numbers.

    What makes no array needs no counting; what is called from many places is compiled once.
    """
    bare: dict[str, Any] = {"_nrt": False}
    return _compiled(function, bare)


def inner_kernel(function: Callable[Inputs, Output]) -> Callable[Inputs, Output]:
    """The same for a kernel that only kernels call: it has no way in from Python to be compiled."""
    return _linked(function, {"_nrt": False})


def joined_kernel(function: Callable[Inputs, Output]) -> Callable[Inputs, Output]:
    """The same for an inner kernel with one caller, often called: joined to it as machine code.

    A call hands over every array as seven words: with all that an advance works with, some 300
    words, which took longer than what the kernel then did.
    """
    return _linked(function, {"_nrt": False, "forceinline": True})


def inlined_kernel(function: Callable[Inputs, Output]) -> Callable[Inputs, Output]:
    """The same for what is a line or two, or is called from one place: written into its caller.

    A function on its own costs a quarter of a second of compiling, and again in every function
    that leads to it.
    """
    inlined: dict[str, Any] = {"_nrt": False, "inline": "always"}
    return _compiled(function, inlined)
