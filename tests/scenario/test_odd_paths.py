"""Paths that no system takes are refused as such, wherever users may write one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import graphtide as gt
from graphtide.api.session import Session
from graphtide.model.errors import GraphtideError, InputError
from graphtide.model.names import given_path
from graphtide.spark.ingest.files import find_files

ODD = {"NUL": "a\0b", "long": "x" * 300, "half": "a\ud800b", "empty": ""}
odd = pytest.mark.parametrize("path", ODD.values(), ids=ODD)


@odd
def test_what_cannot_be_a_path_is_refused(path: str) -> None:
    with pytest.raises(InputError, match="cannot be a path"):
        given_path(path)


def test_other_paths_are_taken(tmp_path: Path) -> None:
    assert given_path(tmp_path / "Zoë \u001b") == tmp_path / "Zoë \u001b"
    assert given_path("~/x") == Path.home() / "x"
    with pytest.raises(InputError, match="cannot be a path"):
        given_path("~nobody-of-that-name/x")


STATEMENTS = [
    "run wcc on years save results to '{path}'",
    "run own from '{path}' on years",
    "use graph Calls; save graph to '{path}'",
    "save cube years to '{path}' 0 true",
]


@pytest.fixture
def session(data: Path) -> Session:
    return gt.session(data, progress=False)


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("path", [ODD["NUL"], ODD["long"]], ids=["NUL", "long"])
def test_statements_refuse_odd_paths(session: Session, statement: str, path: str) -> None:
    with pytest.raises(GraphtideError, match="cannot be a path"):
        session.execute(statement.format(path=path))


def test_half_a_character_in_a_statement_is_told_with_its_place(session: Session) -> None:
    with pytest.raises(GraphtideError, match="half of a character") as refused:
        session.execute("run wcc on years save results to 'a\ud800b'")
    assert "column 36" in str(refused.value)


CALLS: dict[str, Callable[[Session, str], Any]] = {
    "session": lambda session, path: gt.session(path).graphs(),
    "load": lambda session, path: find_files(path, "edges"),
    "to_csv": lambda session, path: _run().to_csv(path),
    "draw": lambda session, path: session.collection("years").picture(f"{path}.png"),
}


def _run() -> gt.Run:
    return gt.Graph([0], [1]).run(gt.algorithms.WCC, {"all": [0]})


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("path", [ODD["NUL"], ODD["long"], ODD["half"]])
def test_calls_refuse_odd_paths(
    session: Session, call: Callable[[Session, str], Any], path: str
) -> None:
    with pytest.raises(GraphtideError, match="cannot be a path"):
        call(session, path)


def test_explain_says_that_it_carries_out_a_file(session: Session, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "import graphtide as gt\nfrom pathlib import Path\n"
        f"Path({str(tmp_path / 'ran')!r}).write_text('')\nOwn = gt.algorithms.WCC\n"
    )
    told = session.explain(f"run wcc from '{tmp_path}/own.py' on years")
    assert (tmp_path / "ran").exists()
    assert f"{tmp_path}/own.py was carried out as Python" in told
    assert "carried out" not in session.explain("run wcc on years")
