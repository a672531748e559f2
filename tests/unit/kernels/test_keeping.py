"""Machine code on disk: what is damaged is made again, and never run."""

from __future__ import annotations

import importlib.util
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphtide.engine.code import generated_module
from graphtide.kernels import jit
from graphtide.kernels.compiling import keeping

pytestmark = pytest.mark.skipif(
    not jit.KEEPS or "NUMBA_DISABLE_JIT" in os.environ, reason="nothing is kept"
)

KERNELS = """
from graphtide.kernels.jit import inner_kernel, kernel

@inner_kernel
def doubled(number):
    return number * 2

@kernel
def outer(number):
    return doubled(number) + 1
"""

DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "a flipped bit at the front": lambda data: bytes([data[0] ^ 1]) + data[1:],
    "a flipped bit in the middle": lambda data: (
        data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 8]) + data[len(data) // 2 + 1 :]
    ),
    "cut": lambda data: data[: len(data) // 2],
    "emptied": lambda data: b"",
    "appended to": lambda data: data + b"\0",
    "something else": lambda data: pickle.dumps("something else"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "kernels_of_a_test.py").write_text(KERNELS)
    monkeypatch.setattr(jit, "cache_folder", lambda: tmp_path / "kept")
    return tmp_path


def load(folder: Path) -> Any:
    """The kernels of the test as a process finds them that has not used them yet."""
    spec = importlib.util.spec_from_file_location(
        "kernels_of_a_test", folder / "kernels_of_a_test.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["kernels_of_a_test"] = module
    spec.loader.exec_module(module)
    return module


def hits(module: Any) -> int:
    return sum(module.outer.stats.cache_hits.values())


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_machine_code_is_made_again(folder: Path, damage: str) -> None:
    assert load(folder).outer(3) == 7
    files = sorted((folder / "kept").rglob("*.nbc"))
    assert len(files) == 2
    for file in files:
        file.write_bytes(DAMAGE[damage](file.read_bytes()))
    module = load(folder)
    assert (module.outer(3), hits(module)) == (7, 0)
    healed = load(folder)
    assert (healed.outer(3), hits(healed)) == (7, 1)


def test_no_flipped_byte_is_read(folder: Path) -> None:
    assert load(folder).outer(3) == 7
    file = min((folder / "kept").rglob("*.nbc"), key=lambda file: file.stat().st_size)
    data = file.read_bytes()
    for at in range(0, len(data), max(1, len(data) // 2000)):
        file.write_bytes(data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :])
        assert keeping._read(file) is None


def test_code_for_other_types_is_not_taken(folder: Path) -> None:
    """Though it lies under the right name and is whole."""
    module = load(folder)
    assert module.outer(3) == 7
    (for_int,) = (folder / "kept").rglob("*outer*.nbc")
    assert module.outer(np.float64(3.5)) == 8.0
    (for_float,) = set((folder / "kept").rglob("*outer*.nbc")) - {for_int}
    for_int.write_bytes(for_float.read_bytes())
    again = load(folder)
    assert (again.outer(3), hits(again)) == (7, 0)


def test_code_that_cannot_be_kept_runs(folder: Path) -> None:
    (folder / "kept").write_text("a file where the folder should be")
    assert load(folder).outer(3) == 7


@pytest.mark.parametrize("text", ["", "value = ", "value = 2\n", "raise SystemExit(3)\n"])
def test_a_generated_module_that_says_something_else_is_written_anew(text: str) -> None:
    source = "value = 1\n"
    first = generated_module.__wrapped__(source, "of_a_test")
    file = Path(str(first.__file__))
    file.write_text(text)
    os.utime(file, (1, 1))
    again = generated_module.__wrapped__(source, "of_a_test")
    assert (again.value, file.read_text()) == (1, source)


def test_bytecode_beside_a_generated_module_is_not_run() -> None:
    source = "value = 11\n"
    file = Path(str(generated_module.__wrapped__(source, "of_a_test").__file__))
    planted = Path(importlib.util.cache_from_source(str(file)))
    assert not planted.exists()
    planted.parent.mkdir(exist_ok=True)
    code = importlib._bootstrap_external._code_to_timestamp_pyc(  # type: ignore[attr-defined]
        compile("value = 12\n", str(file), "exec"), int(file.stat().st_mtime), len(source)
    )
    planted.write_bytes(code)
    try:
        assert generated_module.__wrapped__(source, "of_a_test").value == 11
    finally:
        planted.unlink()


PLANTED = """
import os, pickle, sys
from pathlib import Path
import hashlib

class Evil:
    def __reduce__(self):
        return os.system, ("touch " + sys.argv[2],)

for file in Path(sys.argv[1]).rglob("*.nbc"):
    data = pickle.dumps(Evil())
    file.write_bytes(hashlib.sha256(data).digest() + data)
"""

USER = """
import sys
sys.path.insert(0, sys.argv[1])
import kernels_of_a_test
print(kernels_of_a_test.outer(3))
"""


def test_code_planted_in_an_open_folder_does_not_run(folder: Path) -> None:
    cache, ran = folder / "cache", folder / "ran"
    settings = os.environ | {"GRAPHTIDE_CACHE": str(cache), "TMPDIR": str(folder)}

    def use() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", USER, str(folder)]
        return subprocess.run(command, env=settings, capture_output=True, text=True)

    assert (use().stdout, use().stderr) == ("7\n", "")
    subprocess.run([sys.executable, "-c", PLANTED, str(cache), str(ran)], check=True)
    cache.chmod(0o777)
    done = use()
    assert done.stdout == "7\n"
    assert f"others may write to '{cache}'" in done.stderr
    assert not ran.exists()
