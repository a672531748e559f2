"""The decorators of all kernels, and the folder in which their machine code is kept.

Code is kept for a kernel and the types that it was called with, and Numba looks at that kernel
alone: editing one that another one calls would leave the caller stale. So the cache folder is named
after a hash of all our kernel sources, and after the bounds-check setting, which the key leaves
out. Numba's own setting of a folder, NUMBA_CACHE_DIR, is for other people's functions.

Every version of our kernels has a folder of its own, and the last one is of no use after an update.
The date of a folder is the day when it was last used: the first process of a day sets it, and
removes those that nobody has used for a month. A process that has run for longer than that finds
its folder gone, and compiles again what it has not yet loaded: nothing else is lost.

Where kernels are interpreted, they run without a warning of NumPy, as machine code does: compiled
code divides by 0 and overflows silently.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeVar, cast

import numba
import numpy as np

from graphtide.kernels.compiling.first_use import tell_of_first_use
from graphtide.model.machine import cache_folder_for


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


DAY = 24 * 3600.0
UNUSED = 30 * DAY


def mark_used(folder: Path) -> None:
    """Set the date of a folder of kernels; where that is news, remove old ones beside it."""
    now = time.time()
    with contextlib.suppress(OSError):  # A folder that cannot be written is somebody else's.
        if folder.is_dir() and now - folder.stat().st_mtime < DAY:
            return
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder, (now, now))
        for other in folder.parent.glob("kernels-*"):
            if other != folder:
                _remove_if_unused(other, now)


def _remove_if_unused(folder: Path, now: float) -> None:
    """Renamed first, so that nobody finds half of it; if that is left over, its date is old."""
    with contextlib.suppress(OSError):
        if folder.is_symlink() or not folder.is_dir() or now - folder.stat().st_mtime < UNUSED:
            return
        going = folder.with_name(f"{folder.name}.removed{os.getpid()}")
        folder.rename(going)
        shutil.rmtree(going, ignore_errors=True)


Inputs = ParamSpec("Inputs")
Output = TypeVar("Output")

KEEPS = (0, 61) <= numba.version_info[:2] <= (0, 68)
"""Whether we have read how this version of Numba hands out machine code and takes it back.

With any other version Numba keeps the code itself, less safely: it trusts what it finds on disk.
"""

LINKS = numba.version_info[:2] == (0, 68)
"""Whether we have read how this version makes libraries; any other makes them as it always did."""

INTERPRETED = bool(vars(numba.config)["DISABLE_JIT"])
"""Whether kernels are run as Python."""

CONTENTS = "__contents__"
"""What a generated module calls the digests of its functions (`engine/code.py`)."""

NOT_CODE = {"keeping.py", "first_use.py"}
"""Modules that no machine code depends on."""


@cache
def kernels_digest() -> str:
    """Which kernels these are: their sources, and whether indices are checked."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        if path.name not in NOT_CODE:
            digest.update(path.read_bytes())
    checked = os.environ.get("NUMBA_BOUNDSCHECK", "0")
    return f"{digest.hexdigest()[:16]}-bounds{checked}"


@cache
def cache_folder() -> Path:
    """The folder for machine code of exactly these sources and settings."""
    return cache_folder_for(f"kernels-{kernels_digest()}")


if not KEEPS:
    # Whoever imported Numba before us has fixed its folder, and Numba reads the setting again at
    # the first compilation: both are set.
    os.environ["NUMBA_CACHE_DIR"] = str(cache_folder())
    vars(numba.config)["CACHE_DIR"] = str(cache_folder())
tell_of_first_use(cache_folder().parent)
mark_used(cache_folder())

# Kernels are called from Python or from kernels, never through a pointer.
_ALL: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


Index: Any = int if vars(numba.config)["DISABLE_JIT"] else np.uint64
"""An index that is not negative. Numba takes one that may be to count from the end, which it has to
look at in every round of a loop; without that look LLVM does several rounds at once. Where `LINKS`
holds, every index is taken to be such (`compiling/indexing.py`)."""

_BY_CONTENT: dict[str, Any] = {}
"""Kernels of generated modules by what they say: what says the same is one kernel."""


class Content(NamedTuple):
    """What a kernel of a generated module says: without the program's functions, and with them."""

    shared: str
    whole: str


def _content(function: Callable[..., Any]) -> Content | None:
    content: Content | None = function.__globals__.get(CONTENTS, {}).get(function.__qualname__)
    return content


def _compiled(function: Callable[Inputs, Output], more: dict[str, Any]) -> Callable[Inputs, Output]:
    if vars(numba.config)["DISABLE_JIT"]:
        return cast(Callable[Inputs, Output], quietly(function))
    if not KEEPS:
        return cast(Callable[Inputs, Output], numba.njit(cache=True, **_ALL, **more)(function))
    content = _content(function)
    if content is None:
        return cast(Callable[Inputs, Output], _kept(function, more, None))
    if not LINKS or content.shared == content.whole:
        return _once(function, content.whole, lambda: _kept(function, more, content.whole))
    opened = _once(function, content.shared, lambda: _kept_linked(function, more, content.shared))
    if content.whole not in _BY_CONTENT:
        _BY_CONTENT[content.whole] = _closed(function, more, content.whole, opened)
    return cast(Callable[Inputs, Output], _BY_CONTENT[content.whole])


def _linked(function: Callable[Inputs, Output], more: dict[str, Any]) -> Callable[Inputs, Output]:
    """Compiled for kernels alone: there is no way in from Python."""
    inner = {**more, "no_cpython_wrapper": True}
    if not LINKS or vars(numba.config)["DISABLE_JIT"]:
        return _compiled(function, inner)
    content = _content(function)
    if content is None:
        return cast(Callable[Inputs, Output], _kept_linked(function, inner, None))
    return _once(function, content.shared, lambda: _kept_linked(function, inner, content.shared))


def _once(
    function: Callable[Inputs, Output], content: str, make: Callable[[], Any]
) -> Callable[Inputs, Output]:
    """A new kernel, or the one that says the same as this one of a generated module.

    Numba names machine code after the module of its function, so that names differ where contents
    do. Any process that finds the code on disk must have the module: this one stands for it.
    """
    if content not in _BY_CONTENT:
        function.__module__ = f"graphtide_generated_{content}"
        sys.modules[function.__module__] = sys.modules[__name__]
        _BY_CONTENT[content] = make()
    return cast(Callable[Inputs, Output], _BY_CONTENT[content])


def _kept(function: Callable[..., Any], more: dict[str, Any], content: str | None) -> Any:
    from graphtide.kernels.compiling.keeping import KernelCache

    if not LINKS:
        compiled: Any = numba.njit(**_ALL, **more)(function)
    else:
        from graphtide.kernels.compiling.linking import KernelCompiler, for_any_number

        compiled = numba.njit(pipeline_class=KernelCompiler, **_ALL, **more)(function)
        compiled.get_call_template = for_any_number(compiled.get_call_template)
    compiled._cache = KernelCache(function, cache_folder(), kernels_digest(), content)
    return compiled


def _kept_linked(function: Callable[..., Any], more: dict[str, Any], content: str | None) -> Any:
    from graphtide.kernels.compiling.linking import LinkedCache, LinkedCompiler, for_any_number

    linked: Any = numba.njit(pipeline_class=LinkedCompiler, **_ALL, **more)(function)
    linked.get_call_template = for_any_number(linked.get_call_template)
    linked._cache = LinkedCache(function, cache_folder(), kernels_digest(), content)
    return linked


def _closed(function: Callable[..., Any], more: dict[str, Any], content: str, opened: Any) -> Any:
    from graphtide.kernels.compiling.linking import ClosingCache

    closed: Any = numba.njit(**_ALL, **more)(function)
    closed._cache = ClosingCache(function, cache_folder(), kernels_digest(), content, opened)
    return closed


def kernel(function: Callable[Inputs, Output]) -> Callable[Inputs, Output]:
    """A kernel that Python calls, and that may make arrays.

    It is compiled at its first call and kept on disk, runs without the interpreter lock, and
    divides as NumPy does. So do the kernels of all decorators below.
    """
    return _compiled(function, {})


def lean_kernel(function: Callable[Inputs, Output]) -> Callable[Inputs, Output]:
    """A kernel that makes no arrays, joined to its callers: references to arrays are not counted.

    Counting costs ten nanoseconds an array and call wherever Numba cannot see that it is of no
    use, which is in any function with a branch: a call with thirty arrays took 300 ns, and 2 ns
    without. Numba refuses to compile one that makes an array.
    """
    lean: dict[str, Any] = {"_nrt": False, "forceinline": True}
    return _compiled(function, lean)


def bare_kernel(function: Callable[Inputs, Output]) -> Callable[Inputs, Output]:
    """A kernel that makes no arrays, and that Python calls with one block of arrays and numbers.

    References are not counted. Kernels that call it share one copy of its code.
    """
    bare: dict[str, Any] = {"_nrt": False, "forceinline": False}
    return _compiled(function, bare)


def inner_kernel(function: Callable[Inputs, Output]) -> Callable[Inputs, Output]:
    """A kernel that only kernels call, in one copy: no way in from Python is compiled.

    Numba hands "join it" down from a caller to what it compiles for it, unless told otherwise: all
    of the dataflow machine became one function, which took LLVM five times as long.
    """
    return _linked(function, {"_nrt": False, "forceinline": False})


def joined_kernel(function: Callable[Inputs, Output]) -> Callable[Inputs, Output]:
    """A kernel of a line or two, or with one caller, which LLVM joins to those that call it.

    A call hands over every array as seven words: with all that an advance works with, some 300
    words, which took longer than what the kernel then did.
    """
    return _linked(function, {"_nrt": False, "forceinline": True})


def program_kernel(
    returns: Any, *, joined: bool = True
) -> Callable[[Callable[Inputs, Output]], Callable[Inputs, Output]]:
    """A function of a program that kernels of templates call, and what it returns.

    These kernels are compiled without it, once for all programs, and it is put into them when they
    are linked (`compiling/closing.py`). `returns` is a type of NumPy's, a tuple of those, or None.
    """

    def made(function: Callable[Inputs, Output]) -> Callable[Inputs, Output]:
        compiled = (joined_kernel if joined else inner_kernel)(function)
        if not LINKS or vars(numba.config)["DISABLE_JIT"]:
            return compiled
        from graphtide.kernels.compiling.linking import gap

        return cast(Callable[Inputs, Output], gap(function.__name__, returns, compiled))

    return made
