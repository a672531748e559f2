"""What a user can say about a load, checked when it is said."""

from __future__ import annotations

import zoneinfo
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from graphtide.model.errors import InputError
from graphtide.model.schema import GraphSchema, name_hint
from graphtide.spark.ingest.wording import OptionValue, Wording, option_text

BadRows = Literal["refuse", "quarantine"]
WHITESPACE = " "
_SEPARATOR_WORDS = {
    "tab": "\t",
    "\\t": "\t",
    "comma": ",",
    "semicolon": ";",
    "pipe": "|",
    "space": WHITESPACE,
    "whitespace": WHITESPACE,
    "\\s+": WHITESPACE,
}


@dataclass(frozen=True)
class IngestOptions:
    """How to read the tables of a graph. Every default is what most files need.

    - `id`, `src`, `dst`, `label`, `edge_label`: names of those columns, where they are not the
      usual ones.
    - `header`, `separator`, `comment`, `quote`, `escape`, `multiline`, `null_values`,
      `vertex_columns`, `edge_columns`: text files only. `separator=None` finds it, `" "` stands
      for any run of blanks; `escape=None` doubles the quote.
    - `types`, `formats`: by column name; `vertices.name` and `edges.name` tell two columns of one
      name apart. Text columns that are not named are inferred, or strings if `infer_types` is off.
    - `drop`: columns to leave out. `timezone`: of timestamps without an offset.
    - `directed`: whether edges lead from src to dst, or just join the two. None is what a NetworkX
      graph says of itself, and directed for all else.
    - `known`: the schema of the graph that rows are appended to; columns that nothing is said of
      have its types.
    - `hints`: the language in which errors name options, that of the one who loads.
    """

    id: str | None = None
    src: str | None = None
    dst: str | None = None
    label: str | None = None
    edge_label: str | None = None
    header: bool | Literal["infer"] = "infer"
    separator: str | None = None
    comment: str | None = None
    quote: str | None = '"'
    escape: str | None = None
    multiline: bool = False
    vertex_columns: tuple[str, ...] | None = None
    edge_columns: tuple[str, ...] | None = None
    types: Mapping[str, str] = field(default_factory=dict)
    formats: Mapping[str, str] = field(default_factory=dict)
    infer_types: bool = True
    null_values: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    timezone: str = "UTC"
    directed: bool | None = None
    on_bad_rows: BadRows = "refuse"
    known: GraphSchema | None = None
    hints: Wording = "python"

    def __post_init__(self) -> None:
        if self.separator is not None:
            word = _SEPARATOR_WORDS.get(self.separator.lower(), self.separator)
            object.__setattr__(self, "separator", word)
        for name in ("vertex_columns", "edge_columns", "null_values", "drop"):
            value = getattr(self, name)
            if isinstance(value, str):
                raise InputError(f"{name} must be a list of names", hint=f"{name}=['{value}']")
            object.__setattr__(self, name, None if value is None else tuple(value))
        _check_characters(self)
        _check_words(self)

    def columns_of(self, kind: str) -> tuple[str, ...] | None:
        """The names given for the columns of the vertices or of the edges."""
        return self.vertex_columns if kind == "vertices" else self.edge_columns

    def check_tables(self, kinds: Collection[str]) -> None:
        """An error if an option is about vertices, and no table is."""
        for name in ("id", "label", "vertex_columns"):
            if getattr(self, name) is not None and "vertices" not in kinds:
                raise InputError(
                    f"{self.said(name, getattr(self, name))} is about a table of vertices, "
                    "and there is none",
                    hint="give the table, or leave the option out",
                )

    def of_kind(self, kind: str) -> IngestOptions:
        """What was said about tables of one kind, for a load of those alone."""
        about = {
            "vertices": ("id", "label", "vertex_columns"),
            "edges": ("src", "dst", "edge_label", "edge_columns"),
        }
        (other,) = set(about) - {kind}

        def own(names: Collection[str]) -> list[str]:
            return [name for name in names if not name.startswith(f"{other}.")]

        cleared: dict[str, Any] = dict.fromkeys(about[other])
        return replace(
            self,
            types={name: self.types[name] for name in own(self.types)},
            formats={name: self.formats[name] for name in own(self.formats)},
            drop=tuple(own(self.drop)),
            **cleared,
        )

    def said(self, name: str, value: OptionValue) -> str:
        """An option with a value, for a hint."""
        return option_text(self.hints, name, value)


def ingest_options(given: Mapping[str, Any]) -> IngestOptions:
    """Options by name; an unknown one is an error that names the nearest."""
    inner = ("known", "hints")
    known = [item.name for item in fields(IngestOptions) if item.name not in inner]
    for name in given:
        if name not in (*known, "hints"):
            listed = ", ".join(known)
            raise InputError(
                f"a load has no option '{name}'",
                hint=name_hint(name, known, f"options are {listed}", "'"),
            )
    return IngestOptions(**given)


def _check_characters(options: IngestOptions) -> None:
    for name in ("separator", "quote", "escape"):
        value = getattr(options, name)
        if value is not None and (len(value) != 1 or value in "\r\n"):
            raise InputError(
                f"{name} must be a single character, not {value!r}",
                hint="a tab is '\\t'; ' ' stands for any run of blanks",
            )
    if options.comment is not None and not options.comment.strip():
        raise InputError("comment must be a character such as '#'")
    if options.quote is not None and options.quote == options.separator:
        raise InputError(
            "quote and separator must differ",
            hint=f"{options.said('quote', None)} for no quoting",
        )


def _check_words(options: IngestOptions) -> None:
    if options.on_bad_rows not in ("refuse", "quarantine"):
        raise InputError(
            f"on_bad_rows cannot be '{options.on_bad_rows}'", hint="use 'refuse' or 'quarantine'"
        )
    if options.directed not in (True, False, None):
        raise InputError(
            f"directed cannot be {options.directed!r}", hint="give directed=True or False"
        )
    if options.header not in (True, False, "infer"):
        raise InputError("header must be True, False or 'infer'")
    try:
        zoneinfo.ZoneInfo(options.timezone)
    except (KeyError, ValueError, OSError):
        raise InputError(
            f"unknown time zone '{options.timezone}'",
            hint="use a name such as 'UTC' or 'Europe/Berlin'",
        ) from None
