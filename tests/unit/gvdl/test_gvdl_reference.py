"""The reference is executed: every example parses, and the error it shows is the one you get."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from graphtide.lang.gvdl.parse import parse_script, parse_statement
from graphtide.lang.gvdl.resolve import resolve_predicate
from graphtide.lang.gvdl.statements import CreateView
from graphtide.lang.gvdl.unparse import unparse
from graphtide.model.errors import LanguageError
from graphtide.model.schema import GraphSchema, Property, PropertyType

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "gvdl.md"
BLOCKS = re.findall(r"```gvdl\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_reference_has_examples() -> None:
    assert len(BLOCKS) >= 12


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.split("\n")[0][:40])
def test_examples_parse(block: str) -> None:
    found = parse_script(block)
    assert found
    assert parse_script(";".join(map(unparse, found))) == found


def test_the_error_is_shown_as_it_is() -> None:
    shown = re.search(r"```text\n(.*?)\n```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    schema = GraphSchema(
        PropertyType.INT,
        edge=(Property("duration", PropertyType.FLOAT), Property("year", PropertyType.INT)),
    )
    statement = parse_statement("create view v where yaer > 2010")
    assert shown is not None
    assert isinstance(statement, CreateView)
    with pytest.raises(LanguageError) as caught:
        resolve_predicate(statement.predicate, schema)
    assert str(caught.value) == shown.group(1)
