"""One line says that kernels are being compiled, unless quiet is asked for."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from graphtide.kernels.compiling import first_use
from graphtide.kernels.compiling.first_use import FirstUse

FOLDER = Path("some-folder")


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_use, "_PATIENCE", 0.05)
    monkeypatch.setattr(first_use, "somebody_looks", lambda: True)
    monkeypatch.delenv("GRAPHTIDE_QUIET", raising=False)


def compile_for(seconds: float, told: FirstUse, module: str = "graphtide.kernels.some") -> None:
    """Compile two functions, one within the other; as long as asked, or until it is said."""
    told.begin(module)
    told.begin("numba.cpython.some")
    end = time.monotonic() + seconds
    while time.monotonic() < end and not told.said:
        time.sleep(0.001)
    told.end()
    told.end()


def test_a_line_says_it_once(capsys: pytest.CaptureFixture[str]) -> None:
    told = FirstUse(FOLDER)
    for _ in range(3):
        compile_for(600.0, told)
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "compiling" in err
    assert "some-folder" in err


def test_many_short_ones_add_up() -> None:
    told = FirstUse(FOLDER)
    for _ in range(200):
        compile_for(0.01, told)
    assert told.said


def test_nothing_is_said_of_what_is_over_soon() -> None:
    told = FirstUse(FOLDER)
    compile_for(0.0, told)
    time.sleep(0.1)
    assert not told.said


def test_nothing_is_said_of_other_peoples_functions() -> None:
    told = FirstUse(FOLDER)
    compile_for(0.2, told, "somebody.elses")
    assert not told.said


def test_in_a_pipe_it_takes_longer_until_it_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_use, "somebody_looks", lambda: False)
    monkeypatch.setattr(first_use, "_PATIENCE_UNSEEN", 0.5)
    told = FirstUse(FOLDER)
    compile_for(0.1, told)
    assert not told.said
    compile_for(600.0, told)
    assert "compiling" in capsys.readouterr().err


@pytest.mark.parametrize("how", ["setting", "worker"])
def test_nothing_is_written_where_quiet_is_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    if how == "setting":
        monkeypatch.setenv("GRAPHTIDE_QUIET", "1")
    else:
        monkeypatch.setattr(first_use, "is_worker", lambda: True)
    compile_for(600.0, FirstUse(FOLDER))
    assert capsys.readouterr() == ("", "")


def test_it_is_watched_from_the_first_kernel_on() -> None:
    from numba.core import event

    import graphtide.kernels.jit  # noqa: F401

    listeners = event._registered["numba:compile"]
    assert any(type(item).__module__ == first_use.__name__ for item in listeners)
    assert "graphtide.kernels.compiling.first_use" in sys.modules
