"""The program `graphtide`: its commands, and the options that may stand before them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import typer
from typer.core import TyperCommand

from graphtide.cli.command import GlobalOptions, Invocation, prepare_output, reported, taking
from graphtide.cli.live import (
    AddOptions,
    AddProgramOptions,
    AdvanceOptions,
    ChangesOptions,
    CheckpointOptions,
    CreateOptions,
    ListOptions,
    RegisteredOptions,
    SetOptions,
    ShowLiveOptions,
    live_advance,
    live_checkpoint,
    live_create,
    live_set,
    live_show,
    program_add,
    program_drop,
    program_explain,
    program_list,
    program_results,
    query_add,
    query_answer,
    query_changes,
    query_drop,
    query_explain,
    query_list,
)
from graphtide.cli.load import (
    AppendOptions,
    LoadOptions,
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
    """Print the version and leave, if that was asked for."""
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
    within: typer.Typer | None = None,
) -> None:
    """Make a function of an invocation and its options a command of the same name.

    `within` is the group of commands that it belongs to; its name then begins with the group's.
    """
    home = app if within is None else within
    name = action.__name__.rpartition("_" if within is not None else " ")[2]

    def command(context: typer.Context, **given: Any) -> None:
        chosen = options(**given)
        invocation = Invocation(chosen.over(context.obj))
        prepare_output(debug=invocation.options.debug)
        with reported(invocation), invocation:
            action(invocation, chosen)

    home.command(name, help=action.__doc__, cls=kind)(taking(options, command))


def add_group(name: str, help: str) -> typer.Typer:
    """A command that has commands of its own."""
    group = typer.Typer(name=name, help=help, no_args_is_help=True)
    app.add_typer(group)
    return group


def before_command(context: typer.Context, **given: Any) -> None:
    """Keep what stands before the command for the command."""
    context.obj = ProgramOptions(**given)


app.callback()(taking(ProgramOptions, before_command))
add_command(LoadOptions, load, TablesCommand)
add_command(AppendOptions, append, TablesCommand)
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
add_command(CreateOptions, live_create, within=live)
add_command(AdvanceOptions, live_advance, within=live)
add_command(ShowLiveOptions, live_show, within=live)
add_command(CheckpointOptions, live_checkpoint, within=live)
add_command(SetOptions, live_set, within=live)

query = add_group("query", "Queries on live graphs: ask, drop, list, answer, and follow changes.")
add_command(AddOptions, query_add, within=query)
add_command(RegisteredOptions, query_drop, within=query)
add_command(ListOptions, query_list, within=query)
add_command(RegisteredOptions, query_answer, within=query)
add_command(RegisteredOptions, query_explain, within=query)
add_command(ChangesOptions, query_changes, within=query)

program = add_group("program", "Programs on live graphs: add, drop, list, and read their results.")
add_command(AddProgramOptions, program_add, within=program)
add_command(RegisteredOptions, program_drop, within=program)
add_command(ListOptions, program_list, within=program)
add_command(RegisteredOptions, program_results, within=program)
add_command(RegisteredOptions, program_explain, within=program)


def main() -> None:
    """The entry point of the program."""
    app()


if __name__ == "__main__":
    main()
