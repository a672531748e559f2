"""Tables on the command line become what `session.load` takes."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from graphtide.cli.load import BadRows, LoadCommand, ingest_options, spread_files, tables_of
from graphtide.model.errors import InputError


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("Calls --edges a b c", "Calls --edges a --edges b --edges c"),
        ("Calls --edges a --vertices b c", "Calls --edges a --vertices b --vertices c"),
        ("Calls --edges a b --id x", "Calls --edges a --edges b --id x"),
        ("Calls --edges a --header b", "Calls --edges a --header b"),
        ("--edges a Calls", "--edges a Calls"),
        ("--edges a Calls b", "--edges a Calls b"),
        ("--data x --header Calls --edges a b", "--data x --header Calls --edges a --edges b"),
        ("--data=x Calls --edges a b", "--data=x Calls --edges a --edges b"),
        ("Calls", "Calls"),
    ],
)
def test_an_option_takes_all_files_behind_it(given: str, expected: str) -> None:
    assert spread_files(given.split(), {"--header"}) == expected.split()


def test_files_without_labels_are_one_table() -> None:
    assert tables_of("edges", ["a.csv", "b/*.csv"]) == ["a.csv", "b/*.csv"]


def test_labels_of_vertices() -> None:
    tables = tables_of("vertices", ["Person=p1.csv", "Person=p2.csv", "City=c.csv"])
    assert tables == {"Person": ["p1.csv", "p2.csv"], "City": ["c.csv"]}


def test_labels_of_edges_may_name_their_ends() -> None:
    given = ["Person-knows-Person=k.csv", "Person-works-at-Firm=w.csv", "likes=l.csv", "r-t=x.csv"]
    assert tables_of("edges", given) == {
        ("Person", "knows", "Person"): ["k.csv"],
        ("Person", "works-at", "Firm"): ["w.csv"],
        "likes": ["l.csv"],
        "r-t": ["x.csv"],
    }


def test_a_file_with_an_equals_sign_is_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("year=2010").touch()
    assert tables_of("edges", ["year=2010"]) == ["year=2010"]
    assert tables_of("edges", ["data/year=2010/*.csv"]) == ["data/year=2010/*.csv"]


def test_some_labels_and_some_not_is_an_error() -> None:
    with pytest.raises(InputError, match="has no label"):
        tables_of("edges", ["knows=a.csv", "b.csv"])


def test_what_is_not_said_is_left_to_the_api() -> None:
    assert ingest_options(LoadCommand(name="g", edges=["e.csv"])) == {}


def test_every_option_of_a_load_can_be_said() -> None:
    said = LoadCommand(
        name="g",
        edges=["e.csv"],
        on_bad_rows=BadRows.QUARANTINE,
        at_most="5%",
        id="i",
        src="s",
        dst="d",
        label="l",
        edge_label="el",
        drop=["x"],
        type=["year=int"],
        format=["day=dd.MM.yyyy"],
        timezone="Europe/Berlin",
        header=False,
        separator="tab",
        comment="#",
        quote="none",
        escape="\\",
        multiline=True,
        null=["NA"],
        vertex_columns="id, name",
        edge_columns="src,dst",
        infer_types=False,
    )
    from graphtide.spark.ingest.options import IngestOptions

    options = ingest_options(said)
    known = {item.name for item in fields(IngestOptions)}
    own = {"hints", "known", "directed"}
    assert set(options) == known - own, "which the command says itself"
    assert IngestOptions(**options) == IngestOptions(
        at_most=0.05,
        id="i",
        src="s",
        dst="d",
        label="l",
        edge_label="el",
        header=False,
        separator="\t",
        comment="#",
        quote=None,
        escape="\\",
        multiline=True,
        vertex_columns=("id", "name"),
        edge_columns=("src", "dst"),
        types={"year": "int"},
        formats={"day": "dd.MM.yyyy"},
        infer_types=False,
        null_values=("NA",),
        drop=("x",),
        timezone="Europe/Berlin",
        on_bad_rows="quarantine",
    )
