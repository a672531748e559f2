"""Tables on the command line: files, labelled files, and options that take several.

`FILE` is a table without a label. `Person=FILE` gives one, and `Person-knows-Person=FILE` names
those of both ends too. An argument that exists as a file, or that has a slash or a dot before its
first `=`, is a file whatever its name.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import Literal

import typer

from graphtide.model.errors import InputError

Kind = Literal["edges", "vertices"]
Label = str | tuple[str, str, str]
_TABLE_OPTIONS = ("--edges", "--vertices", "--delete", "--update")


def spread_files(arguments: Sequence[str], flags: Collection[str]) -> list[str]:
    """`--edges a b c` becomes `--edges a --edges b --edges c`, once the graph has been named.

    Before that, only the first belongs to the option: the next is the name. `flags` are the
    options that take no value.
    """
    spread: list[str] = []
    option: str | None = None
    named = value_is_due = False
    for argument in arguments:
        if value_is_due:
            value_is_due = False
        elif argument.startswith("-") and argument != "-":
            option = argument if argument in _TABLE_OPTIONS else None
            value_is_due = argument not in flags and "=" not in argument
        elif option is not None and named:
            spread.append(option)
        else:
            named, option = True, None
        spread.append(argument)
    return spread


def tables_of(kind: Kind, arguments: Sequence[str]) -> list[str] | dict[Label, list[str]]:
    """The files of one table, or of each label."""
    split = [_split(argument) for argument in arguments]
    if all(label is None for label, _ in split):
        return [file for _, file in split]
    tables: dict[Label, list[str]] = {}
    for label, file in split:
        if label is None:
            raise InputError(
                f"--{kind} {file} has no label, but other {kind} have",
                hint=f"give it one: --{kind} LABEL={file}",
            )
        key = _edge_label(label) if kind == "edges" else label
        tables.setdefault(key, []).append(file)
    return tables


def named_pairs(option: str, arguments: Sequence[str] | None) -> Mapping[str, str]:
    """`NAME=VALUE` arguments as a mapping; wrong usage if one is not of that form."""
    pairs: dict[str, str] = {}
    for argument in arguments or ():
        name, equals, value = argument.partition("=")
        if not (name and equals and value):
            raise typer.BadParameter(f"'{argument}' is not COLUMN=VALUE", param_hint=option)
        pairs[name] = value
    return pairs


def split_names(argument: str | None) -> list[str] | None:
    """Names that stand in one argument, with commas between them."""
    return None if argument is None else [name.strip() for name in argument.split(",")]


def _split(argument: str) -> tuple[str | None, str]:
    label, equals, file = argument.partition("=")
    is_path = any(sign in label for sign in "/\\.*?") or os.path.exists(argument)
    return (label, file) if equals and label and file and not is_path else (None, argument)


def _edge_label(label: str) -> Label:
    """`Person-works-at-Company` joins a Person and a Company by `works-at`."""
    parts = label.split("-")
    if len(parts) < 3:
        return label
    return parts[0], "-".join(parts[1:-1]), parts[-1]
