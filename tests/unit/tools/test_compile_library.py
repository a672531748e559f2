"""A wheel ships what all roles of all programs need: the tool that uses each of them once works."""

from __future__ import annotations

import pytest

from graphtide import algorithms
from tools import compile_library

pytestmark = pytest.mark.interpreted


@pytest.mark.parametrize("name", ["FirstAncestor", "ShortestPaths", "ConvergedPageRank"])
def test_a_program_is_used_in_all_its_roles(name: str) -> None:
    program = dict(compile_library.programs())[name]
    compile_library.exercise(program)
    compile_library.exercise_lean(program)


def test_every_program_of_the_library_is_among_those_that_are_used() -> None:
    callables = {name for name in algorithms.__all__ if callable(getattr(algorithms, name))}
    assert {name for name, _ in compile_library.programs()} == {"FirstAncestor", *callables}
