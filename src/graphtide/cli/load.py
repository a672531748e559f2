"""`graphtide load`, `append` and `merge`: tables into a graph of the catalog, and its next states.

The options are those of `session.load`. A command passes on only what the user said: the defaults
are the API's. `FILE` is a table without a label. `Person=FILE` gives one, and
`Person-knows-Person=FILE` names those of both ends too. An argument that exists as a file, or
that has a slash or a dot before its first `=`, is a file whatever its name.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperCommand

from graphtide.cli.command import GlobalOptions, Invocation, flag
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
    """`NAME=VALUE` arguments as a mapping."""
    pairs: dict[str, str] = {}
    for argument in arguments or ():
        name, equals, value = argument.partition("=")
        if not (name and equals and value):
            raise typer.BadParameter(f"'{argument}' is not COLUMN=VALUE", param_hint=option)
        pairs[name] = value
    return pairs


def split_names(argument: str | None) -> list[str] | None:
    """The names of an argument, which commas separate."""
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


_COLUMNS = "Which column is what"
_TEXT = "How text files are read"
_SAME_NAMES = (
    *("id", "src", "dst", "label", "edge_label", "drop", "timezone"),
    *("header", "separator", "comment", "escape", "multiline"),
)


class BadRows(StrEnum):
    """What happens to rows that cannot be used."""

    REFUSE = "refuse"
    QUARANTINE = "quarantine"


class TablesCommand(TyperCommand):
    """A command that takes tables: `--edges *.csv` takes all the files behind it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat the option before each file, as the parser wants it."""
        flags = {
            word
            for item in self.get_params(ctx)
            if getattr(item, "is_flag", False)
            for word in (*item.opts, *item.secondary_opts)
        }
        return super().parse_args(ctx, spread_files(args, flags))


def column(name: str, help: str, *others: str) -> Any:
    """An option that names a column."""
    return typer.Option(name, *others, metavar="COLUMN", help=help, rich_help_panel=_COLUMNS)


def text(name: str, help: str, **more: Any) -> Any:
    """An option on how files are read."""
    return typer.Option(name, help=help, rich_help_panel=_TEXT, **more)


def files(help: str) -> Any:
    """An option that names tables."""
    return typer.Option(metavar="[LABEL=]FILE...", help=help, show_default=False)


@dataclass(frozen=True, kw_only=True)
class ReadingOptions(GlobalOptions):
    """Which column is what, and how files are read."""

    on_bad_rows: Annotated[
        BadRows | None,
        typer.Option(
            "--on-bad-rows",
            help="Refuse all, which is the default, or take the rest and set bad rows aside.",
        ),
    ] = None

    at_most: Annotated[
        str | None,
        typer.Option(
            "--at-most",
            metavar="ROWS",
            help="How many bad rows are set aside, as a number or a share such as 5%; more are "
            "refused. A tenth by default.",
        ),
    ] = None
    batch: Annotated[
        str | None,
        typer.Option(
            "--batch",
            metavar="ID",
            help="What the rows are called: a graph that has taken them before stays as it is.",
        ),
    ] = None

    id: Annotated[str | None, column("--id", "Id of a vertex, if not 'id'.")] = None
    src: Annotated[str | None, column("--src", "Source of an edge, if not 'src'.", "--source")] = (
        None
    )
    dst: Annotated[str | None, column("--dst", "Target of an edge, if not 'dst'.", "--target")] = (
        None
    )
    label: Annotated[str | None, column("--label", "Label of a vertex.")] = None
    edge_label: Annotated[str | None, column("--edge-label", "Label of an edge.")] = None
    drop: Annotated[list[str] | None, column("--drop", "Leave a column out.")] = None
    type: Annotated[
        list[str] | None,
        typer.Option(
            "--type",
            metavar="COLUMN=TYPE",
            help="string, int, float, bool, date, timestamp, unix_seconds, unix_millis or "
            "unix_micros; inferred if not given.",
            rich_help_panel=_COLUMNS,
        ),
    ] = None
    format: Annotated[
        list[str] | None,
        typer.Option(
            "--format",
            metavar="COLUMN=PATTERN",
            help="How dates or timestamps are written, such as dd.MM.yyyy.",
            rich_help_panel=_COLUMNS,
        ),
    ] = None
    timezone: Annotated[
        str | None,
        typer.Option(
            metavar="ZONE",
            help="Of timestamps without an offset; UTC by default.",
            rich_help_panel=_COLUMNS,
        ),
    ] = None

    header: Annotated[
        bool | None, text("--header/--no-header", "Whether the first line names the columns.")
    ] = None
    separator: Annotated[
        str | None, text("--separator", "A character, or tab, space, comma, semicolon, pipe.")
    ] = None
    comment: Annotated[str | None, text("--comment", "What begins lines to leave out.")] = None
    quote: Annotated[str | None, text("--quote", "The quoting character; none for none.")] = None
    escape: Annotated[
        str | None, text("--escape", "The escaping character; by default quotes are doubled.")
    ] = None
    multiline: Annotated[
        bool | None, text("--multiline", "Quoted values may hold line breaks.")
    ] = None
    null: Annotated[
        list[str] | None, text("--null", "A text that stands for a missing value.", metavar="TEXT")
    ] = None
    vertex_columns: Annotated[
        str | None,
        text("--vertex-columns", "Names of the columns of the vertices.", metavar="A,B,..."),
    ] = None
    edge_columns: Annotated[
        str | None, text("--edge-columns", "Names of the columns of the edges.", metavar="A,B,...")
    ] = None
    infer_types: Annotated[
        bool,
        text("--infer-types/--strings", "Find out types, or leave what has none as strings."),
    ] = True


def ingest_options(options: ReadingOptions) -> dict[str, Any]:
    """The given options, by their names in `session.load`."""
    every: dict[str, Any] = {name: getattr(options, name) for name in _SAME_NAMES}
    every["on_bad_rows"] = options.on_bad_rows and options.on_bad_rows.value
    every["at_most"] = options.at_most
    every["null_values"] = options.null
    every["types"] = named_pairs("--type", options.type)
    every["formats"] = named_pairs("--format", options.format)
    every["vertex_columns"] = split_names(options.vertex_columns)
    every["edge_columns"] = split_names(options.edge_columns)
    said = {name: value for name, value in every.items() if value not in (None, [], {})}
    if options.quote is not None:
        said["quote"] = None if options.quote.lower() == "none" else options.quote
    if not options.infer_types:
        said["infer_types"] = False
    return said


@dataclass(frozen=True, kw_only=True)
class LoadCommand(ReadingOptions):
    """Which tables to load, and how to read them."""

    name: Annotated[str, typer.Argument(metavar="NAME", help="The graph.", show_default=False)]
    edges: Annotated[
        list[str], files("Files, folders or quoted patterns (CSV or Parquet) of the edges.")
    ]
    vertices: Annotated[
        list[str] | None,
        files("The same of the vertices; left out, they are the ends of the edges."),
    ] = None
    undirected: Annotated[
        bool,
        typer.Option("--undirected", help="Edges have no direction."),
    ] = False
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace a graph of the same name.")
    ] = False


def load(invocation: Invocation, options: LoadCommand) -> None:
    """Load a graph from CSV or Parquet files.

    graphtide load Calls --vertices customers.csv --edges calls-2019.csv calls-2020.csv

    graphtide load Friends --edges friends.csv --undirected

    graphtide load Social --vertices Person=person.csv --edges Person-knows-Person=knows.csv
    """
    from graphtide.run.statements.answers import counted_answer

    graph = invocation.session.load(
        options.name,
        edges=tables_of("edges", options.edges),
        vertices=tables_of("vertices", options.vertices) if options.vertices else None,
        directed=False if options.undirected else None,
        replace=options.replace,
        batch=options.batch,
        hints="shell",
        **ingest_options(options),
    )
    invocation.printer.answer(counted_answer(graph._stored, graph.loaded))


@dataclass(frozen=True, kw_only=True)
class AppendCommand(ReadingOptions):
    """What comes, what goes and what changes, and how the tables are read."""

    name: Annotated[str, typer.Argument(metavar="NAME", help="The graph.", show_default=False)]
    edges: Annotated[list[str] | None, files("Files of the edges that come.")] = None
    delete: Annotated[
        list[str] | None,
        files("Files of the edges that go: their ends, and properties to tell them apart."),
    ] = None
    vertices: Annotated[
        list[str] | None, files("Files of vertices that come, or get other values.")
    ] = None
    update: Annotated[list[str] | None, files("Files of edges that get other values.")] = None
    match: Annotated[
        list[str] | None,
        typer.Option(
            "--match", metavar="PROPERTY", help="Names the edges of --update, with their ends."
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class MergeOptions(GlobalOptions):
    """Which graph to merge, and whether its edges may get other numbers."""

    name: Annotated[str, typer.Argument(metavar="NAME", help="The graph.", show_default=False)]
    renumber: Annotated[
        bool, flag("--renumber", "Leave deleted edges out, and number the others anew.")
    ] = False


def append(invocation: Invocation, options: AppendCommand) -> None:
    """Add edges and vertices to a graph, delete edges, and change properties, in one step.

    graphtide append Calls --edges calls-2021.csv --delete cancelled.csv
    """
    from graphtide.run.statements.answers import counted_answer

    graph = invocation.session.graph(options.name)
    reading = ingest_options(options)
    if "id" in reading:  # In Python, `id` is what a batch of an append is called.
        reading["vertex_id"] = reading.pop("id")
    counts = graph.append(
        edges=_tables("edges", options.edges),
        delete=_tables("edges", options.delete),
        vertices=_tables("vertices", options.vertices),
        update=_tables("edges", options.update),
        match=options.match or (),
        id=options.batch,
        hints="shell",
        **reading,
    )
    invocation.printer.answer(counted_answer(graph._stored, counts))


def merge(invocation: Invocation, options: MergeOptions) -> None:
    """Make one base of a graph and all that was appended; an append does so when it pays.

    graphtide merge Calls
    """
    from graphtide.run.statements.answers import graph_answer
    from graphtide.store.graph import open_graph

    session = invocation.session
    session.graph(options.name).merge(renumber=options.renumber)
    invocation.printer.answer(graph_answer(open_graph(session.catalog, options.name)))


def _tables(kind: Any, given: list[str] | None) -> Any:
    return tables_of(kind, given) if given else None
