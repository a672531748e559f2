"""Types that are said, formats, units and time zones."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pandas
import pytest
from pyspark.sql import SparkSession

from graphtide.model.errors import InputError
from tests.spark.loading import Loaded, load

pytestmark = pytest.mark.spark


def load_values(spark: SparkSession, root: Path, values: list[str], **options: Any) -> Loaded:
    """Edges 0-0, 1-1, ... with the values as property x; bad ones set aside."""
    lines = [f"{place},{place},{value}" for place, value in enumerate(values)]
    (root / "e.csv").write_text("\n".join(["src,dst,x", *lines]))
    return load(spark, root, root / "e.csv", on_bad_rows="quarantine", **options)


def load_columns(
    spark: SparkSession, root: Path, columns: dict[str, list[str]], **options: Any
) -> Loaded:
    """An edge for each text, with it as the property that it stands below; bad ones set aside.

    One load for all of them: each costs Spark a second or two.
    """
    lines = [["src", "dst", *columns]]
    for at, texts in enumerate(columns.values()):
        for text in texts:
            place = str(len(lines))
            cells = [""] * len(columns)
            cells[at] = text
            lines.append([place, place, *cells])
    (root / "e.csv").write_text("\n".join(map(",".join, lines)))
    return load(spark, root, root / "e.csv", on_bad_rows="quarantine", **options)


def present(values: list[Any]) -> list[Any]:
    return [value for value in values if value is not None]


def utc(*parts: int) -> dt.datetime:
    return dt.datetime(*parts, tzinfo=dt.UTC)  # type: ignore[arg-type]


# For each type that is said: texts, and what they are; a text that is not of the type is None.
SAID: list[tuple[str, dict[str, Any]]] = [
    (
        "int",
        {
            "7": 7,
            " 007": 7,
            "2.0": 2,
            "-3.": -3,
            ".0": None,
            "+5": 5,
            "1.5": None,
            "x": None,
            str(2**63): None,
            "1e3": None,
        },
    ),
    (
        "float",
        {"7": 7.0, "1e3": 1000.0, ".5": 0.5, "-inf": float("-inf"), "1d": None, "0x1": None},
    ),
    ("bool", {"yes": True, "T": True, "1": True, "n": False, "0": False, "2": None}),
    (
        "date",
        {"2020-02-29": dt.date(2020, 2, 29), "2020-1-5": dt.date(2020, 1, 5)}
        | {"2021-02-29": None, "2020": None, "0000-01-01": None},
    ),
    ("unix_seconds", {"0": utc(1970, 1, 1), "1.5": utc(1970, 1, 1, 0, 0, 1, 500000), "1e30": None}),
    ("unix_millis", {"1254192988123": utc(2009, 9, 29, 2, 56, 28, 123000), "-": None}),
    ("unix_micros", {"-1": dt.datetime(1969, 12, 31, 23, 59, 59, 999999, dt.UTC)}),
]


def test_what_is_said_is_read_so_or_set_aside(spark: SparkSession, tmp_path: Path) -> None:
    texts = {f"x_{type_}": list(cases) for type_, cases in SAID}
    loaded = load_columns(spark, tmp_path, texts, types={f"x_{type_}": type_ for type_, _ in SAID})
    aside = [(row["text"].split(","), row["reason"]) for row in loaded.quarantine]
    for place, (type_, cases) in enumerate(SAID):
        assert present(loaded.column(f"x_{type_}")) == present(list(cases.values()))
        found = [(cells[2 + place], reason) for cells, reason in aside if cells[2 + place]]
        reason = f"'x_{type_}' is not of type {type_}"
        more = {"-": ", but '-'"}
        bad = [text for text, value in cases.items() if value is None]
        assert found == [(text, reason + more.get(text, "")) for text in bad]


ZONED = {
    "2020-07-01 12:00": utc(2020, 7, 1, 10),
    "2020-01-01T12:00:00.123456": utc(2020, 1, 1, 11, 0, 0, 123456),
    "2020-07-01T12:00:00Z": utc(2020, 7, 1, 12),
    "2020-07-01T12:00:00+0530": utc(2020, 7, 1, 6, 30),
    "2020-07-01 12:00:00-03": utc(2020, 7, 1, 15),
    "2020-07-01": utc(2020, 6, 30, 22),
    # This time does not exist: clocks went from 2 to 3. It moves forward by the gap.
    "2020-03-29 02:30:00": utc(2020, 3, 29, 1, 30),
    # This one comes twice: the earlier is meant.
    "2020-10-25 02:30:00": utc(2020, 10, 25, 0, 30),
}


@pytest.mark.parametrize("said", [True, False])
def test_timestamps_without_offset_are_of_the_zone_of_the_load(
    spark: SparkSession, tmp_path: Path, said: bool
) -> None:
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        types = {"x": "timestamp"} if said else {}
        loaded = load_values(spark, tmp_path, list(ZONED), timezone="Europe/Berlin", types=types)
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)
    assert loaded.types() == {"x": "timestamp"}
    assert loaded.column("x") == list(ZONED.values())
    assert loaded.summary.timezone == "Europe/Berlin"


AT = utc(2010, 4, 22, 10, 30, 57, 947000)


FORMATS: list[tuple[str, str, str, Any]] = [
    ("timestamp", "yyyyMMddHHmmssSSS", "20100422123057947", AT),
    ("timestamp", "dd.MM.yyyy HH:mm:ss.SSS", "22.04.2010 12:30:57.947", AT),
    ("timestamp", "dd/MM/yyyy HH:mm XXX", "01/07/2020 12:00 +05:00", utc(2020, 7, 1, 7)),
    ("date", "yyyyMMdd", "19891203", dt.date(1989, 12, 3)),
]


def test_formats(spark: SparkSession, tmp_path: Path) -> None:
    loaded = load_columns(
        spark,
        tmp_path,
        {f"x{at}": [text, "nonsense"] for at, (_, _, text, _) in enumerate(FORMATS)},
        types={f"x{at}": type_ for at, (type_, _, _, _) in enumerate(FORMATS)},
        formats={f"edges.x{at}": format for at, (_, format, _, _) in enumerate(FORMATS)},
        timezone="Europe/Berlin",
    )
    for at, (_, _, _, value) in enumerate(FORMATS):
        assert present(loaded.column(f"x{at}")) == [value]
    assert len(loaded.quarantine) == len(FORMATS)


def test_old_and_late_days_are_as_python_counts_them(spark: SparkSession, tmp_path: Path) -> None:
    days = ["0001-01-01", "1500-02-28", "1582-10-10", "1900-01-01", "9999-12-31"]
    loaded = load_values(spark, tmp_path, days)
    assert loaded.column("x") == [dt.date.fromisoformat(day) for day in days]
    times = load_values(spark, tmp_path, [f"{day}T12:00:00" for day in days])
    assert times.column("x") == [
        dt.datetime.fromisoformat(f"{day}T12:00:00").replace(tzinfo=ZoneInfo("UTC")) for day in days
    ]


def test_no_inference_if_not_wanted(spark: SparkSession, tmp_path: Path) -> None:
    loaded = load_values(spark, tmp_path, ["1", "2"], infer_types=False)
    assert (loaded.types(), loaded.schema.id_type) == ({"x": "string"}, "string")


def test_one_name_in_both_tables_may_be_of_two_types(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("src,dst,x\n1,1,5\n")
    (tmp_path / "v.csv").write_text("id,x\n1,6\n")
    loaded = load(
        spark,
        tmp_path,
        tmp_path / "e.csv",
        tmp_path / "v.csv",
        types={"edges.x": "string", "vertices.x": "float"},
    )
    assert (loaded.column("x"), loaded.vertices[0]["x"]) == (["5"], 6.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"types": {"x": "colour"}}, "unknown property type 'colour'"),
        ({"types": {"y": "int"}}, "types names the column 'y', which no table has"),
        ({"types": {"x": "int"}, "formats": {"x": "yyyy"}}, "a format needs the type date"),
        ({"types": {"x": "date"}, "formats": {"x": "bogus"}}, "bogus"),
    ],
)
def test_types_that_cannot_be(
    spark: SparkSession, tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        load_values(spark, tmp_path, ["1"], **options)


class TestIdsOfIntsAndFloats:
    """A missing id turns a column of ints into floats: 2.0 is the vertex 2."""

    def test_a_frame_with_a_missing_id(self, spark: SparkSession, tmp_path: Path) -> None:
        frame = pandas.DataFrame({"src": [1, 2, 3], "dst": [2.0, 3.0, None]})
        loaded = load(spark, tmp_path, frame, on_bad_rows="quarantine")
        assert sorted(loaded.ids()) == [1, 2, 3]
        assert [row["reason"] for row in loaded.quarantine] == ["missing dst"]

    def test_a_fraction_is_refused_with_its_row(self, spark: SparkSession, tmp_path: Path) -> None:
        rows = [{"src": 1, "dst": 2.5}, {"src": 2, "dst": 1.0}]
        with pytest.raises(InputError, match="not of type int"):
            load(spark, tmp_path, rows)

    def test_texts_of_both_are_refused(self, spark: SparkSession, tmp_path: Path) -> None:
        frame = pandas.DataFrame({"src": [1, 2], "dst": [2.0, 3.0]})
        with pytest.raises(InputError, match=r"as a text 2\.0 is not 2"):
            load(spark, tmp_path, frame, types={"src": "string", "dst": "string"})

    def test_a_file_with_both_asks_which_is_meant(
        self, spark: SparkSession, tmp_path: Path
    ) -> None:
        (tmp_path / "e.csv").write_text("src,dst\n1,2.0\n2,3.0\n3,\n")
        with pytest.raises(InputError, match="numbers with a fraction") as refused:
            load(spark, tmp_path, tmp_path / "e.csv")
        assert "types={'dst': 'int'}" in str(refused.value)
        loaded = load(
            spark, tmp_path, tmp_path / "e.csv", types={"dst": "int"}, on_bad_rows="quarantine"
        )
        assert sorted(loaded.ids()) == [1, 2, 3]


def mixed(count: int, value: str, *others: str) -> list[str]:
    """So many times one value, with others in between."""
    return [value] * (count - len(others)) + list(others)


# For each column: its texts, the type that it has, how many rows are bad, and whether it is told.
NEARLY: dict[str, tuple[list[str], str, int, str | None]] = {
    "amount": (mixed(100, "1.5", "abc"), "float", 1, None),
    "day": (mixed(100, "2025-02-28", "2025-02-30"), "date", 1, None),
    "at": (mixed(100, "2025-02-28 10:00", "2025-02-28", "soon"), "timestamp", 1, None),
    "flag": (mixed(100, "true", "maybe"), "bool", 1, None),
    "twentieth": (mixed(100, "7", *["x"] * 5), "int", 5, None),
    "more": (mixed(100, "7", *["x"] * 6), "string", 0, "94 of 100 values are of type int"),
    "half": (mixed(100, "12", *["A12"] * 50), "string", 0, None),
    "zip": (mixed(100, "12345", "01234"), "string", 0, "'01234'"),
    "priced": (mixed(100, "1.5", "007"), "float", 0, None),
    "large": (mixed(100, "7", str(2**64)), "int", 1, None),
    "decimals": (mixed(100, "7", "7.5"), "float", 0, None),
    "gaps": (mixed(100, "7", *["NA"] * 40), "int", 40, None),
    "country": (mixed(100, "FR", *["NA"] * 40), "string", 0, None),
    "nothing": (["NA"] * 100, "string", 0, None),
}


def test_nearly_all_values_decide(spark: SparkSession, tmp_path: Path) -> None:
    lines = [",".join([str(at), str(at), *row]) for at, row in enumerate(_rows(NEARLY))]
    file = tmp_path / "e.csv"
    file.write_text("\n".join([",".join(["src", "dst", *NEARLY]), *lines]))
    loaded = load(spark, tmp_path, file, on_bad_rows="quarantine")
    assert loaded.types() == {name: type_ for name, (_, type_, _, _) in NEARLY.items()}
    for name, (texts, _, bad, told) in NEARLY.items():
        column = list(NEARLY).index(name) + 2
        aside = [row["text"].split(",")[column] for row in loaded.quarantine]
        assert [text for text in aside if 0 < texts.count(text) <= 40] or not bad
        notes = [note for note in loaded.summary.notes if note.startswith(f"'{name}' is text")]
        assert bool(notes) is (told is not None)
        assert told is None or told in notes[0]
    (note,) = (note for note in loaded.summary.notes if "'more'" in note)
    assert f"not {file}, line 96: 'x'; {file}, line 97: 'x'; " in note
    assert "and 3 more" in note
    assert "types={'more': 'int'}" in note


def _rows(columns: dict[str, tuple[list[str], str, int, str | None]]) -> list[list[str]]:
    return [[texts[at] for texts, *_ in columns.values()] for at in range(100)]


def test_refusals_name_what_may_have_been_meant(spark: SparkSession, tmp_path: Path) -> None:
    values = [*["7"] * 60, *["n/a"] * 3, "abc"]
    with pytest.raises(InputError) as refused:
        load_refusing(spark, tmp_path, values)
    text = str(refused.value)
    assert "4 bad edge rows" in text
    assert "3 × 'x' is not of type int, but 'n/a'" in text
    assert "line 65: 'x' is not of type int: 63,63,abc" in text
    assert "null_values=['n/a']" in text
    assert "types={'x': 'string'}" in text
    loaded = load_values(spark, tmp_path, values, null_values=["n/a"])
    assert (loaded.types(), len(loaded.quarantine)) == ({"x": "int"}, 1)
    assert loaded.column("x").count(None) == 3


def load_refusing(spark: SparkSession, root: Path, values: list[str], **options: Any) -> Loaded:
    """As `load_values`, with bad rows refused."""
    lines = [f"{place},{place},{value}" for place, value in enumerate(values)]
    (root / "e.csv").write_text("\n".join(["src,dst,x", *lines]))
    return load(spark, root, root / "e.csv", **options)


def test_an_id_of_another_kind_is_a_bad_row(spark: SparkSession, tmp_path: Path) -> None:
    lines = [f"{at},{at + 1}" for at in range(40)]
    file = tmp_path / "e.csv"
    file.write_text("\n".join(["src,dst", *lines, "total,40"]))
    loaded = load(spark, tmp_path, file, on_bad_rows="quarantine")
    assert loaded.schema.id_type == "int"
    assert [(row["line"], row["text"]) for row in loaded.quarantine] == [(42, "total,40")]
    with pytest.raises(InputError, match=re.escape("types={'src': 'string'}")):
        load(spark, tmp_path, file)
    file.write_text("\n".join(["src,dst", *lines, "007,40"]))
    coded = load(spark, tmp_path, file)
    assert coded.schema.id_type == "string"
    assert "line 42: '007'" in coded.summary.notes[0]


def test_at_most_so_many_bad_rows(spark: SparkSession, tmp_path: Path) -> None:
    values = [*["7"] * 180, *["x"] * 20]
    given: dict[str, Any] = {"types": {"x": "int"}}
    with pytest.raises(InputError, match=r"20 of 200 edge rows are bad, more than at_most=0\.05"):
        load_refusing(spark, tmp_path, values, at_most=0.05, **given)
    loaded = load_refusing(spark, tmp_path, values, at_most=20, **given)
    assert len(loaded.quarantine) == 20
    loaded = load_refusing(spark, tmp_path, values, on_bad_rows="quarantine", at_most=None, **given)
    assert len(loaded.quarantine) == 20
    values.append("x")
    with pytest.raises(InputError, match="more than the tenth that may be set aside") as refused:
        load_refusing(spark, tmp_path, values, on_bad_rows="quarantine", at_most=None, **given)
    assert "at_most='11%'" in str(refused.value)
