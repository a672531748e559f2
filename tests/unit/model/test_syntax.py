"""Texts of Python are parsed by any number of threads."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from graphtide.model.limits import parsed


@pytest.fixture
def _turns_while_parsing() -> Iterator[None]:
    """The collector of garbage runs within the parser, and whatever it calls lets others run."""

    def let_others_run(*given: Any) -> None:
        time.sleep(1e-5)

    before = gc.get_threshold()
    gc.set_threshold(50)
    gc.callbacks.append(let_others_run)
    yield
    gc.callbacks.remove(let_others_run)
    gc.set_threshold(*before)


@pytest.mark.usefixtures("_turns_while_parsing")
def test_several_threads_parse_at_once() -> None:
    text = "".join(f"def f{n}(x):\n    return [(x + {n}) * [k for k in x]]\n" for n in range(20))
    with ThreadPoolExecutor(4) as threads:
        trees = list(threads.map(parsed, [text] * 8))
    assert {len(tree.body) for tree in trees} == {20}
