"""Ids of vertices as they are typed on the command line, in the type that the graph has."""

from __future__ import annotations

import dataclasses
import datetime as dt
from typing import Any

import pyarrow as pa
import pytest

from graphtide.api.run import Run
from graphtide.cli.results import vertex_id
from graphtide.model.errors import InputError
from tests.unit.pictures.made_runs import components


class Ids:
    def __init__(self, **columns: pa.Array) -> None:
        self._columns = columns

    def columns(self, numbers: Any = None) -> dict[str, pa.Array]:
        return self._columns

    def number(self, vertex: Any) -> int:
        return 0


def run_with(**columns: pa.Array) -> Run:
    contents = components(2).run()._contents
    return Run(dataclasses.replace(contents, rows=Ids(**columns)))


@pytest.mark.parametrize(
    ("ids", "text", "found"),
    [
        (pa.array(["a", "7"]), "7", "7"),
        (pa.array([7, 8]), "7", 7),
        (pa.array([7, 8]), "-7", -7),
        (pa.array([0.5]), "0.5", 0.5),
        (pa.array([dt.date(2020, 1, 2)]), "2020-01-02", dt.date(2020, 1, 2)),
    ],
)
def test_a_text_becomes_an_id(ids: pa.Array, text: str, found: Any) -> None:
    assert vertex_id(run_with(id=ids), text, None) == found


def test_a_label_goes_before_the_id() -> None:
    labelled = run_with(id=pa.array([7, 7]), label=pa.array(["Person", "Place"]))
    assert vertex_id(labelled, "7", "Place") == ("Place", 7)
    with pytest.raises(InputError, match="need no label"):
        vertex_id(run_with(id=pa.array([7])), "7", "Place")


def test_a_text_that_is_no_id() -> None:
    with pytest.raises(InputError, match="ids are of type int64"):
        vertex_id(run_with(id=pa.array([7])), "seven", None)
