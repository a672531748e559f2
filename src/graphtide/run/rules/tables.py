"""Facts as tables of Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from graphtide.model.errors import InputError
from graphtide.plan.rules import Relation

_TYPES = {"int": pa.int64(), "float": pa.float64(), "str": pa.string(), "bool": pa.bool_()}


def facts_table(relation: Relation, facts: Sequence[tuple[Any, ...]]) -> pa.Table:
    """One row a fact, with the columns of the relation."""
    try:
        columns = {
            name: pa.array([fact[at] for fact in facts], _TYPES[kind.value])
            for at, (name, kind) in enumerate(relation.columns)
        }
    except UnicodeEncodeError as error:
        raise InputError(
            f"{relation.name} holds half of a character, which no table can",
            where=repr(error.object),
            hint="read what the facts come from as UTF-8; facts() gives them as they are",
        ) from None
    if not columns:  # A table that is made of columns alone has no rows without any.
        return pa.Table.from_struct_array(pa.array([{}] * len(facts), pa.struct([])))
    return pa.table(columns)
