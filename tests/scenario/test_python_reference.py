"""The reference of the Python interface names everything that is public, and nothing else."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import pytest

import graphtide as gt
from graphtide.spark.ingest.options import SYNONYMS, IngestOptions, LoadOptions
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
    """The signature without annotations, as a reader types it; options of a load as `**options`."""
    whole = inspect.signature(function)
    if hasattr(function, "__signature__"):
        annotations = inspect.get_annotations(function)
        known = [item for item in whole.parameters.values() if item.name in {"self", *annotations}]
        options = inspect.Parameter("options", inspect.Parameter.VAR_KEYWORD)
        whole = whole.replace(parameters=[*known, options])
    plain = [
        item.replace(annotation=inspect.Parameter.empty)
        for item in whole.parameters.values()
        if item.name != "self"
    ]
    text = str(inspect.Signature(plain))
    return text.replace("'", '"')


def test_help_shows_the_options_of_a_load() -> None:
    options = {item.name for item in fields(IngestOptions)} - {"known", "hints", "directed"}
    known = set(LoadOptions.__annotations__) - {"hints"}
    assert known == options | set(SYNONYMS), "editors show what there is"
    for function in (gt.Session.load, gt.CatalogGraph.append):
        shown = inspect.signature(function).parameters
        assert options <= set(shown)
        assert shown["timezone"].default == "UTC"
        assert not any(item.kind is item.VAR_KEYWORD for item in shown.values())


def public_objects() -> Iterator[tuple[str, Any]]:
    """Everything that `help` is asked about: what `gt` has, and what that has."""
    for name in gt.__all__:
        found = getattr(gt, name)
        yield f"gt.{name}", found
        if inspect.isclass(found) or inspect.ismodule(found):
            public = (member for member in dir(found) if not member.startswith("_"))
            yield from ((f"gt.{name}.{member}", getattr(found, member)) for member in public)


def test_help_names_pages_of_the_site() -> None:
    """By the titles that its navigation shows: whoever has no clone has no `docs/`."""
    titles = re.findall(r"^ +- \"?([^\n]+?)\"?: \S+\.md$", (ROOT / "mkdocs.yml").read_text(), re.M)
    named = set()
    for name, found in public_objects():
        text = " ".join((inspect.getdoc(found) or "").split())
        assert "docs/" not in text, name
        assert not re.search(r"\w\.md\b", text), name
        named |= {(name, title) for title in re.findall(r'the page "([^"]+)"', text, re.I)}
    assert len(named) >= 5
    assert [item for item in named if item[1] not in titles] == []
