"""The program `graphtide`: its commands, and the options that may stand before them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import typer
from typer.core import TyperCommand

from graphtide.cli.command import GlobalOptions, Invocation, prepare_output, reported, taking
from graphtide.cli.live import (
    REGISTERED,
    AdvanceOptions,
    ChangesOptions,
    CheckpointOptions,
    CreateOptions,
    SetOptions,
    ShowLiveOptions,
    live_advance,
    live_checkpoint,
    live_create,
    live_set,
    live_show,
    query_changes,
)
from graphtide.cli.load import (
    AppendCommand,
    LoadCommand,
    MergeOptions,
    TablesCommand,
    append,
    load,
    merge,
)
from graphtide.cli.open import OpenOptions, open
from graphtide.cli.results import ResultsOptions, results
from graphtide.cli.run import ExplainOptions, RunOptions, explain, run
from graphtide.cli.shell import ShellOptions, shell
from graphtide.cli.stored import (
    CheckOptions,
    DeleteOptions,
    RefreshOptions,
    ShowOptions,
    check,
    delete,
    refresh,
    show,
)
from graphtide.version import __version__

Options = TypeVar("Options", bound=GlobalOptions)

app = typer.Typer(
    name="graphtide",
    help="Views of property graphs by the thousand, stored as small deltas.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def print_version(asked: bool) -> None:
    """Print the version and exit, if that was asked for."""
    if asked:
        typer.echo(f"graphtide {__version__}")
        raise typer.Exit


@dataclass(frozen=True, kw_only=True)
class ProgramOptions(GlobalOptions):
    """What may stand before a command."""

    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=print_version, is_eager=True),
    ] = False


def add_command(
    options: type[Options],
    action: Callable[[Invocation, Options], None],
    kind: type[TyperCommand] = TyperCommand,
    *,
    name: str = "",
    help: str = "",
    within: typer.Typer = app,
) -> None:
    """Make a function of an invocation and its options a command.

    Name and help are those of the function, unless they are given.
    """

    def command(context: typer.Context, **given: Any) -> None:
        chosen = options(**given)
        invocation = Invocation(chosen.over(context.obj))
        prepare_output(debug=invocation.options.debug)
        with reported(invocation), invocation:
            action(invocation, chosen)

    text = help or action.__doc__
    within.command(name or action.__name__, help=text, cls=kind)(taking(options, command))


def add_group(name: str, help: str) -> typer.Typer:
    """A command that has commands of its own."""
    group = typer.Typer(name=name, help=help, no_args_is_help=True)
    app.add_typer(group)
    return group


def before_command(context: typer.Context, **given: Any) -> None:
    """Keep the options before the command for the command."""
    context.obj = ProgramOptions(**given)


app.callback()(taking(ProgramOptions, before_command))
add_command(LoadCommand, load, TablesCommand)
add_command(AppendCommand, append, TablesCommand)
add_command(MergeOptions, merge)
add_command(RefreshOptions, refresh)
add_command(RunOptions, run)
add_command(ResultsOptions, results)
add_command(ShellOptions, shell)
add_command(ShowOptions, show)
add_command(OpenOptions, open)
add_command(ExplainOptions, explain)
add_command(CheckOptions, check)
add_command(DeleteOptions, delete)

live = add_group("live", "Live graphs: begin one, bring it forward, look at all.")
add_command(CreateOptions, live_create, name="create", within=live)
add_command(AdvanceOptions, live_advance, name="advance", within=live)
add_command(ShowLiveOptions, live_show, name="show", within=live)
add_command(CheckpointOptions, live_checkpoint, name="checkpoint", within=live)
add_command(SetOptions, live_set, name="set", within=live)

groups = {
    "query": add_group("query", "Queries on live graphs: ask, drop, list, answer, follow changes."),
    "program": add_group("program", "Programs on live graphs: add, drop, list, read results."),
}
for what, verbs in REGISTERED.items():
    for verb in verbs:
        add_command(
            verb.options,
            verb.action(what),
            name=verb.name,
            help=verb.help,
            within=groups[what],
        )
add_command(ChangesOptions, query_changes, name="changes", within=groups["query"])


def main() -> None:
    app()


if __name__ == "__main__":
    main()
