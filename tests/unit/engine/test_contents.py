"""Kernels of generated modules are known by what they say, with all that they name."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from graphtide.engine.code import contents, generated_module
from graphtide.kernels import jit

SOURCE = '''
import math
from graphtide.kernels.jit import inner_kernel, kernel

WIDTH = 2
OTHER = 5


@inner_kernel
def own(number: int) -> int:
    """What a program says."""
    return number + OTHER


@inner_kernel
def wide(number: int) -> int:
    """What it does not."""
    return number * WIDTH


@kernel
def outer(number):
    return own(wide(number))


@kernel
def apart(numbers):
    total = 0
    for number in numbers:
        total += wide(number)
    return total
'''

compiled = pytest.mark.skipif(
    not jit.KEEPS or "NUMBA_DISABLE_JIT" in os.environ, reason="nothing is kept"
)


def changed(old: str, new: str) -> set[str]:
    """The functions that say something else once a text is replaced."""
    assert old in SOURCE
    before, after = contents(SOURCE), contents(SOURCE.replace(old, new))
    return {name for name in before if before[name] != after[name]}


def test_who_reaches_a_change_says_something_else() -> None:
    assert changed("number + OTHER", "number - OTHER") == {"own", "outer"}
    assert changed("OTHER = 5", "OTHER = 6") == {"own", "outer"}
    assert changed("WIDTH = 2", "WIDTH = 3") == {"wide", "outer", "apart"}
    assert changed("total = 0", "total = 1") == {"apart"}


def test_a_decorator_and_where_it_comes_from_count() -> None:
    assert changed("@inner_kernel\ndef own", "@kernel\ndef own") == {"own", "outer"}
    assert changed("kernels.jit import", "kernels.others import") == set(contents(SOURCE))


def test_words_about_a_kernel_do_not_count() -> None:
    assert changed("What a program says.", "Something else.") == set()
    assert changed("(number: int) -> int", "(number: float) -> float") == set()
    assert changed("import math", "import itertools") == set()


def test_a_name_that_is_bound_twice_counts_with_both() -> None:
    assert changed("OTHER = 5\n", "OTHER = 5\nWIDTH = 7\n") == {"wide", "outer", "apart"}


@compiled
def test_kernels_that_say_the_same_are_one_and_others_are_not() -> None:
    """Though they have the same name, and one process has them all."""
    one = generated_module(SOURCE, "one")
    other = generated_module(SOURCE.replace("OTHER = 5", "OTHER = 50"), "other")
    assert one.apart is other.apart
    assert one.outer is not other.outer
    assert (one.outer(3), other.outer(3), one.outer(3)) == (11, 56, 11)
    assert one.apart(np.arange(4)) == 12


FRESH = """
import sys
import numpy as np
from graphtide.engine.code import generated_module
module = generated_module(sys.argv[1], sys.argv[2])
print(module.outer(3), module.apart(np.arange(4)))
print(*(sum(kernel.stats.cache_hits.values()) for kernel in (module.outer, module.apart)))
"""


@compiled
def test_another_program_finds_what_it_shares_on_disk(tmp_path: Path) -> None:
    """And nothing else: `outer` of the first program is not taken for that of the second."""
    told = []
    for name, other in (("one", "5"), ("other", "50")):
        source = SOURCE.replace("OTHER = 5", f"OTHER = {other}")
        environment = {**os.environ, "GRAPHTIDE_CACHE": str(tmp_path / "cache")}
        made = subprocess.run(
            [sys.executable, "-c", FRESH, source, name],
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        )
        told.append(made.stdout.split())
    assert told == [["11", "12", "0", "0"], ["56", "12", "0", "1"]]
