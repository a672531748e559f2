"""`graphtide program`: programs that live graphs keep current, and their results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from graphtide.cli.invocation import Invocation
from graphtide.cli.live import GraphName, carry_out_live
from graphtide.cli.options import GlobalOptions

ProgramName = Annotated[
    str, typer.Argument(metavar="NAME", help="The name it is registered by.", show_default=False)
]


@dataclass(frozen=True, kw_only=True)
class NamedProgramOptions(GlobalOptions):
    """Which program."""

    graph: GraphName
    name: ProgramName


@dataclass(frozen=True, kw_only=True)
class AddProgramOptions(NamedProgramOptions):
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


@dataclass(frozen=True, kw_only=True)
class ListProgramsOptions(GlobalOptions):
    """The programs of which graph."""

    graph: Annotated[
        str | None, typer.Argument(metavar="[GRAPH]", help="A live graph; all if left out.")
    ] = None


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
    asked = replace(read, name=options.name, graph=options.graph, replace=options.replace)
    carry_out_live(invocation, asked)


def program_drop(invocation: Invocation, options: NamedProgramOptions) -> None:
    """Forget a registered program.

    graphtide program drop payments ranks
    """
    from graphtide.lang.gvdl.live_statements import DropProgram

    carry_out_live(invocation, DropProgram(options.name, options.graph))


def program_list(invocation: Invocation, options: ListProgramsOptions) -> None:
    """List registered programs by what they run.

    graphtide program list payments
    """
    from graphtide.lang.gvdl.live_statements import ShowPrograms

    carry_out_live(invocation, ShowPrograms(options.graph))


def program_results(invocation: Invocation, options: NamedProgramOptions) -> None:
    """The results of a program, at the last version that is on disk.

    graphtide program results payments ranks --json
    """
    from graphtide.lang.gvdl.live_statements import ShowPrograms

    carry_out_live(invocation, ShowPrograms(options.graph, options.name))


def program_explain(invocation: Invocation, options: NamedProgramOptions) -> None:
    """What was proved of a program, and how it is kept current.

    graphtide program explain payments ranks
    """
    from graphtide.lang.gvdl.live_statements import ExplainProgram

    carry_out_live(invocation, ExplainProgram(options.name, options.graph))
