"""What a campaign on interpreted kernels needs, so that they compute as compiled ones do."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from graphtide.engine import code
from graphtide.engine import source as write
from graphtide.engine.source import constant_text
from graphtide.engine.synchronous import facts
from graphtide.kernels.synchronous import sums
from tests.oracle.class_runs import LONGEST


def interpreted() -> bool:
    from numba import config

    return bool(vars(config)["DISABLE_JIT"])


def make_ready(put: Callable[[Any, str, Any], None] = setattr) -> None:
    """Have interpreted kernels compute as compiled ones; nothing where they are compiled.

    Runs that never end are given up early: interpreted, 100,000 iterations take minutes. Python's
    own numbers, and `ldexp`, raise where those of a machine do not, so NumPy's take their
    place. `put` is `setattr`, or what undoes itself.
    """
    if not interpreted():
        return
    put(sums, "math", SimpleNamespace(**{**vars(math), "ldexp": np.ldexp}))
    put(facts, "MOST_ITERATIONS", 3 * LONGEST)
    put(write, "constant_text", _machine_constant)
    made = code.generated_module

    def product_of_ints(*place: Any) -> Any:
        return np.int64(sums.product_of_ints(*place))

    def product_of_floats(*place: Any) -> Any:
        return np.float64(sums.product_of_floats(*place))

    def with_machine_numbers(source: str, name: str) -> Any:
        module = made(source, name)
        products = {"product_of_ints": product_of_ints, "product_of_floats": product_of_floats}
        vars(module).update(float=np.float64, int=np.int64, **products)
        return module

    put(code, "generated_module", with_machine_numbers)
    code.program_code.cache_clear()


def _machine_constant(value: float, type_: str) -> str:
    """A constant of NumPy's, as the product writes those of Python."""
    text = constant_text(value, type_)
    return text if type_ == "bool" else f"np.{type_}64({text})"
