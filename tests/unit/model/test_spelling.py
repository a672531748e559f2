"""Hints name what is near, and nothing that is not."""

from __future__ import annotations

import pytest

from graphtide.model.names import slips_between
from graphtide.model.schema import GraphSchema, Property, PropertyType, closest

NEAR = [
    ("Fligths", "Flights"),
    ("flights", "Flights"),
    ("page-rank", "page_rank"),
    ("LHX", "LHR"),
    ("yaer", "year"),
    ("comp", "components"),
    ("2019", "upto-2019"),
]
FAR = [
    ("carrier", "year"),
    ("price", "place"),
    ("BA", "id"),
    ("xyz", "year"),
    ("Heathrow", "LHR"),
    ("colour", "country"),
    ("weather", "year"),
    ("state", "date"),
]


@pytest.mark.parametrize(("name", "known"), NEAR)
def test_slips_and_parts_are_near(name: str, known: str) -> None:
    assert closest(name, ["unlike anything", known]) == known


@pytest.mark.parametrize(("name", "known"), FAR)
def test_what_only_shares_letters_is_far(name: str, known: str) -> None:
    assert closest(name, [known]) is None


def test_the_nearest_goes_first() -> None:
    assert closest("upto-2091", ["upto", "upto-2000", "upto-2019"]) == "upto-2019"
    assert closest("bfs", ["BFSX", "BFS"]) == "BFS"


@pytest.mark.parametrize(
    ("one", "other", "slips"),
    [("", "", 0), ("ab", "ba", 1), ("abc", "abd", 1), ("abc", "xabc", 1), ("abcd", "badc", 2)],
)
def test_slips_are_counted(one: str, other: str, slips: int) -> None:
    assert slips_between(one, other, 3) == slips_between(other, one, 3) == slips


def test_a_schema_is_readable() -> None:
    number, text = PropertyType.INT, PropertyType.STRING
    schema = GraphSchema(text, (Property("city", text),), (Property("year", number),), ("Port",))
    assert str(schema).splitlines() == [
        "ids: string",
        "vertex properties: city: string",
        "edge properties: year: int",
        "vertex labels: Port",
    ]
    assert "PropertyType" not in repr(schema)
