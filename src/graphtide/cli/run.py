"""`graphtide run` and `explain`: scripts of GVDL from a file, standard input or the command line.

A script is parsed whole before anything is done. Its statements then run one by one; the first
that fails ends the script, and those before it stay done. `explain` says what they would do, and
does nothing. A file that ends in .dl holds Datalog: what it puts out is printed, or written.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphtide.cli.command import FAILURE, FailedStatement, GlobalOptions, Invocation, report
from graphtide.model.errors import InputError
from graphtide.model.names import given_path

if TYPE_CHECKING:
    from graphtide.api.datalog import Datalog
    from graphtide.api.session import Session
    from graphtide.lang.gvdl.statements import Statement
    from graphtide.plan.rules import FileOf
    from graphtide.run.statements.answers import Answer

    Action = Callable[[Session, Statement], Answer[object]]


STANDARD_INPUT = "-"


@dataclass(frozen=True)
class Script:
    """A text of GVDL, and the file it came from if there was one."""

    text: str
    file: str | None = None


def given_script(file: str | None, text: str | None) -> Script:
    """The script from a file or from the command line; wrong usage if both or neither."""
    if (file is None) == (text is None):
        raise typer.BadParameter(
            "give a script file, '-' for standard input, or -e 'statement; statement'"
        )
    if text is not None:
        return Script(text)
    assert file is not None
    if file == STANDARD_INPUT:
        return Script(sys.stdin.read())
    if file.endswith(".nga"):
        raise InputError(
            f"'{file}' is a program, and a script says what to run it on",
            hint=f"write the statement: graphtide run -e \"run '{file}' on COLLECTION\"",
        )
    return Script(_read(given_path(file)), file)


def carry_out(invocation: Invocation, script: Script, action: Action) -> None:
    """Act on each statement and print its answer, up to the first that fails."""
    from graphtide.lang.gvdl.parse import parse_script

    statements = parse_script(script.text, script.file)
    for number, statement in enumerate(statements, start=1):
        try:
            answer = action(invocation.session, statement)
        except Exception as error:
            line = statement.span.line if statement.span else 1
            report(invocation, error, FailedStatement(number, line, len(statements)))
            raise typer.Exit(FAILURE) from None
        invocation.printer.answer(answer)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            "the script is not text in UTF-8",
            where=f"{path}, byte {error.start + 1:,}",
            hint="save it as UTF-8",
        ) from None
    except OSError as error:
        raise InputError(
            f"cannot read the script: {error.strerror}",
            where=str(path),
            hint=f"name a file of GVDL; it is looked for in {Path.cwd()}. Or: run -e 'STATEMENT'",
        ) from None


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
        run_rules(invocation, options.script, options.facts, options.write)
        return
    if options.facts is not None or options.write is not None:
        raise typer.BadParameter("--facts and --write are for a file of Datalog, which ends in .dl")
    script = given_script(options.script, options.execute)

    from graphtide.run.statements.execute import execute_statement

    carry_out(invocation, script, execute_statement)


@dataclass(frozen=True, kw_only=True)
class ExplainOptions(GlobalOptions):
    """What to explain."""

    script: ScriptFile = None
    execute: ScriptText = None


def explain(invocation: Invocation, options: ExplainOptions) -> None:
    """Say what each statement would do: its tree, views, atoms, buckets and Spark's plan.

    Of a run: its mode and why, its plan, and about how long it takes. Nothing is changed, so a
    statement that builds on one before it needs that one done.

    graphtide explain -e "run wcc on years"
    """
    carry_out(invocation, given_script(options.script, options.execute), _explained)


def _explained(session: Session, statement: Statement) -> Answer[object]:
    from graphtide.lang.gvdl.statements import Explain
    from graphtide.run.statements.execute import execute_statement

    return execute_statement(
        session, statement if isinstance(statement, Explain) else Explain(statement)
    )


def run_rules(invocation: Invocation, script: str, facts: str | None, folder: str | None) -> None:
    """Read the facts of `.input`, derive, and tell the relations of `.output`, sizes and queries.

    Facts are looked for in the folder that Graphtide was started in, unless another is named.
    """
    from graphtide.api.datalog import datalog
    from graphtide.model.text import FIRST_ROWS, VALUES, counted

    rules = datalog(given_path(script), facts=given_path(facts or "."))
    rules.advance()
    plan = rules.program.plan
    for file in plan.outputs:
        to = None if dict(file.settings).get("IO") == "stdout" else folder
        invocation.printer.answer(_output(rules, file, None if to is None else given_path(to)))
    for name in plan.sizes:
        invocation.say(f"{name}: {counted(rules.size(name), 'fact')}")
    for goal in plan.goals:
        with rules.query(goal.text) as query:
            table = query.table()
            answers = len(query.facts())
        holds = f"{counted(answers, 'answer')}" if query.columns else ("yes" if answers else "no")
        invocation.say(f"?- {goal.text}: {holds}", table, VALUES, rows=FIRST_ROWS)
    rules.close()


def _output(rules: Datalog, file: FileOf, folder: Path | None) -> Answer[object]:
    from graphtide.model.text import VALUES, counted
    from graphtide.run.rules.program import write_facts
    from graphtide.run.statements.answers import Answer

    name = file.relation
    size = counted(rules.size(name), "fact")
    if folder is None:
        return Answer(f"{name}: {size}", rules.table(name), style=VALUES)
    relation = rules.program.plan.relation(name)
    path = write_facts(folder, file, relation, rules.facts(name))
    return Answer(f"{name}: {size}, in {path}")
