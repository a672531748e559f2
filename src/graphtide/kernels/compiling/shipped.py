"""Machine code that an installed wheel brings: of the library's programs, kernels and dataflows.

A wheel is made for one version of Python, of Numba and of our kernels, and for a named baseline of
processors (`tools/make_wheel.py`). Where all of that fits, nothing of the library is compiled at
the user's; where anything does not, everything is compiled as if nothing had been brought.

What a wheel brings is part of the package, and as trusted as its sources.
"""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite.binding as llvm  # type: ignore[import-untyped]
import numba

FOLDER = Path(__file__).parents[2] / "machine_code"
MANIFEST = "manifest.json"


class Shipped(NamedTuple):
    """Where it lies, and the processor that it was compiled for, as Numba's keys name it."""

    folder: Path
    magic: tuple[str, ...]


@cache
def shipped_code(kernels: str) -> Shipped | None:
    """What fits this process; `kernels` is the digest of the kernels' sources."""
    try:
        manifest = json.loads((FOLDER / MANIFEST).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    wanted = {"kernels": kernels, "numba": numba.__version__, "python": list(sys.version_info[:2])}
    if any(manifest.get(name) != value for name, value in wanted.items()):
        return None
    if manifest["magic"][0] != llvm.get_process_triple() or not _has_features(manifest["needs"]):
        return None
    return Shipped(FOLDER, tuple(manifest["magic"]))


def _has_features(needed: list[str]) -> bool:
    try:
        features: dict[str, Any] = llvm.get_host_cpu_features()
    except RuntimeError:
        return False
    return all(features.get(name, False) for name in needed)
