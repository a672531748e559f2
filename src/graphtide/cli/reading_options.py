"""How tables are read, as the commands that read them can be told: `load` and `append`.

The options are those of `session.load`. A command passes on only what the user said: the defaults
are the API's. A labelled table is written `LABEL=FILE`, for edges also `SOURCE-LABEL-TARGET=FILE`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from graphtide.cli.options import GlobalOptions
from graphtide.cli.table_arguments import named_pairs, split_names, spread_files

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
        """Repeat the option for each file, which is the form that the parser knows."""
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
    """The options of `session.load` that were said, by their names there."""
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
