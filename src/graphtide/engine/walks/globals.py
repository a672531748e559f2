"""What the accumulators of the whole graph hold, as values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.synchronous.row_layout import Column
from graphtide.kernels.summaries.exact_sums import LIMBS, LOWEST_BIT
from graphtide.kernels.walks.sums import INFINITIES
from graphtide.plan.expressions import FLOAT, INT
from graphtide.plan.programs import Accumulator, AccumulatorKind

Int64 = NDArray[np.int64]
_KINDS = AccumulatorKind
_MASK = 2**64 - 1


def global_reader(column: Column, settings: Mapping[str, Any]) -> Callable[[Int64], Any]:
    """What reads a number, or an array of them, from the row of the whole graph."""
    item = column.item
    assert isinstance(item, Accumulator)
    first = column.offset.value(dict(settings))
    if item.size is None:
        if column.words == 1 and item.type is INT:
            return lambda words: int(words[first])
        return lambda words: _element(words[first : first + column.words], item)
    length = int(settings[item.size]) if isinstance(item.size, str) else item.size

    def read(words: Int64) -> Any:
        parts = words[first : first + column.words * length].reshape(length, column.words)
        return np.array([_element(part, item) for part in parts], _dtype(item))

    return read


def _dtype(item: Accumulator) -> Any:
    return {"int": np.int64, "float": np.float64, "bool": np.bool_}[item.type.value]


def _element(words: Int64, item: Accumulator) -> Any:
    match item.kind:
        case _KINDS.OR:
            return bool(words[0] > 0)
        case _KINDS.AND:
            return bool(words[0] == 0)
        case _KINDS.SUM if item.type is FLOAT:
            return _exact_sum(words)
        case _KINDS.PRODUCT if item.type is FLOAT:
            return _product(words)
        case _KINDS.PRODUCT:
            return _whole_product(words)
        case _ if item.type is FLOAT:
            return float(words.view(np.float64)[0])
        case _:
            return int(words[0])


def _exact_sum(words: Int64) -> float:
    """Limbs as the nearest float, and what was sent that is no number."""
    many, few, none = (int(word) for word in words[INFINITIES : INFINITIES + 3])
    if none or (many and few):
        return math.nan
    if many or few:
        return math.inf if many else -math.inf
    total = sum(int(limb) << (32 * at) for at, limb in enumerate(words[:LIMBS]))
    try:
        return float(Fraction(total, 1 << -LOWEST_BIT))
    except OverflowError:
        return math.inf if total > 0 else -math.inf


def _product(words: Int64) -> float:
    mantissa, power, zeros = float(words.view(np.float64)[0]), int(words[2]), int(words[3])
    if zeros > 0:
        return mantissa * 0.0
    if not math.isfinite(mantissa):
        return mantissa
    try:
        return math.ldexp(mantissa, power)
    except OverflowError:
        return math.copysign(math.inf, mantissa)


def _whole_product(words: Int64) -> int:
    odd, power, zeros = (int(word) for word in words[:3])
    if zeros > 0 or power > 63:
        return 0
    return int(np.uint64((odd << power) & _MASK).astype(np.int64))
