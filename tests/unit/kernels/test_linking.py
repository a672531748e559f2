"""Inner kernels become a part of their callers, and what is on disk is what was asked for."""

from __future__ import annotations

import gc
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numba.core.compiler import Compiler

from graphtide.kernels import jit
from graphtide.kernels.compiling.keeping import KernelCache

KERNELS = """
import numpy as np
from graphtide.kernels.jit import inner_kernel, joined_kernel, kernel

@inner_kernel
def doubled(numbers, at):
    return numbers[at] * 2

@joined_kernel
def added(numbers, first):
    total = first
    for at in range(len(numbers)):
        total += doubled(numbers, at)
    return total

@kernel
def outer(numbers):
    return added(numbers, numbers[0])

@kernel
def other(numbers):
    return added(numbers, numbers[0]) + doubled(numbers, 0)
"""

WRITER = """
import importlib.util, sys
import numpy as np
spec = importlib.util.spec_from_file_location("kernels_of_a_test", sys.argv[1])
module = importlib.util.module_from_spec(spec)
sys.modules["kernels_of_a_test"] = module
spec.loader.exec_module(module)
for kind in sys.argv[2:]:
    numbers = np.arange(1, 4).astype(kind)
    assert module.outer(numbers) == 13, kind
    assert module.other(numbers) == 15, kind
hits = [sum(item.stats.cache_hits.values()) for item in (module.outer, module.other)]
print(*hits)
"""

pytestmark = pytest.mark.skipif(
    not jit.LINKS or "NUMBA_DISABLE_JIT" in os.environ, reason="nothing is linked"
)


def start(source: Path, *kinds: str) -> subprocess.Popen[str]:
    inherited = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(source), *kinds],
        stdout=subprocess.PIPE,
        text=True,
        env=inherited | {"GRAPHTIDE_CACHE": str(source.parent / "cache")},
    )


def hits(process: subprocess.Popen[str]) -> list[int]:
    said, _ = process.communicate()
    assert process.returncode == 0
    return [int(word) for word in said.split()]


def load(source: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("kernels_of_a_test", source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def source(tmp_path: Path) -> Path:
    file = tmp_path / "kernels_of_a_test.py"
    file.write_text(KERNELS)
    return file


def test_what_several_processes_compile_at_once_is_found_by_the_next(source: Path) -> None:
    """Also by one that finds inner kernels on disk, and after the source was written anew."""
    kinds = ["int64", "int32", "float64", "float32"]
    assert [hits(process) for process in [start(source, kind) for kind in kinds]] == [[0, 0]] * 4
    os.utime(source, (1, 1))
    assert hits(start(source, *kinds)) == [4, 4]


def test_an_inner_kernel_found_on_disk_is_linked_again(source: Path) -> None:
    assert hits(start(source, "int64")) == [0, 0]
    folder = source.parent / "cache"
    for kept in [*folder.rglob("*outer*"), *folder.rglob("*other*")]:
        kept.unlink()
    assert list(folder.rglob("*doubled*.nbc"))
    assert hits(start(source, "int64")) == [0, 0]


def test_an_inner_kernel_has_no_machine_code(source: Path) -> None:
    from graphtide.kernels.compiling import linking

    module: Any = load(source)
    assert module.outer(np.arange(1, 4)) == 13
    for inner in (module.doubled, module.added):
        for made in inner.overloads.values():
            assert isinstance(made.library, linking.LinkedLibrary)
            assert made.library.get_pointer_to_function(made.fndesc.mangled_name) == 0


def test_an_inner_kernel_that_calls_itself_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "recursive.py"
    file.write_text(
        "from graphtide.kernels.jit import inner_kernel, kernel\n\n"
        "@inner_kernel\ndef down(n):\n    return 1 if n <= 0 else further(n - 1) + 1\n\n"
        "@inner_kernel\ndef further(n):\n    return 1 if n <= 0 else down(n - 1) + 2\n\n"
        "@kernel\ndef outer(n):\n    return down(n)\n"
    )
    with pytest.raises(AssertionError, match="calls itself"):
        load(file).outer(3)


@pytest.mark.parametrize(("keeps", "links"), [(True, True), (True, False), (False, False)])
def test_other_versions_of_numba_compile_as_they_do(
    source: Path, keeps: bool, links: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jit, "KEEPS", keeps)
    monkeypatch.setattr(jit, "LINKS", links)
    module: Any = load(source)
    assert module.outer(np.arange(1, 4)) == 13
    (made,) = module.doubled.overloads.values()
    assert (type(made.library).__name__ == "LinkedLibrary") == links
    assert isinstance(module.outer._cache, KernelCache) == keeps


UNKNOWN = """
import importlib.util, sys
import numba
numba.version_info = numba.version_info._replace(major=1, minor=0)
compiling = "graphtide.kernels.compiling."
for name in ("numba.core.event", compiling + "linking", compiling + "keeping"):
    sys.modules[name] = None
vars(numba.core).pop("event", None)
spec = importlib.util.spec_from_file_location("kernels_of_a_test", sys.argv[1])
module = importlib.util.module_from_spec(spec)
sys.modules["kernels_of_a_test"] = module
spec.loader.exec_module(module)
import numpy as np
print(module.outer(np.arange(1, 4)), sum(module.outer.stats.cache_hits.values()))
"""


def test_a_version_of_numba_with_other_insides_compiles(source: Path) -> None:
    """And keeps what it compiled, in our folder."""
    settings = os.environ | {"GRAPHTIDE_CACHE": str(source.parent / "cache")}
    for hits in (0, 1):
        done = subprocess.run(
            [sys.executable, "-c", UNKNOWN, str(source)],
            capture_output=True,
            text=True,
            env=settings,
        )
        assert (done.stdout, done.stderr) == (f"13 {hits}\n", "")
    assert list((source.parent / "cache").rglob("*outer*.nbi"))


def test_the_collector_waits_while_a_kernel_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    from graphtide.kernels.compiling.linking import KernelCompiler

    compiler, seen = KernelCompiler.__new__(KernelCompiler), []

    def compile_extra(self: Any, function: Any) -> None:
        seen.append(gc.isenabled())
        if len(seen) == 1:  # Compiling one kernel compiles those that it calls.
            compiler.compile_extra(function)
            seen.append(gc.isenabled())
            raise TypeError("it cannot be compiled")

    monkeypatch.setattr(Compiler, "compile_extra", compile_extra)
    with pytest.raises(TypeError):
        compiler.compile_extra(len)
    assert seen == [False, False, False]
    assert gc.isenabled()
