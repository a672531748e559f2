"""Results as columns of Arrow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def arrow_column(values: NDArray[Any], missing: NDArray[np.bool_] | None = None) -> pa.Array:
    """Results as Arrow: arrays of a fixed size where a field is an array."""
    if values.ndim == 1:
        return pa.array(values, mask=missing)
    flat = pa.array(np.ascontiguousarray(values).reshape(-1))
    mask = None if missing is None else pa.array(missing)
    return pa.FixedSizeListArray.from_arrays(flat, values.shape[1], mask=mask)
