"""CONTRIBUTING tells the truth about the packages: its layers, its table, and who imports what."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_the_layers_are_those_that_are_checked() -> None:
    (line,) = re.findall(r"^    (\w[\w |]*(?:-> [\w |]+)+)$", PAGE, re.MULTILINE)
    written = [set(layer.split(" | ")) for layer in line.split(" -> ")]
    checked = _contract("layers")["layers"]
    assert written == [set(_packages(layer.split(" | "))) for layer in checked]


def test_every_package_has_a_layer_and_a_row() -> None:
    on_disk = {path.parent.name for path in (ROOT / "src/graphtide").glob("*/__init__.py")}
    layered = [
        name for layer in _contract("layers")["layers"] for name in _packages(layer.split(" | "))
    ]
    rows = [name for cell in _column("package") for name in re.findall(r"`(\w+)`", cell)]
    assert Counter(layered) == Counter(on_disk), "[tool.importlinter] of pyproject.toml"
    assert Counter(rows) == Counter(on_disk), "the table of packages"


def test_libraries_are_imported_where_the_page_says() -> None:
    on_disk = {path.parent.name for path in (ROOT / "src/graphtide").glob("*/__init__.py")}
    for library in ("pyspark", "numba"):
        (home,) = re.findall(rf"{library}\s+is\s+imported\s+in\s+`(\w+)`\s+alone", PAGE, re.I)
        others = _contract(f"{library} is imported in {home} only")["source_modules"]
        assert set(_packages(others)) == on_disk - {home}


def test_the_glossary_has_one_row_for_a_word() -> None:
    words = [word for cell in _column("word") for word in cell.split(", ")]
    assert [word for word, count in Counter(words).items() if count > 1] == []
    assert len(words) > 30


def test_the_ways_name_modules_that_there_are() -> None:
    (ways,) = re.findall(r"^The way of one edge.*?(?=^## )", PAGE, re.MULTILINE | re.DOTALL)
    named = re.findall(r"`([\w/]+/\w+\.py)`", ways)
    assert len(named) > 20
    assert [name for name in named if not (ROOT / "src/graphtide" / name).is_file()] == []


def _column(title: str) -> list[str]:
    """The first cell of every row of all tables whose first column has that title."""
    tables = re.findall(rf"^\| {title} \|.*\n\|[-:| ]+\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    return [row.split("|")[1].strip() for table in tables for row in table.splitlines()]


def _packages(modules: list[str]) -> list[str]:
    return [module.strip().removeprefix("graphtide.") for module in modules]


def _contract(name: str) -> dict[str, Any]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    (found,) = [item for item in contracts if item["name"] == name]
    contract: dict[str, Any] = found
    return contract
