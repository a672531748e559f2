"""The files of a table: which they are, and what their first lines say about the rest.

Files of this machine are listed here, in input order, so that a slip in a path gets an error
before Spark is asked; addresses of other file systems (`s3a://`, `hdfs://`) are left for Spark to
list.

The first lines tell the separator, the header and the number of columns. That is plain Python
over a few dozen lines, read here and not by Spark: a load that cannot work fails in milliseconds.
What is found holds for all files of a table; a file whose header differs is an error, never a
shifted column.
"""

from __future__ import annotations

import bz2
import csv
import glob
import gzip
import io
import os
import re
import urllib.parse
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Literal, cast

import pyarrow as pa

from graphtide.model.errors import InputError
from graphtide.model.names import given_path
from graphtide.model.schema import closest
from graphtide.spark.ingest.options import WHITESPACE, IngestOptions
from graphtide.spark.ingest.roles import DeclaredColumn, parse_typed_header
from graphtide.spark.ingest.source import Kind

_MAGIC = b"PAR1"


@dataclass(frozen=True)
class FileList:
    """Files of one format in input order; `local` if this machine can open them itself."""

    paths: tuple[str, ...]
    format: Literal["text", "parquet"]
    local: bool = True


def find_files(data: Any, what: str) -> FileList:
    """The files of a path, a list of paths, a glob or a folder. Globs and folders are sorted."""
    given = [os.fspath(data)] if isinstance(data, str | os.PathLike) else list(map(os.fspath, data))
    given = [_without_file_scheme(path) for path in given]
    remote = [path for path in given if "://" in path]
    if remote and len(remote) < len(given):
        raise InputError(f"{what}: local and remote files cannot be mixed", where=remote[0])
    if remote:
        suffix = remote[0].rstrip("/").lower()
        is_parquet = suffix.endswith((".parquet", ".pq"))
        return FileList(tuple(given), "parquet" if is_parquet else "text", local=False)
    paths = tuple(path for item in given for path in _expand(item, what))
    return FileList(paths, _format(paths, what))


def _expand(path: str, what: str) -> Sequence[str]:
    path = os.path.abspath(given_path(path))
    if os.path.isdir(path):
        return _files_of_folder(path, what)
    if os.path.exists(path):
        return [path]
    files = sorted(item for item in glob.glob(path, recursive=True) if os.path.isfile(item))
    if files:
        return files
    if glob.has_magic(path):
        raise InputError(f"{what}: no file matches the pattern", where=path)
    raise InputError(f"{what}: there is no such file", where=path, hint=_nearest(path))


def _files_of_folder(path: str, what: str) -> Sequence[str]:
    files = sorted(
        str(item)
        for item in Path(path).rglob("*")
        if item.is_file() and not any(part[0] in "._" for part in item.relative_to(path).parts)
    )
    if not files:
        raise InputError(f"{what}: the folder has no files", where=path)
    return files


def _format(paths: Sequence[str], what: str) -> Literal["text", "parquet"]:
    parquet = [path for path in paths if _is_parquet(path)]
    if parquet and len(parquet) < len(paths):
        other = next(path for path in paths if path not in parquet)
        raise InputError(
            f"{what}: Parquet and other files are mixed",
            where=f"{parquet[0]}, {other}",
            hint="load them as two tables, or give the files of one kind only",
        )
    return "parquet" if parquet else "text"


def _is_parquet(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(4) == _MAGIC
    except OSError as error:
        raise InputError(f"the file cannot be read: {error.strerror}", where=path) from None


def is_zstandard(path: str) -> bool:
    """True for files compressed with Zstandard, by name."""
    return path.lower().endswith((".zst", ".zstd"))


def _without_file_scheme(path: str) -> str:
    if not path.startswith("file:/"):
        return path
    return urllib.parse.unquote(urllib.parse.urlparse(path).path)


def _nearest(path: str) -> str:
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        return f"the folder {folder} does not exist either"
    near = closest(os.path.basename(path), sorted(os.listdir(folder)))
    return f"did you mean {os.path.join(folder, near)}?" if near else f"look in {folder}"


LINES = 100
_MOST_BYTES = 8 << 20
# Tried in this order: a tab or a bar in a line of text is no accident, a blank often is.
_SEPARATORS = ("\t", "|", ";", ",", WHITESPACE)
_VALUE = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|true|false|\d{4}-\d\d-\d\d.*", re.I)
_KEY_NAMES = re.compile(
    r"(id|src|dst|source|target|destination|from|to|u|v|node|vertex|start|end)(_?id)?", re.I
)


@dataclass(frozen=True)
class TextLine:
    """A line of a file with its number, counted from one."""

    number: int
    text: str


@dataclass(frozen=True)
class TextLayout:
    """How the lines of a table's files are to be taken apart.

    `header` is the header's line, or None; `declared` its columns if it is a typed one.
    """

    separator: str
    columns: tuple[str, ...]
    header: TextLine | None
    declared: tuple[DeclaredColumn, ...] | None


def read_preview(path: str, comment: str | None) -> list[TextLine]:
    """The first lines of a local file, without blank lines and comments."""
    try:
        with _open(path) as file:
            return content_lines(_decoded_lines(file, path), comment)
    except (OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"the file cannot be read: {reason}", where=path) from None


def content_lines(lines: Iterator[str], comment: str | None) -> list[TextLine]:
    """The first lines with their numbers, without blank lines and comments."""
    numbered = (TextLine(number, text.rstrip("\r\n")) for number, text in enumerate(lines, 1))
    kept = (
        line
        for line in numbered
        if line.text.strip() and not (comment and line.text.startswith(comment))
    )
    return list(islice(kept, LINES))


def find_layout(
    lines: Sequence[TextLine], kind: Kind, options: IngestOptions, path: str
) -> TextLayout:
    """The layout of a table from the first lines of its first file."""
    separator = options.separator or _find_separator([line.text for line in lines], options)
    rows = split_rows(lines, separator, options)
    header = _is_header(rows, kind, options)
    columns = tuple(name.strip() for name in rows[0]) if header else ()
    declared = parse_typed_header(columns) if header else None
    if declared is not None:
        columns = tuple(item.name for item in declared)
    names = options.columns_of(kind) or columns or _names_by_position(kind, len(rows[0]))
    names = tuple(name or f"p{place}" for place, name in enumerate(names))
    _check_width(names, rows[0], lines[0], path)
    if kind == "edges" and len(names) < 2:
        raise _one_column(lines[0], path, options)
    return TextLayout(separator, names, lines[0] if header else None, declared)


def split_rows(
    lines: Sequence[TextLine], separator: str, options: IngestOptions
) -> list[list[str]]:
    """The cells of each line, as the load will see them."""
    if separator == WHITESPACE:
        return [line.text.split() for line in lines]
    texts = [line.text + "\n" for line in lines]
    if options.multiline:
        return list(_reader(texts, separator, options))
    return [next(iter(_reader([text], separator, options))) for text in texts]


def _reader(texts: list[str], separator: str, options: IngestOptions) -> Iterator[list[str]]:
    if options.quote is None:
        return csv.reader(texts, delimiter=separator, quoting=csv.QUOTE_NONE)
    return csv.reader(
        texts,
        delimiter=separator,
        quotechar=options.quote,
        escapechar=options.escape,
        doublequote=options.escape is None,
    )


def _find_separator(texts: Sequence[str], options: IngestOptions) -> str:
    """The separator that gives most lines the same number of columns, more than one."""
    scores = {}
    for separator in _SEPARATORS:
        rows = split_rows([TextLine(0, text) for text in texts], separator, options)
        width, count = Counter(map(len, rows)).most_common(1)[0]
        scores[separator] = count / len(rows) if width > 1 else 0.0
    return max(_SEPARATORS, key=lambda separator: scores[separator])


def _is_header(rows: Sequence[Sequence[str]], kind: Kind, options: IngestOptions) -> bool:
    if options.header != "infer":
        return bool(options.header)
    first = [cell.strip() for cell in rows[0]]
    named = (options.id, options.src, options.dst, options.label, options.edge_label)
    given = {name.lower() for name in named if name is not None}
    if parse_typed_header(first) or given & {cell.lower() for cell in first}:
        return True
    if options.columns_of(kind) is not None or any(map(_VALUE.fullmatch, first)):
        return False
    if sum(bool(_KEY_NAMES.fullmatch(cell)) for cell in first) >= (1 if kind == "vertices" else 2):
        return True
    return any(_is_value_column(rows[1:], place) for place in range(len(first)))


def _is_value_column(rows: Sequence[Sequence[str]], place: int) -> bool:
    cells = [row[place].strip() for row in rows if place < len(row) and row[place].strip()]
    return bool(cells) and all(map(_VALUE.fullmatch, cells))


def _names_by_position(kind: Kind, width: int) -> tuple[str, ...]:
    keys = ("id",) if kind == "vertices" else ("src", "dst")
    return (*keys, *(f"p{place}" for place in range(len(keys), width)))[:width]


def _check_width(names: Sequence[str], first: Sequence[str], line: TextLine, path: str) -> None:
    if len(names) == len(first):
        return
    raise InputError(
        f"{len(names)} names are given for the columns, but the first line has {len(first)}",
        where=f"{path}, line {line.number}: {line.text[:200]}",
        hint="give a name for every column, or another separator",
    )


def _one_column(line: TextLine, path: str, options: IngestOptions) -> InputError:
    hint = f"give the separator that the file uses, for example {options.said('separator', ';')}"
    first = line.text[:1]
    if not first.isalnum():
        comment = options.said("comment", first)
        hint += f"; if lines that start with '{first}' are comments, {comment}"
    return InputError(
        "the edges have one column only, but need two endpoints",
        where=f"{path}, line {line.number}: {line.text[:200]}",
        hint=hint,
    )


def _open(path: str) -> BinaryIO:
    if path.endswith(".gz"):
        return cast(BinaryIO, gzip.open(path, "rb"))
    if path.endswith(".bz2"):
        return cast(BinaryIO, bz2.open(path, "rb"))
    if is_zstandard(path):
        return cast(BinaryIO, io.BufferedReader(pa.input_stream(path, compression="zstd")))
    return open(path, "rb")


def _decoded_lines(file: BinaryIO, path: str) -> Iterator[str]:
    start = file.read(1 << 16)
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError(
            "the file is UTF-16", where=path, hint="convert it: iconv -f UTF-16 -t UTF-8"
        )
    if b"\0" in start:
        raise InputError(
            "the file is not text", where=path, hint="give plain text, .gz, .bz2, .zst or Parquet"
        )
    content = start + file.read(_MOST_BYTES - len(start))
    text = content.decode("utf-8-sig", errors="replace")
    return iter(io.StringIO(text, newline=None))
