"""`graphtide program`: programs that live graphs keep current, and their results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from graphtide.cli.invocation import Invocation
from graphtide.cli.live import carry_out_live
from graphtide.cli.query import ListOptions, RegisteredOptions


@dataclass(frozen=True, kw_only=True)
class AddProgramOptions(RegisteredOptions):
    """What to run."""

    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN",
            help='In the words of GVDL: "page_rank(iterations=10)", "rings from \'mine.py\'".',
            show_default=False,
        ),
    ]
    replace: Annotated[
        bool, typer.Option("--replace", help="In the place of the program of that name.")
    ] = False


def program_add(invocation: Invocation, options: AddProgramOptions) -> None:
    """Register a program on a live graph; its results are kept current until it is dropped.

    graphtide program add payments ranks "page_rank(iterations=10)"

    graphtide program add payments rings "rings from 'mine.py' tolerance 0.01"
    """
    from dataclasses import replace

    from graphtide.lang.gvdl.live_statements import CreateProgram
    from graphtide.lang.gvdl.parse import parse_statement

    # Parsed behind plain names: those that were given may have signs that GVDL would quote.
    read = parse_statement(f"create program p on live graph g run {options.run}")
    assert isinstance(read, CreateProgram)
    statement = replace(read, name=options.name, graph=options.graph, replace=options.replace)
    carry_out_live(invocation, statement)


def program_drop(invocation: Invocation, options: RegisteredOptions) -> None:
    """Forget a registered program.

    graphtide program drop payments ranks
    """
    from graphtide.lang.gvdl.live_statements import DropRegistered

    carry_out_live(invocation, DropRegistered("program", options.name, options.graph))


def program_list(invocation: Invocation, options: ListOptions) -> None:
    """List registered programs by what they run.

    graphtide program list payments
    """
    from graphtide.lang.gvdl.live_statements import ShowRegistered

    carry_out_live(invocation, ShowRegistered("program", options.graph))


def program_results(invocation: Invocation, options: RegisteredOptions) -> None:
    """The results of a program, at the last version that is on disk.

    graphtide program results payments ranks --json
    """
    from graphtide.lang.gvdl.live_statements import ShowRegistered

    carry_out_live(invocation, ShowRegistered("program", options.graph, options.name))


def program_explain(invocation: Invocation, options: RegisteredOptions) -> None:
    """What was proved of a program, and how it is kept current.

    graphtide program explain payments ranks
    """
    from graphtide.lang.gvdl.live_statements import ExplainRegistered

    carry_out_live(invocation, ExplainRegistered("program", options.name, options.graph))
