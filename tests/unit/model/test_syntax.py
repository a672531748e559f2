"""Texts of Python are parsed by any number of threads."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from graphtide.model.syntax import parsed


@pytest.fixture
def _many_turns() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("_many_turns")
def test_several_threads_parse_at_once() -> None:
    text = "".join(f"def f{n}(x):\n    return [(x + {n}) * [k for k in x]]\n" for n in range(60))
    with ThreadPoolExecutor(4) as threads:
        trees = list(threads.map(parsed, [text] * 24))
    assert {len(tree.body) for tree in trees} == {60}
