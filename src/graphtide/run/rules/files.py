"""Files of facts as Soufflé has them: a line a fact, tabs between its values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from graphtide.model.errors import InputError
from graphtide.plan.dataflow_expressions import FLOAT, INT, ColumnType
from graphtide.plan.rules import FileOf, Relation
from graphtide.run.rules.functions import plain_digits

_ESCAPES = {"\\t": "\t", "\\n": "\n"}


def read_facts(folder: Path, file: FileOf, relation: Relation) -> list[tuple[Any, ...]]:
    """The facts of a relation in its file, `<relation>.facts` if the text names none."""
    settings = dict(file.settings)
    path = folder / settings.get("filename", f"{relation.name}.facts")
    delimiter = _delimiter(settings)
    try:
        lines = _lines(path.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise InputError(f"'{path}' is not text in UTF-8", hint="save it as UTF-8") from None
    except OSError as error:
        raise InputError(
            f"cannot read the facts of {relation.name}: {error.strerror or error}",
            where=str(path),
            hint="name the folder of the files with `facts=`, or -F on the command line",
        ) from None
    first = 1 if settings.get("headers") == "true" else 0
    return [
        _fact(line, delimiter, relation, f"{path}, line {number}")
        for number, line in enumerate(lines[first:], start=1 + first)
    ]


def _lines(text: str) -> list[str]:
    """The lines of a text. Only line feeds end one: symbols may hold all other separators."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def _fact(line: str, delimiter: str, relation: Relation, where: str) -> tuple[Any, ...]:
    values = line.split(delimiter) if relation.columns else []
    if len(values) != len(relation.columns):
        raise InputError(
            f"{relation.name} has {len(relation.columns)} columns, and this line {len(values)}",
            where=where,
            hint=f"values are divided by {delimiter!r}; `.input` takes another as delimiter",
        )
    columns = zip(values, relation.columns, strict=True)
    return tuple(_value(text, name, kind, where) for text, (name, kind) in columns)


def _value(text: str, name: str, kind: ColumnType, where: str) -> Any:
    try:
        if kind is INT:
            return _number(text, name, where)
        return float(plain_digits(text)) if kind is FLOAT else text
    except ValueError:
        wanted = "number" if kind is INT else "float"
        raise InputError(
            f"{text!r} is no {wanted}, as '{name}' has it",
            where=where,
            hint="correct the line, or declare the column as a symbol",
        ) from None


def _number(text: str, name: str, where: str) -> int:
    number = int(text, 0) if text[:2] in ("0x", "0b") else int(plain_digits(text))
    if not -(1 << 63) <= number < 1 << 63:
        raise InputError(
            f"{text} is beyond the 64 bits of '{name}'",
            where=where,
            hint="declare the column as a float, or as a symbol",
        )
    return number


def write_facts(
    folder: Path, file: FileOf, relation: Relation, facts: Iterable[Sequence[Any]]
) -> Path:
    """Write the facts of a relation in order, to `<relation>.csv` if the text names no file."""
    settings = dict(file.settings)
    path = folder / settings.get("filename", f"{relation.name}.csv")
    lines = facts_as_text(settings, relation, facts)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(lines, encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"cannot write the facts of {relation.name}: {error.strerror or error}",
            where=str(path),
            hint="name another folder with -D",
        ) from None
    return path


def facts_as_text(
    settings: dict[str, str], relation: Relation, facts: Iterable[Sequence[Any]]
) -> str:
    """Facts as lines, as a file of them has."""
    delimiter = _delimiter(settings)
    ordered = sorted(map(tuple, facts))
    for fact in ordered:
        _check_line(fact, delimiter, relation)
    lines = [delimiter.join(map(str, fact)) for fact in ordered]
    if settings.get("headers") == "true":
        lines.insert(0, delimiter.join(relation.names))
    return "".join(f"{line}\n" for line in lines)


def _check_line(fact: Sequence[Any], delimiter: str, relation: Relation) -> None:
    """Refuse a symbol that would be read back as several values, or as several facts."""
    for value in fact:
        if isinstance(value, str) and (delimiter in value or "\n" in value):
            raise InputError(
                f"a line cannot hold a fact of {relation.name}",
                where=repr(value),
                hint=f"values are divided by {delimiter!r}, and facts by line feeds: `.output` "
                "takes another delimiter; without -D facts are printed",
            )


def _delimiter(settings: dict[str, str]) -> str:
    delimiter = settings.get("delimiter", "\t")
    if not delimiter:
        raise InputError("a delimiter has a character at least", hint='the usual one is "\\t"')
    return _ESCAPES.get(delimiter, delimiter)
