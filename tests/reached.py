"""Which kernels an interpreted run enters, written down for `tools/kernels_reached.py`.

Where GRAPHTIDE_REACHED names a folder and kernels are interpreted, every process of a test run
notes the kernels that it enters: those of `graphtide.kernels`, and those of templates in generated
modules. A process writes its notes when its tests end, in a file of its own. Where
GRAPHTIDE_INDICES is set as well, kernels refuse negative indices (`tests/indices.py`), which takes
half as long again.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.indices import with_checked_indices

VARIABLE = "GRAPHTIDE_REACHED"
INDICES = "GRAPHTIDE_INDICES"
_entered: set[str] = set()


def watch_kernels() -> None:
    """Note every kernel that is entered from now on; call this before a kernel is imported."""
    if VARIABLE not in os.environ:
        return
    from numba import config

    from graphtide.kernels import jit
    from tools.kernels_reached import name_of

    if not vars(config)["DISABLE_JIT"]:
        raise RuntimeError(f"{VARIABLE} needs NUMBA_DISABLE_JIT=1: compiled kernels tell nothing")
    compiled = jit._compiled

    def watched(function: Callable[..., Any], more: dict[str, Any]) -> Callable[..., Any]:
        checked = with_checked_indices(function) if INDICES in os.environ else function
        made, name = compiled(checked, more), name_of(function.__code__)

        @functools.wraps(function)
        def entering(*arguments: Any) -> Any:
            _entered.add(name)
            return made(*arguments)

        return entering

    vars(jit)["_compiled"] = watched


def write_notes() -> None:
    """Write down what this process has entered, if anybody asked."""
    if VARIABLE in os.environ and _entered:
        folder = Path(os.environ[VARIABLE])
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{os.getpid()}.txt").write_text("\n".join(sorted(_entered)), "utf-8")
