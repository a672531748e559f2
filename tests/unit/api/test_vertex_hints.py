"""A vertex that is not there is told with ids that are."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import graphtide as gt
from graphtide.algorithms import BFS
from graphtide.model.errors import InputError
from graphtide.run.live.vertex_ids import vertex_hint

PORTS = pa.array(["LHR", "FRA", "CDG", "JFK"])
MANY = pa.array([f"port-{at:06}" for at in range(20_000)])


@pytest.mark.parametrize(
    ("ids", "given", "told"),
    [
        (PORTS, "LHX", "did you mean 'LHR'?"),
        (PORTS, "lhr", "did you mean 'LHR'?"),
        (PORTS, "Heathrow", "ids are such as 'LHR', 'FRA', 'CDG'"),
        (PORTS, 7, "ids are texts here, such as 'LHR'"),
        (pa.array(["JFK", "JFL"]), "JFX", "did you mean 'JFK' or 'JFL'?"),
        (MANY, "Port-019999", "did you mean 'port-019999'?"),
        (MANY, "x", "such as 'port-000000'"),
        (pa.array([3, 9]), 5, "ids are whole numbers here, from 3 to 9"),
        (pa.array([3, 9]), "3", "from 3 to 9, without quotes"),
        (pa.array([], pa.string()), "a", "the graph has no vertices"),
    ],
)
def test_hints(ids: pa.Array, given: Any, told: str) -> None:
    assert told in vertex_hint(ids, given)


def test_programs_and_tables_tell_the_same() -> None:
    graph = gt.Graph(["LHR", "FRA"], ["FRA", "CDG"])
    with pytest.raises(InputError, match="did you mean 'LHR'"):
        graph.maintain(BFS(source="LHX"))
    with pytest.raises(InputError, match="did you mean 'LHR'"):
        graph.maintain(BFS(source="LHR")).at("LHX")
