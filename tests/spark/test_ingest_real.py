"""Real graphs as they are published, where they are at hand; a part of the campaign."""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from bench.data import data_folder
from tests.spark.loading import load

DATA = data_folder()
pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.skipif(not DATA.is_dir(), reason=f"no graphs in {DATA} (set GRAPHTIDE_BENCH_DATA)"),
    pytest.mark.skipif("GRAPHTIDE_CAMPAIGN" not in os.environ, reason="a part of the campaign"),
]
SNAP = [
    ("wiki-Vote.txt.gz", 7_115, 103_689, {}),
    ("soc-Epinions1.txt.gz", 75_879, 508_837, {}),
    ("road-NY.txt.gz", 264_346, 365_050, {}),
    ("com-dblp.txt.gz", 317_080, 1_049_866, {}),
    ("cit-HepPh.txt.gz", 34_546, 421_578, {"edge_columns": ("src", "dst", "ts")}),
    ("sx-mathoverflow.txt.gz", 24_818, 506_550, {"types": {"p2": "unix_seconds"}}),
]


@pytest.mark.parametrize(
    ("name", "vertices", "edges", "options"),
    [pytest.param(*item, id=item[0]) for item in SNAP],
)
def test_snap(
    spark: SparkSession,
    tmp_path: Path,
    name: str,
    vertices: int,
    edges: int,
    options: dict[str, Any],
) -> None:
    loaded = load(spark, tmp_path, DATA / name, **options)
    assert (loaded.summary.vertices, loaded.summary.edges) == (vertices, edges)
    if name == "sx-mathoverflow.txt.gz":
        assert loaded.column("p2")[0] == dt.datetime(2009, 9, 29, 2, 56, 28, tzinfo=dt.UTC)


def test_a_grid_with_columns_of_other_names(spark: SparkSession, tmp_path: Path) -> None:
    loaded = load(
        spark,
        tmp_path,
        DATA / "grid-2869pegase-branch.csv.gz",
        DATA / "grid-2869pegase-bus.csv.gz",
        id="bus",
        src="fbus",
        dst="tbus",
    )
    assert (loaded.summary.vertices, loaded.summary.edges) == (2_869, 4_582)
    assert loaded.ids()[:2] == [3, 4]
    assert loaded.types()["r"] == "float"


def test_airports_and_routes_without_header(spark: SparkSession, tmp_path: Path) -> None:
    airports = "id name city country iata icao lat lon alt_ft tz dst tzname type source"
    routes = "airline airline_id src src_id dst dst_id codeshare stops equipment"
    loaded = load(
        spark,
        tmp_path,
        DATA / "openflights-routes.csv.gz",
        DATA / "openflights-airports.csv.gz",
        vertex_columns=airports.split(),
        edge_columns=routes.split(),
        id="id",
        src="src_id",
        dst="dst_id",
        null_values=["\\N"],
        on_bad_rows="quarantine",
    )
    assert loaded.summary.edges + loaded.summary.quarantined == 67_663
    assert loaded.vertices[0]["name"] == "Goroka Airport"
    reasons = {row["reason"] for row in loaded.quarantine}
    ends = "src (column 'src_id')", "dst (column 'dst_id')"
    assert reasons == {f"{what} {end}" for what in ("missing", "unknown") for end in ends}


def test_a_social_network_with_labels(spark: SparkSession, tmp_path: Path) -> None:
    folder = DATA / "ldbc-snb-sf0.1"
    names = [path.name.split(".")[0].split("_") for path in sorted(folder.glob("*_*.csv.gz"))]
    edges = {tuple(name): folder / f"{'_'.join(name)}.csv.gz" for name in names}
    loaded = load(
        spark,
        tmp_path,
        edges,
        {"Person": folder / "Person.csv.gz"},
        types={"creationDate": "timestamp", "birthday": "date"},
        formats={"creationDate": "yyyyMMddHHmmssSSS", "birthday": "yyyyMMdd"},
    )
    assert set(loaded.schema.vertex_labels) == {"Person", "Comment", "Post"}
    assert set(loaded.schema.edge_labels) == {"knows", "likes", "replyOf", "hasCreator"}
    person = loaded.vertices[0]
    assert (person["_id"], person["birthday"]) == (933, dt.date(1989, 12, 3))
    assert person["creationDate"] == dt.datetime(2010, 2, 14, 15, 32, 10, 447000, dt.UTC)
