"""A catalog for tests that need no Spark to fill it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scenario.stored import write_catalog


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_catalog(tmp_path / "data").root
