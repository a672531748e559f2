"""Machine code on disk: kept from an earlier process, or brought by the installed wheel.

One checked file holds a kernel compiled for the types that it was called with. Its name follows
from what it is for, so that there is no index to be damaged or to be written by two processes at
once. A file begins with a checksum of the rest, and the rest says what it is for. What is cut off,
changed or meant for something else counts as not there: the kernel is compiled and the file written
anew. Files are put in place whole.

A wheel brings the machine code of the library's programs, kernels and dataflows. It is made for one
version of Python, of Numba and of our kernels, and for a named baseline of processors
(`tools/make_wheel.py`). Where all of that fits, nothing of the library is compiled at the user's;
where anything does not, everything is compiled as if nothing had been brought.

What is kept is executed. Who else may write to the folder is looked at where it is chosen
(`model/machine.py`); a checksum finds damage, not malice. What a wheel brings is part of the
package, and as trusted as its sources.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pickle
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite.binding as llvm  # type: ignore[import-untyped]
import numba
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

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


_CHECKSUM = hashlib.sha256().digest_size


class KernelCache:
    """The machine code of one kernel; has the methods that Numba asks a cache for.

    It is known by where the kernel stands, or by what it says (`engine/code.py`).
    """

    def __init__(
        self, function: Callable[..., Any], root: Path, kernels: str, content: str | None = None
    ) -> None:
        self._kernels = kernels
        source = Path(function.__code__.co_filename)
        beside = hashlib.sha256(os.fsencode(source.parent)).hexdigest()[:16]
        self._folder = root / f"{source.parent.name}_{beside}"
        self._package = source.parent.name
        place = f"{source.stem}.{function.__qualname__}-{function.__code__.co_firstlineno}"
        self._name = place if content is None else f"{function.__qualname__}-{content}"
        self._code = hashlib.sha256(function.__code__.co_code).hexdigest()

    @property
    def cache_path(self) -> str:
        """The folder, for people who look."""
        return str(self._folder)

    def load_overload(self, signature: Any, target: Any) -> Any:
        """What was compiled for these types; None if there is nothing of use."""
        target.refresh()
        code = self._found(self._folder, signature, target.codegen().magic_tuple())
        shipped = shipped_code(self._kernels) if code is None else None
        if shipped is not None:
            code = self._found(shipped.folder / self._package, signature, shipped.magic)
        return None if code is None else self.rebuilt(target, code)

    def _found(self, folder: Path, signature: Any, magic: Any) -> Any:
        """What a folder has for these types and this processor."""
        key = self._key(signature, magic)
        stored = _read(folder / self._file(key))
        return None if stored is None or stored[0] != key else stored[1]

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep what was compiled, where that can be: it is in memory in any case."""
        if compiled.library.has_dynamic_globals or any(not x.can_cache for x in compiled.lifted):
            return
        key = self._key(signature, compiled.codegen.magic_tuple())
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            _write(self._folder / self._file(key), dumps((key, compiled._reduce())))

    def rebuilt(self, target: Any, kept: Any) -> Any:
        """What was kept, as Numba takes it back."""
        return CompileResult._rebuild(target, *kept)

    def _key(self, signature: Any, magic: Any) -> tuple[Any, ...]:
        versions = numba.__version__, sys.version_info[:2]
        return signature, tuple(magic), versions, self._code

    def _file(self, key: tuple[Any, ...]) -> str:
        digest = hashlib.sha256(repr(key).encode()).hexdigest()[:20]
        return f"{self._name}.{digest}.nbc"


def _read(file: Path) -> Any:
    """What a file holds; None where it is missing or not as it was written."""
    try:
        data = file.read_bytes()
    except OSError:
        return None
    if hashlib.sha256(data[_CHECKSUM:]).digest() != data[:_CHECKSUM]:
        return None
    return pickle.loads(data[_CHECKSUM:])


def _write(file: Path, data: bytes) -> None:
    fresh = file.with_name(f"{file.name}.{os.getpid()}")
    fresh.write_bytes(hashlib.sha256(data).digest() + data)
    fresh.replace(file)
