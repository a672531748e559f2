"""Graphs, collections and runs are called as their users speak, from load to results."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import graphtide as gt
from graphtide.api.session import Session
from graphtide.spark.gateway import SparkGateway

pytestmark = pytest.mark.spark


def test_accents_and_other_letters(spark: SparkSession, tmp_path: Path) -> None:
    session = Session(tmp_path / "catalog", lambda: SparkGateway(lambda: spark))
    flights = session.load(
        "Flüge", edges=[("LHR", "FRA"), ("FRA", "北京")], edge_columns=["src", "dst"]
    )
    session.execute("create view collection `航班` on Flüge [é: true]; run wcc on `航班`")
    assert (session.graphs(), session.collections()) == (["Flüge"], ["航班"])
    assert session.runs() == ["航班-WCC"]
    assert session.results("航班-WCC").summary().column("components").to_pylist() == [1]
    assert session.graph("Flu\u0308ge").num_edges == flights.num_edges
    assert session.check().column("state").to_pylist() == ["ok"] * 3
    folders = [path.name for path in (tmp_path / "catalog" / "graphs").iterdir()]
    assert folders == ["Fl%C3%BCge"]
    with pytest.raises(gt.GraphtideError, match="did you mean 'Flüge'"):
        session.graph("Fluge")
