"""Programs as text, read without Python: the same plans, and nothing that is not a program."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

import graphtide.lang.python as gt
from graphtide import algorithms
from graphtide.lang.nga import nga
from graphtide.lang.python.unparse import written_program
from graphtide.model.errors import LanguageError
from tests.equivalence.random_programs.making import make_case
from tests.equivalence.random_walks.writing import write_class
from tests.unit.nga import listings
from tests.unit.programs import library, sources


def same(plan: Any) -> bool:
    return bool(written_program(gt.unparse(plan)).plan == plan)


@pytest.mark.parametrize("holder", [algorithms, library])
def test_programs_of_all_kinds(holder: Any) -> None:
    programs = [getattr(holder, name) for name in dir(holder)]
    programs = [item for item in programs if isinstance(item, gt.Program)]
    assert len(programs) > 5
    assert [item.name for item in programs if not same(item.plan)] == []


@pytest.mark.parametrize("text", [*listings.LIBRARY.values(), listings.CLUSTERING])
def test_programs_of_another_language(text: str) -> None:
    assert same(nga(text).plan)


def test_random_programs_and_walks() -> None:
    for seed in range(60):
        texts = make_case(f"text {seed}").text, write_class(random.Random(seed)).text
        for text in texts:
            assert same(sources.read(text, math=math).plan), text


CLASS = """@gt.program
class Sent:
    {body}
    n: int
    found = gt.Sum(int)

    def traverse(self, u, e, v):
        v.found({sent})

    def update(self, v):
        v.n = v.found
"""
RUNS = '__import__("os").system("touch /tmp/run")'


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", "is one class, and nothing beside it"),
        (f"{RUNS}\n{CLASS}", "is one class, and nothing beside it"),
        (f"import os\n{CLASS.format(body='', sent=1)}", "is one class"),
        (CLASS.format(body=f"x = {RUNS}", sent=1), "no part of a declaration"),
        (CLASS.format(body=f"x = gt.State(int, default={RUNS})", sent=1), "no part of a"),
        (CLASS.format(body="x = gt.session('/tmp')", sent=1), "no part of a declaration"),
        (CLASS.format(body="x = gt.__loader__", sent=1), "no part of a declaration"),
        (CLASS.format(body="x = gt.State(int, *[1])", sent=1), "no part of a declaration"),
        (CLASS.format(body="x = gt.State(**{'type': int})", sent=1), "no part of a declaration"),
        (CLASS.format(body="x = gt.Matches(**gt.Vertex)", sent=1), "no part of a declaration"),
        (CLASS.format(body="x = gt.State()", sent=1), "gt.State is not declared so"),
        (CLASS.format(body="x = gt.State(int, size=10**9)", sent=1), "no part of a declaration"),
        (CLASS.format(body="x = gt.State(gt.Sum(int))", sent=1), "values have no such type"),
        (CLASS.format(body="x = -gt.Vertex", sent=1), "no part of a declaration"),
        (CLASS.format(body=f"x: {RUNS} = 1", sent=1), "a kind that parameters cannot have"),
        (CLASS.format(body=RUNS, sent=1), "cannot stand in the body of a program"),
        (CLASS.format(body="import os", sent=1), "cannot stand in the body of a program"),
        (CLASS.format(body="", sent=RUNS), "a program cannot call"),
        (CLASS.format(body="", sent="print(1)"), "a program cannot call print"),
        (CLASS.format(body="", sent="open"), "nothing here is called 'open'"),
        (CLASS.format(body="", sent="(lambda: 1)()"), "a program cannot call"),
        (CLASS.format(body="", sent="-" * 5000 + "1"), "too deeply nested|cannot be read"),
        (CLASS.format(body="", sent="(" * 500 + "1" + ")" * 500), "cannot be read"),
        (
            CLASS.format(body="", sent=" + ".join(["v.id"] * 5000)),
            "too deeply nested|cannot be read",
        ),
        (CLASS.format(body="", sent="9" * 5000), "cannot be read"),
        (CLASS.format(body="", sent="1\0"), "cannot be read"),
        (CLASS.format(body="", sent="1") + " " * (1 << 20), "at most 1,048,576 characters"),
        (f"@gt.program\n@{RUNS}\n{CLASS.format(body='', sent=1)[12:]}", "no decorators but"),
        (CLASS.format(body="", sent=1).replace("Sent:", f"Sent(metaclass={RUNS}):"), "build on"),
        (CLASS.format(body="", sent=1).replace("(self, v)", f"(self, v={RUNS})"), "2 arguments"),
        (
            CLASS.format(body="", sent=1).replace("def update", f"@{RUNS}\n    def update"),
            "take no",
        ),
    ],
)
def test_what_is_no_program_is_refused(text: str, wanted: str) -> None:
    with pytest.raises(LanguageError, match=wanted):
        written_program(text)
