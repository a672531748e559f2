"""CSV files and edge lists as tables in memory, read by Arrow: no Spark, no store.

Separator, header and the columns of the ends are found as a load finds them. Every value counts for
the type of its column: a column has the type of nearly all its values, and rows with another value
are bad ones, which are refused or left out, never taken as text in silence. What spreadsheets and
pandas write for a missing number is missing among numbers and dates, and a text among texts.
"""

from __future__ import annotations

import datetime as dt
import io
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
from numpy.typing import NDArray

from graphtide.model.column_types import MEMORY_TYPES
from graphtide.model.columns import check_names
from graphtide.model.errors import InputError
from graphtide.model.names import given_path
from graphtide.model.schema import PropertyType
from graphtide.model.text import counted
from graphtide.spark.ingest.files import TextLayout, content_lines, find_layout
from graphtide.spark.ingest.options import WHITESPACE, IngestOptions, parse_type_spec
from graphtide.spark.ingest.roles import assign_roles
from graphtide.spark.ingest.source import Kind, TableSource

OnBadRows = Literal["refuse", "drop"]

MISSING = ("NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL", "None", "<NA>", "-")
"""What stands for a missing value among numbers, truth values and dates."""

MISFITS = 20
"""One value in so many may be none of the type that all others have."""

_SHOWN = 3
_LOOKS = {
    PropertyType.BOOL: r"^(?i:true|false)$",
    PropertyType.INT: r"^[+-]?(0|[1-9]\d{0,18})$",
    PropertyType.FLOAT: r"^[+-]?(((0|[1-9]\d{0,17})(\.\d*)?|\.\d+)([eE][+-]?\d+)?|(?i:inf))$",
    PropertyType.DATE: r"^\d{4}-\d\d-\d\d$",
    PropertyType.TIMESTAMP: r"^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$",
}
_CALLED = {
    PropertyType.BOOL: "truth value",
    PropertyType.INT: "whole number of 64 bits",
    PropertyType.FLOAT: "number",
    PropertyType.DATE: "date",
    PropertyType.TIMESTAMP: "timestamp",
}
_KEY = r"^(0|-?[1-9]\d{0,17})$"
"""A whole number as it is printed: an id 007 is a text, or one vertex would be two."""

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Reading:
    """How text files are read; what is not said is found."""

    separator: str | None = None
    header: bool | None = None
    comment: str | None = None
    encoding: str = "utf8"
    types: Mapping[str, Any] = field(default_factory=dict)
    on_bad_rows: OnBadRows = "refuse"

    def __post_init__(self) -> None:
        if self.on_bad_rows not in get_args(OnBadRows):
            raise InputError(
                f"on_bad_rows cannot be {self.on_bad_rows!r}",
                hint="'refuse' names them, 'drop' leaves them out with a warning; a stored graph "
                "sets them aside: gt.session().load(..., on_bad_rows='quarantine')",
            )

    def type_of(self, name: str) -> PropertyType | None:
        """What was said of a column: a word of loads, or a type of Python."""
        given = self.types.get(name)
        word = str(getattr(given, "__name__", given))
        return None if given is None else parse_type_spec(word).type


@dataclass(frozen=True)
class TextTable:
    """A table of a file, all as text, and the names of the columns that are ids."""

    path: Path
    kind: Kind
    texts: pa.Table
    keys: tuple[str, ...]
    layout: TextLayout
    cut: tuple[str, ...] = ()


def read_edges(
    path: str | PathLike[str],
    ends: tuple[str | None, str | None],
    vertices: Any,
    reading: Reading,
) -> tuple[pa.Table, tuple[str, str], Any]:
    """The edges of a file, the columns of their ends, and the vertices, which may be a file too."""
    edges = _read_texts(path, "edges", ends, reading)
    tables = [edges]
    if isinstance(vertices, str | PathLike):
        tables.append(_read_texts(vertices, "vertices", (None, None), reading))
    unknown = set(reading.types) - {name for table in tables for name in table.texts.column_names}
    if unknown:
        raise InputError(
            f"types names columns that are not there: {', '.join(map(str, sorted(unknown)))}",
            where=f"columns found: {', '.join(edges.texts.column_names)}",
        )
    ids = _id_type(tables, reading)
    typed = list(map(partial(_typed, ids=ids, reading=reading), tables))
    if len(typed) > 1:
        names = ["id" if name == tables[1].keys[0] else name for name in typed[1].column_names]
        vertices = typed[1].rename_columns(names)
    return typed[0], (edges.keys[0], edges.keys[1]), vertices


def _read_texts(
    given: str | PathLike[str], kind: Kind, ends: tuple[str | None, str | None], reading: Reading
) -> TextTable:
    path = given_path(given)
    if not path.is_file():
        raise InputError(
            f"there is no file of {kind}",
            where=str(path),
            hint="check the path; folders and patterns are read by gt.session().load(...)",
        )
    src, dst = ends
    header: Any = "infer" if reading.header is None else reading.header
    options = IngestOptions(
        src=src, dst=dst, separator=reading.separator, comment=reading.comment, header=header
    )
    text = _decoded(path, reading.encoding)
    lines = content_lines(iter(io.StringIO(text)), reading.comment)
    if not lines:
        raise InputError(f"the file of {kind} is empty", where=str(path))
    layout = find_layout(lines, kind, options, str(path))
    if layout.header is None and reading.header is None:
        _warn_of_first_line(lines[0].text, layout.separator, path)
    check_names(f"the file of {kind}", layout.columns, str(path))
    table = TableSource(kind, str(path))
    roles = assign_roles(table, layout.columns, options, layout.declared)
    texts, cut = _split(text, layout, reading)
    keys = tuple(key.name for key in roles.keys)
    return TextTable(path, kind, texts, keys, layout, cut)


def _warn_of_first_line(line: str, separator: str, path: Path) -> None:
    """Say that there is no header, where the first line might be one."""
    cells = line.split() if separator == WHITESPACE else line.split(separator)
    looks = pc.match_substring_regex(pa.array(cells), _LOOKS[PropertyType.FLOAT])
    if not pc.any(looks).as_py():
        warnings.warn(
            f"{path}: the first line, {line!r:.80}, is taken for a row. header=True says that it "
            "names the columns, header=False that it does not",
            UserWarning,
            stacklevel=5,
        )


def _decoded(path: Path, encoding: str) -> str:
    packed = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}.get(path.suffix.lower())
    try:
        with pa.input_stream(str(path), compression=packed) as stream:
            return str(stream.read().decode("utf-8-sig" if encoding == "utf8" else encoding))
    except (UnicodeDecodeError, LookupError) as error:
        raise InputError(
            f"the file is not {encoding}: {error}",
            where=str(path),
            hint="say what it is: encoding='latin-1', for instance",
        ) from None
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"the file cannot be read: {error}", where=str(path)) from None


def _split(text: str, layout: TextLayout, reading: Reading) -> tuple[pa.Table, tuple[str, ...]]:
    """All cells as texts, the empty ones missing; and the rows that have too few or too many."""
    names, cut = layout.columns, []
    skip = 1 if layout.header is not None else 0
    if reading.comment is not None:
        kept = (line for line in io.StringIO(text) if not line.startswith(reading.comment))
        text = "".join(kept)
    if layout.separator == WHITESPACE:
        rows = [line.split() for line in text.splitlines() if line.strip()][skip:]
        cut = [" ".join(row) for row in rows if len(row) != len(names)]
        rows = [row for row in rows if len(row) == len(names)]
        cells = [pa.array([row[at] for row in rows], pa.string()) for at in range(len(names))]
        return pa.table(cells, names=list(names)), tuple(cut)

    def odd(row: Any) -> str:
        cut.append(str(row.text))
        return "skip"

    try:
        table = pa_csv.read_csv(
            pa.BufferReader(text.lstrip("\r\n").encode()),
            pa_csv.ReadOptions(column_names=list(names), skip_rows=skip),
            pa_csv.ParseOptions(
                delimiter=layout.separator, newlines_in_values=True, invalid_row_handler=odd
            ),
            pa_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
    except (pa.ArrowException, UnicodeEncodeError) as error:
        said = str(error).splitlines()[0]
        raise InputError(f"the file cannot be read: {said}") from None
    return table.combine_chunks(), tuple(cut)


def _id_type(tables: Sequence[TextTable], reading: Reading) -> PropertyType:
    """Whole numbers where all ids are written as such, in all tables; texts otherwise."""
    said = {reading.type_of(name) for table in tables for name in table.keys} - {None}
    if said:
        return PropertyType.INT if said == {PropertyType.INT} else PropertyType.STRING
    columns = (table.texts.column(name) for table in tables for name in table.keys)
    whole = all(pc.all(pc.match_substring_regex(column, _KEY)).as_py() for column in columns)
    return PropertyType.INT if whole else PropertyType.STRING


def _typed(table: TextTable, ids: PropertyType, reading: Reading) -> pa.Table:
    """The table with each column in its type, without bad rows; refuses those unless told so."""
    columns: dict[str, pa.Array] = {}
    problems: dict[str, tuple[PropertyType | None, Mask]] = {}
    declared = {item.name: item.type for item in table.layout.declared or ()}
    for name in table.texts.column_names:
        texts = pa.concat_arrays(table.texts.column(name).chunks or [pa.array([], pa.string())])
        if name in table.keys:
            missing = np.asarray(pc.is_null(texts))
            columns[name], other = _converted(texts, ids)
            type_, bad = None if missing.any() else ids, other | missing
        else:
            said = reading.type_of(name) or declared.get(name)
            type_, columns[name], bad = _property(name, texts, said)
        if bad.any():
            problems[name] = type_, bad
    typed = pa.table(columns)
    if not problems and not table.cut:
        return typed
    lines = _problem_lines(table, problems)
    any_bad = np.zeros(typed.num_rows, np.bool_)
    for _, bad in problems.values():
        any_bad |= bad
    number = int(any_bad.sum()) + len(table.cut)
    if reading.on_bad_rows == "refuse":
        raise InputError(
            f"{counted(number, 'row')} of the {table.kind} cannot be used",
            where="\n      ".join([str(table.path), *lines]),
            hint=_hint(problems),
        )
    told = "\n  ".join([f"{table.path}: {counted(number, 'row')} left out", *lines])
    warnings.warn(told, UserWarning, stacklevel=4)
    return typed.filter(pa.array(~any_bad))


def _hint(problems: Mapping[str, tuple[PropertyType | None, Mask]]) -> str:
    told = "correct them, or leave them out: on_bad_rows='drop'"
    texts = [name for name, (type_, _) in problems.items() if type_ is not None]
    return f"{told}; to take a column as text: types={{{texts[0]!r}: str}}" if texts else told


def _problem_lines(
    table: TextTable, problems: Mapping[str, tuple[PropertyType | None, Mask]]
) -> list[str]:
    """The first bad rows of each column, and the first that have another number of columns."""
    told = []
    for name, (type_, bad) in problems.items():
        rows = np.flatnonzero(bad)
        texts = table.texts.column(name)
        values = [(row + 1, texts[int(row)].as_py()) for row in rows[:_SHOWN]]
        each = [
            f"row {row:,}: {'nothing' if text is None else f'{text!r:.80}'}" for row, text in values
        ]
        more = f" and {len(rows) - _SHOWN:,} more" if len(rows) > _SHOWN else ""
        what = "an edge needs both ends" if type_ is None else f"no {_CALLED[type_]}"
        what = "a vertex needs an id" if type_ is None and table.kind == "vertices" else what
        told.append(f"column '{name}', {'; '.join(each)}{more}: {what}")
    width = len(table.layout.columns)
    told += [f"not {width:,} columns: {text!r:.80}" for text in table.cut[:_SHOWN]]
    if len(table.cut) > _SHOWN:
        told.append(f"and {len(table.cut) - _SHOWN:,} more of those")
    return told


def _property(
    name: str, texts: pa.Array, said: PropertyType | None
) -> tuple[PropertyType | None, pa.Array, Mask]:
    """The type of a column, its values in it, and which rows have another."""
    if said is PropertyType.STRING:
        return said, texts, np.zeros(len(texts), np.bool_)
    trimmed = pc.utf8_trim_whitespace(texts)
    gaps = pc.or_kleene(pc.is_in(trimmed, pa.array(MISSING)), pc.equal(trimmed, ""))
    values = pc.if_else(gaps, pa.scalar(None, pa.string()), trimmed)
    there = len(values) - values.null_count
    fittest = 0
    for type_ in _LOOKS if said is None else [said]:
        fitting = pc.sum(pc.match_substring_regex(values, _LOOKS[type_])).as_py() or 0
        fittest = max(fittest, fitting)
        if said is None and (not there or fitting * MISFITS < (MISFITS - 1) * there):
            continue
        column, bad = _converted(values, type_)
        number = int(bad.sum())
        if said is not None or number == 0 or (number * MISFITS <= there and _best(values, type_)):
            return type_, column, bad
    if fittest * 2 > there:
        _warn_of_demotion(name, values, fittest, there)
    return PropertyType.STRING, texts, np.zeros(len(texts), np.bool_)


def _warn_of_demotion(name: str, values: pa.Array, fitting: int, there: int) -> None:
    """Say that a column is text though most of its values look like something else."""
    rows = {
        type_: pc.indices_nonzero(pc.invert(pc.match_substring_regex(values, look)))
        for type_, look in _LOOKS.items()
    }
    type_ = min(rows, key=lambda one: len(rows[one]))
    first = [
        f"row {at + 1:,}: {values[at].as_py()!r:.80}" for at in rows[type_][:_SHOWN].to_pylist()
    ]
    warnings.warn(
        f"the column '{name}' is text: {fitting:,} of {there:,} values are {_CALLED[type_]}s, "
        f"but not {'; '.join(first)}. types={{{name!r}: str}} says that it is meant",
        UserWarning,
        stacklevel=6,
    )


def _best(values: pa.Array, type_: PropertyType) -> bool:
    """Whether no wider type takes more of the values: 1.5 among whole numbers makes them floats."""
    wider = {PropertyType.INT: PropertyType.FLOAT, PropertyType.DATE: PropertyType.TIMESTAMP}
    if type_ not in wider:
        return True
    fitting = [
        pc.sum(pc.match_substring_regex(values, _LOOKS[one])).as_py()
        for one in (type_, wider[type_])
    ]
    return bool(fitting[0] == fitting[1])


def _converted(texts: pa.Array, type_: PropertyType) -> tuple[pa.Array, Mask]:
    """The values in a type, null where a text has none; and where that is."""
    if type_ is PropertyType.STRING:
        return texts, np.zeros(len(texts), np.bool_)
    if type_.is_time:
        column = _by_value(texts, _moment if type_ is PropertyType.TIMESTAMP else _date, type_)
    else:
        fits = pc.match_substring_regex(texts, _LOOKS[type_])
        usable = pc.if_else(fits, pc.replace_substring_regex(texts, r"^\+", ""), None)
        try:
            column = pc.cast(pc.utf8_lower(usable), MEMORY_TYPES[type_])
        except pa.ArrowInvalid:  # A whole number of 19 digits may be too great.
            column = _by_value(usable, lambda text: _int64(text), type_)
    bad: Mask = np.asarray(pc.and_(pc.is_valid(texts), pc.is_null(column)))
    return column, bad


def _by_value(texts: pa.Array, read: Callable[[str], Any], type_: PropertyType) -> pa.Array:
    """Each different text read once."""
    coded = texts.dictionary_encode()
    values = pa.array([read(text) for text in coded.dictionary.to_pylist()], MEMORY_TYPES[type_])
    return values.take(coded.indices)


def _int64(text: str) -> int | None:
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


def _date(text: str) -> dt.date | None:
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        return None


def _moment(text: str) -> dt.datetime | None:
    """Without an offset it is in UTC, as everywhere."""
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment.replace(tzinfo=dt.UTC) if moment.tzinfo is None else moment
