"""Facts as tables of Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from graphtide.plan.rules import Relation

_TYPES = {"int": pa.int64(), "float": pa.float64(), "str": pa.string(), "bool": pa.bool_()}


def facts_table(relation: Relation, facts: Sequence[tuple[Any, ...]]) -> pa.Table:
    """One row a fact, with the columns of the relation."""
    columns = {
        name: pa.array([fact[at] for fact in facts], _TYPES[kind.value])
        for at, (name, kind) in enumerate(relation.columns)
    }
    return pa.table(columns)
