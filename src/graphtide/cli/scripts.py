"""Scripts of GVDL: from a file, from standard input or from the command line itself.

A script is parsed whole before anything is done. Its statements then run one by one; the first that
fails ends the script, and those before it stay done.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from graphtide.cli.invocation import Invocation
from graphtide.cli.outcome import FAILURE, report
from graphtide.cli.printing import Failed
from graphtide.model.errors import InputError
from graphtide.model.paths import given_path

if TYPE_CHECKING:
    from graphtide.api.session import Session
    from graphtide.lang.gvdl.statements import Statement
    from graphtide.run.statements.answers import Answer

    Action = Callable[[Session, Statement], Answer[object]]

STANDARD_INPUT = "-"


@dataclass(frozen=True)
class Script:
    """A text of GVDL, and the file it came from if there was one."""

    text: str
    file: str | None = None


def given_script(file: str | None, text: str | None) -> Script:
    """The script that was named or written out; wrong usage if it was both or neither."""
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
    """Do the action with each statement and print its answer, up to the first that fails."""
    from graphtide.lang.gvdl.parse import parse_script

    statements = parse_script(script.text, script.file)
    for number, statement in enumerate(statements, start=1):
        try:
            answer = action(invocation.session, statement)
        except Exception as error:
            line = statement.span.line if statement.span else 1
            report(invocation, error, Failed(number, line, len(statements)))
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
