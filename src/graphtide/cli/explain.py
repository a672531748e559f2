"""`graphtide explain`: say what statements would do, and do nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphtide.cli.invocation import Invocation
from graphtide.cli.options import GlobalOptions
from graphtide.cli.run import ScriptFile, ScriptText
from graphtide.cli.scripts import carry_out, given_script

if TYPE_CHECKING:
    from graphtide.api.session import Session
    from graphtide.lang.gvdl.statements import Statement
    from graphtide.run.statements.answers import Answer


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
