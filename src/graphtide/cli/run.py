"""`graphtide run`: carry out a script of GVDL, or derive what a file of Datalog puts out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from graphtide.cli.invocation import Invocation
from graphtide.cli.options import GlobalOptions
from graphtide.cli.scripts import carry_out, given_script

ScriptFile = Annotated[
    str | None,
    typer.Argument(
        metavar="[SCRIPT]", help="A file of GVDL, - for standard input; or of Datalog (.dl)."
    ),
]
ScriptText = Annotated[
    str | None,
    typer.Option("--execute", "-e", metavar="TEXT", help="Statements, instead of a file."),
]


FactsFolder = Annotated[
    str | None,
    typer.Option(
        "--facts", "-F", metavar="FOLDER", help="Where a file of Datalog finds its facts."
    ),
]
OutputFolder = Annotated[
    str | None,
    typer.Option(
        "--write", "-D", metavar="FOLDER", help="Where it writes what it puts out; else printed."
    ),
]


@dataclass(frozen=True, kw_only=True)
class RunOptions(GlobalOptions):
    """What to carry out."""

    script: ScriptFile = None
    execute: ScriptText = None
    facts: FactsFolder = None
    write: OutputFolder = None


def run(invocation: Invocation, options: RunOptions) -> None:
    """Carry out a script of GVDL, statement by statement.

    The first statement that fails ends it; those before it stay done. Ctrl-C stops it: a 'run'
    statement keeps the views that are finished, and says how to go on.

    graphtide run script.gvdl

    graphtide run -e "run wcc on years"

    graphtide run -e "run pagerank(iterations=20) on years save results to 'ranks'"

    graphtide run rules.dl --facts data
    """
    if options.script is not None and options.script.endswith(".dl") and options.execute is None:
        from graphtide.cli.rules import run_rules

        run_rules(invocation, options.script, options.facts, options.write)
        return
    if options.facts is not None or options.write is not None:
        raise typer.BadParameter("--facts and --write are for a file of Datalog, which ends in .dl")
    script = given_script(options.script, options.execute)

    from graphtide.run.statements.execute import execute_statement

    carry_out(invocation, script, execute_statement)
