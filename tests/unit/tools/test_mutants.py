"""Every mutant can be made, and is told from the others by its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.mutants import ROOT, Mutant, mutated, read_mutants

MUTANTS = read_mutants()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda item: item.name)
def test_a_mutant_has_its_place_in_the_sources(mutant: Mutant) -> None:
    text = (ROOT / "src" / mutant.file).read_text("utf-8")
    assert mutated(text, mutant) != text
    for test in mutant.tests:
        assert Path(ROOT, test.split("::")[0]).exists(), test


def test_names_are_unique() -> None:
    assert len({item.name for item in MUTANTS}) == len(MUTANTS)
