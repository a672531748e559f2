"""Tables in which two columns have one name: refused, whoever gives them; no column is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import graphtide as gt
from graphtide.model.errors import InputError


def table_of(names: list[str], *values: Any) -> pa.Table:
    """One row, in columns that may share a name."""
    return pa.table([pa.array([value]) for value in values], names=names)


TWICE = table_of(["src", "dst", "amount", "amount"], "a", "b", 1, 2)
ENDS_TWICE = table_of(["src", "dst", "src"], "a", "b", "c")
LIMITS = table_of(["id", "limit", "limit"], "a", 7, 8)


@pytest.mark.parametrize("frame", [TWICE, ENDS_TWICE])
def test_no_graph_is_made_of_them(frame: pa.Table) -> None:
    with pytest.raises(InputError, match="is there more than once"):
        gt.Graph.from_frame(frame)


@pytest.mark.parametrize("change", [{"insert": TWICE}, {"delete": TWICE}, {"insert": ENDS_TWICE}])
def test_no_graph_in_memory_takes_them(change: dict[str, Any]) -> None:
    graph = gt.Graph(["a"], ["b"], amount=[2])
    with pytest.raises(InputError, match="is there more than once"):
        graph.advance(**change)
    assert graph.edges().to_pylist() == [{"edge": 0, "src": "a", "dst": "b", "amount": 2}]


@pytest.mark.parametrize(
    "change", [{"insert": TWICE}, {"delete": TWICE}, {"update": TWICE}, {"vertices": LIMITS}]
)
def test_no_live_graph_takes_them(tmp_path: Path, change: dict[str, Any]) -> None:
    vertices = {"id": ["a", "b"], "limit": [1, 2]}
    graph = gt.live(tmp_path / "g", gt.Graph(["a"], ["b"], vertices=vertices, amount=[2]))
    with pytest.raises(InputError, match="is there more than once"):
        graph.advance(**change)
    assert graph.version == 0
    assert graph.vertices().to_pydict() == vertices


def test_no_file_of_a_live_graph_has_them(tmp_path: Path) -> None:
    file = tmp_path / "edges.csv"
    file.write_text("src,dst,amount,amount\na,b,1,2\n")
    session = gt.session(tmp_path / "store", progress=False)
    with pytest.raises(InputError, match="the column 'amount' is there more than once") as told:
        session.execute(f"create live graph g with edges from '{file}'")
    assert str(file) in str(told.value)
