"""The reference of the Python interface names everything that is public, and nothing else."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import pytest

import graphtide as gt
from tests.scenario.pages import ROOT

pytestmark = pytest.mark.spark  # The classes of the interface import Spark.

PAGE = ROOT / "docs" / "reference" / "python.md"
CLASSES = (
    "Session",
    "CatalogGraph",
    "RowCounts",
    "Graph",
    "Live",
    "Program",
    "View",
    "Collection",
    "MemoryView",
    "MemoryCollection",
    "Step",
    "Run",
    "GraphRun",
    "Delta",
)
ATTRIBUTES = {
    "Session": {"catalog", "gateway", "progress", "current"},
    "Live": {"graph", "program"},
    "Program": {"plan"},
}
_HEADINGS = re.compile(r"^###+ (.+)$", re.MULTILINE)
_NAMES = re.compile(r"`(gt|[A-Z]\w+)\.(\w+)(\([^`]*\))?`")


def documented() -> Iterator[tuple[str, str, str]]:
    """Owner, name and written signature of everything that has a heading."""
    for heading in _HEADINGS.findall(PAGE.read_text(encoding="utf-8")):
        yield from _NAMES.findall(heading)


def public_members(name: str) -> set[str]:
    owner = getattr(gt, name)
    own = {member for member in dir(owner) if not member.startswith("_")}
    own |= ATTRIBUTES.get(name, set())
    return own | (
        {item.name for item in fields(owner) if not item.name.startswith("_")}
        if name in ("Step", "Delta", "RowCounts")
        else set()
    )


def test_every_public_name_is_documented() -> None:
    assert sorted(n for owner, n, _ in documented() if owner == "gt") == sorted(gt.__all__)


@pytest.mark.parametrize("name", CLASSES)
def test_every_member_is_documented_and_every_documented_one_exists(name: str) -> None:
    told = {member for owner, member, _ in documented() if owner == name}
    assert told == public_members(name)


def test_signatures_are_the_real_ones() -> None:
    for owner, name, written in documented():
        found = getattr(gt if owner == "gt" else getattr(gt, owner), name, None)
        if inspect.isroutine(found):
            assert written == signature(found), f"{owner}.{name}"
        else:
            assert not written, f"{owner}.{name} is not called"


def signature(function: Any) -> str:
    """The signature without annotations, as a reader types it."""
    whole = inspect.signature(function)
    plain = [
        item.replace(annotation=inspect.Parameter.empty)
        for item in whole.parameters.values()
        if item.name != "self"
    ]
    text = str(inspect.Signature(plain))
    return text.replace("'", '"')
