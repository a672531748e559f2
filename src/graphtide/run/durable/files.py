"""Files of edges and vertices for live graphs, read by Arrow: CSV with a header, and Parquet.

No Spark: a batch of a few rows is to take milliseconds. What the graph knows of a column says how
its text is read, so that an id `007` stays a text where ids are texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from graphtide.model.column_types import ARROW_TYPES
from graphtide.model.columns import check_names
from graphtide.model.errors import InputError
from graphtide.model.names import given_path
from graphtide.model.schema import PropertyType
from graphtide.run.durable.records import GraphShape

_ODD_NUMBER = r"^(\s+.*|.*\s+|\+\d+|-?0\d+|-0)$"
"""A number that is not written as it would be printed: 007, +49, -0, one with blanks around it."""


def read_file_rows(
    given: str | Path, what: str, types: dict[str, pa.DataType], separator: str | None = None
) -> pa.Table:
    """All rows of a file; `types` are those of columns that are known."""
    path = given_path(given)
    if not path.is_file():
        raise InputError(f"there is no file of {what}", where=str(path), hint="check the path")
    try:
        table = _read(path, types, separator or ",")
        names = table.column_names
    except (pa.ArrowException, OSError, ValueError) as error:
        said = str(error).splitlines()[0]
        raise InputError(
            f"the {what} cannot be read: {said}",
            where=str(path),
            hint="a file is CSV with a header, or Parquet; separator ';' names another sign",
        ) from None
    check_names(f"the file of {what}", names, str(path))
    return table if _is_parquet(path) else _as_spelled(table, path, types, separator or ",")


def _read(path: Path, types: dict[str, pa.DataType], separator: str) -> pa.Table:
    return pq.read_table(path) if _is_parquet(path) else _read_csv(path, types, separator)


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in (".parquet", ".pq")


def _as_spelled(
    table: pa.Table, path: Path, types: dict[str, pa.DataType], separator: str
) -> pa.Table:
    """As in loads: a column holds numbers if whole ones are written as they would be printed.

    Arrow takes 007 for 7, which would make one vertex of two. Reads columns of numbers that nobody
    has given a type once more.
    """
    kinds = {field.name: field.type for field in table.schema if field.name not in types}
    numbers = [
        name
        for name, kind in kinds.items()
        if pa.types.is_integer(kind) or pa.types.is_floating(kind)
    ]
    texts = _read_csv(path, dict.fromkeys(numbers, pa.string()), separator, numbers)
    for name in numbers:
        if pc.any(pc.match_substring_regex(texts.column(name), _ODD_NUMBER)).as_py():
            place = table.column_names.index(name)
            table = table.set_column(place, name, texts.column(name))
    return table


def _read_csv(
    path: Path, types: dict[str, pa.DataType], separator: str, only: Sequence[str] | None = None
) -> pa.Table:
    if only is not None and not only:
        return pa.table({})
    if len(separator) != 1:
        raise InputError(f"the separator cannot be '{separator}'", hint="give one character")
    # As in loads: an empty cell is missing, "" is a text, and so are `NA` and `null`, which Arrow
    # takes for missing unless it is told.
    convert = pa_csv.ConvertOptions(
        column_types=types,
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        include_columns=only,
    )
    parse = pa_csv.ParseOptions(delimiter=separator, newlines_in_values=True)
    return pa_csv.read_csv(path, parse_options=parse, convert_options=convert)


def edge_types(shape: GraphShape) -> dict[str, pa.DataType]:
    ends = dict.fromkeys((shape.src, shape.dst), ARROW_TYPES[shape.ids])
    return ends | _known(shape.edge_types.items())


def vertex_types(shape: GraphShape) -> dict[str, pa.DataType]:
    return {"id": ARROW_TYPES[shape.ids]} | _known(shape.vertex)


def _known(items: Iterable[tuple[str, str]]) -> dict[str, pa.DataType]:
    """The known types, except dates and timestamps, which Arrow recognizes itself."""
    return {name: ARROW_TYPES[kind] for name, kind in items if not PropertyType(kind).is_time}
