"""What a user can say about a load, checked when it is said, and how hints quote it.

A hint that its reader cannot follow is worse than none: whoever loads with GVDL is told `src
'...'`, whoever loads from the command line `--src ...`. In `graph.append` of Python, `id` is the
name of a batch, and `vertex_id` that of a column. GVDL has fewer options than a load; for the
others the hint names the command that has them.

A `TypeSpec` says how the values of one column are read: a property type, and a unit or a format.
"""

from __future__ import annotations

import inspect
import math
import zoneinfo
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from operator import index
from typing import Any, Literal, ParamSpec, SupportsIndex, TypedDict, TypeVar

from graphtide.model.errors import InputError
from graphtide.model.schema import GraphSchema, PropertyType, name_hint, parse_property_type
from graphtide.model.text import counted

Wording = Literal["python", "append", "gvdl", "shell"]
OptionValue = str | int | float | bool | None | tuple[str, ...] | Mapping[str, str]

_GVDL = {
    **{name: name for name in ("id", "src", "dst", "label", "edge_label")},
    **{name: name for name in ("separator", "comment", "timezone")},
    "header": "has_headers",
    "on_bad_rows": "on bad rows",
    "at_most": "at most",
}
_SHELL = {"types": "type", "formats": "format", "null_values": "null"}


def option_text(wording: Wording, name: str, value: OptionValue) -> str:
    """An option with its value as the user would write it."""
    if wording == "append" and name == "id":
        name = "vertex_id"
    if wording in ("python", "append"):
        return f"{name}={list(value) if isinstance(value, tuple) else value!r}"
    if wording == "gvdl" and name in _GVDL:
        return f"{_GVDL[name]} {_gvdl_value(name, value)}"
    written = " ".join(_shell_words(name, value))
    return f"{written} of `graphtide load`" if wording == "gvdl" else written


def _gvdl_value(name: str, value: OptionValue) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    return str(value) if name == "on_bad_rows" else f"'{value}'"


def _shell_words(name: str, value: OptionValue) -> list[str]:
    option = f"--{_SHELL.get(name, name).replace('_', '-')}"
    if isinstance(value, bool):
        return [option if value else f"--no-{name}"]
    if isinstance(value, Mapping):
        return [f"{option} {key}={item}" for key, item in value.items()]
    if isinstance(value, tuple):
        joined = [",".join(value)] if name.endswith("_columns") else value
        return [f"{option} {item}" for item in joined]
    return [f"{option} {'none' if value is None else value}"]


Given = ParamSpec("Given")
Result = TypeVar("Result")
BadRows = Literal["refuse", "quarantine"]
# How many bad rows are set aside where nothing is said. What is wrong with the rows themselves
# (typos, gaps, ends that are not known yet) stays below a tenth; what is wrong with the reading (a
# column that was moved, another separator, another format of dates) makes nearly all rows bad, or a
# whole file of several. In a table of a few rows a share says nothing.
_USUAL_SHARE, _ALWAYS_ALLOWED = 0.1, 10
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
    - `on_bad_rows`: "refuse" all, which is the default, or "quarantine": take the rest and set bad
      rows aside. `at_most` says how many, of the rows of vertices and of those of edges: a number,
      or a share such as 0.05 or "5%"; it implies "quarantine".
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
    on_bad_rows: BadRows | None = None
    at_most: float | int | str | None = None
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
        object.__setattr__(self, "at_most", _checked_share(self.at_most))
        if self.on_bad_rows is None:
            word = "refuse" if self.at_most is None else "quarantine"
            object.__setattr__(self, "on_bad_rows", word)
        _check_characters(self)
        _check_words(self)

    def columns_of(self, kind: str) -> tuple[str, ...] | None:
        """The given names of columns of the vertices or edges."""
        return self.vertex_columns if kind == "vertices" else self.edge_columns

    def bad_rows_allowed(self, rows: int) -> int:
        """How many of `rows` rows may be set aside."""
        match self.at_most:
            case None:
                return max(_ALWAYS_ALLOWED, int(_USUAL_SHARE * rows))
            case float():
                return int(self.at_most * rows)
            case number:
                return int(number)

    def setting_aside(self, bad: int, rows: int) -> str:
        """The option that lets bad rows be set aside, for a hint."""
        if bad > self.bad_rows_allowed(rows):
            return self.said("at_most", enough(bad, rows))
        return self.said("on_bad_rows", "quarantine")

    def too_many(self, bad: int, rows: int, kind: str) -> str:
        """The error text for more bad rows than may be set aside."""
        if self.at_most is None:
            limit = "the tenth that may be set aside"
        else:
            share = isinstance(self.at_most, float) and self.hints not in ("python", "append")
            given = f"{100 * float(self.at_most):g}%" if share else self.at_most
            limit = f"{self.said('at_most', given)} lets be set aside"
        return f"{bad:,} of {counted(rows, f'{kind} row')} are bad, more than {limit}"

    def check_tables(self, kinds: Collection[str]) -> None:
        """InputError if an option is about vertices and there is no table of vertices."""
        for name in ("id", "label", "vertex_columns"):
            if getattr(self, name) is not None and "vertices" not in kinds:
                raise InputError(
                    f"{self.said(name, getattr(self, name))} is about a table of vertices, "
                    "and there is none",
                    hint="give the table, or leave the option out",
                )

    def of_kind(self, kind: str) -> IngestOptions:
        """The options about tables of one kind, for a load of those alone."""
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
        """An option with its value, for a hint."""
        return option_text(self.hints, name, value)


class AppendOptions(TypedDict, total=False):
    """What `append` takes by name: IngestOptions, for editors and type checkers."""

    vertex_id: str | None
    src: str | None
    dst: str | None
    source: str | None
    target: str | None
    label: str | None
    edge_label: str | None
    header: bool | Literal["infer"]
    separator: str | None
    comment: str | None
    quote: str | None
    escape: str | None
    multiline: bool
    vertex_columns: Sequence[str] | None
    edge_columns: Sequence[str] | None
    types: Mapping[str, str]
    formats: Mapping[str, str]
    infer_types: bool
    null_values: Sequence[str]
    drop: Sequence[str]
    timezone: str
    on_bad_rows: BadRows | None
    at_most: float | int | str | None
    hints: Wording


class LoadOptions(AppendOptions, total=False):
    """What `load` takes by name."""

    id: str | None


SYNONYMS = {"source": "src", "target": "dst", "vertex_id": "id"}
"""Other words for options."""

_OURS = ("known", "hints")
"""Options that nobody gives by name."""


def shows_options(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """Make `help` and `inspect.signature` show all options of a load, with defaults."""
    plain = inspect.signature(function)
    own = [item for item in plain.parameters.values() if item.kind is not item.VAR_KEYWORD]
    taken = {item.name for item in own}
    defaults = {item.name: _default(item) for item in fields(IngestOptions)}
    defaults |= dict.fromkeys(SYNONYMS)
    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
        for name, default in defaults.items()
        if name not in (*_OURS, "directed", *taken)  # An append cannot say that.
    ]
    function.__signature__ = plain.replace(parameters=[*own, *more])  # type: ignore[attr-defined]
    return function


def _default(item: Field[Any]) -> Any:
    return item.default if item.default_factory is MISSING else item.default_factory()


def enough(bad: int, rows: int) -> str:
    """A share that lets this many bad rows be set aside."""
    return f"{math.ceil(100 * bad / rows)}%"


def ingest_options(given: Mapping[str, Any]) -> IngestOptions:
    """Options by name; InputError with the most similar name for an unknown one."""
    known = [item.name for item in fields(IngestOptions) if item.name not in _OURS]
    given = dict(given)
    for word, name in SYNONYMS.items():
        value = given.pop(word, None)
        if value is not None and given.get(name) is not None:
            raise InputError(
                f"{word}={value!r} and {name}={given[name]!r} say the same thing",
                hint="give one of them",
            )
        given |= {} if value is None else {name: value}
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


def _checked_share(given: Any) -> float | int | None:
    """A share as float, a number of rows as int."""
    value = given
    if isinstance(given, str):
        text = given.strip()
        try:
            value = float(text[:-1]) / 100 if text.endswith("%") else _number(text)
        except ValueError:
            value = None
    if given is None:
        return None
    if isinstance(value, SupportsIndex) and not isinstance(value, bool):
        value = index(value)
        if value >= 0:
            return value
    elif isinstance(value, float) and 0 <= value <= 1:
        return float(value)
    raise InputError(
        f"at_most cannot be {given!r}",
        hint="give a share of the rows, such as 0.05 or '5%', or a number of rows, such as 100",
    )


def _number(text: str) -> float | int:
    return int(text) if text.isdigit() else float(text)


def _check_words(options: IngestOptions) -> None:
    if options.on_bad_rows == "refuse" and options.at_most is not None:
        raise InputError(
            "bad rows are to be refused, and at_most is about rows that are set aside",
            hint=f"leave one of them out, or say {options.said('on_bad_rows', 'quarantine')}",
        )
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


# Seconds in one unit, as a power of ten.
UNIX_UNITS = {"unix_seconds": 0, "unix_millis": -3, "unix_micros": -6}


@dataclass(frozen=True)
class TypeSpec:
    """A type; for numbers that are times their unit; for dates and timestamps maybe a format."""

    type: PropertyType
    unit: str | None = None
    format: str | None = None

    def __str__(self) -> str:
        return self.unit or self.type.value


def parse_type_spec(text: str, format: str | None = None) -> TypeSpec:
    """A user's word for a type: a property type, or a unit of unix time."""
    word = text.strip().lower()
    if word in UNIX_UNITS:
        return TypeSpec(PropertyType.TIMESTAMP, unit=word)
    spec = TypeSpec(_parse(text), format=format)
    if format is not None and not spec.type.is_time:
        raise InputError(f"a format needs the type date or timestamp, not {spec.type}")
    return spec


def given_spec(options: IngestOptions, kind: str, name: str) -> TypeSpec | None:
    """What is said or known of the type of a column; None if nothing."""
    format = options.formats.get(f"{kind}.{name}", options.formats.get(name))
    text = options.types.get(f"{kind}.{name}", options.types.get(name)) or _known(
        options, kind, name
    )
    if text is not None:
        return parse_type_spec(text, format)
    return TypeSpec(PropertyType.TIMESTAMP, format=format) if format is not None else None


def key_spec(options: IngestOptions, kind: str, name: str) -> TypeSpec | None:
    """The same for an id or an end."""
    said = given_spec(replace(options, known=None), kind, name)
    if said is None and options.known is not None:
        return TypeSpec(options.known.id_type)
    return said


def _known(options: IngestOptions, kind: str, name: str) -> str | None:
    if options.known is None:
        return None
    declared = options.known.vertex if kind == "vertices" else options.known.edge
    return next((item.type.value for item in declared if item.name == name), None)


def check_names_are_columns(options: IngestOptions, columns: dict[str, set[str]]) -> None:
    """InputError if `types`, `formats` or `drop` name a column that no table has."""
    known = set().union(*columns.values())
    qualified = {f"{kind}.{name}" for kind, names in columns.items() for name in names}
    for option in ("types", "formats", "drop"):
        for name in getattr(options, option):
            if name not in known | qualified:
                raise InputError(
                    f"{option} names the column '{name}', which no table has",
                    hint=name_hint(name, known, f"there is: {', '.join(sorted(known))}", "'"),
                )


def _parse(text: str) -> PropertyType:
    try:
        return parse_property_type(text)
    except InputError as error:
        units = ", ".join(UNIX_UNITS)
        raise InputError(error.what, hint=f"{error.hint}, {units}") from None
