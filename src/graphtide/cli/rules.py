"""A file of Datalog on the command line: facts from files, and what it puts out as tables."""

from __future__ import annotations

from pathlib import Path

from graphtide.api.datalog import Datalog, datalog
from graphtide.cli.command import Invocation
from graphtide.model.names import given_path
from graphtide.model.text import VALUES, counted
from graphtide.plan.rules import FileOf
from graphtide.run.rules.program import write_facts
from graphtide.run.statements.answers import Answer


def run_rules(invocation: Invocation, script: str, facts: str | None, folder: str | None) -> None:
    """Read the facts of `.input`, derive, and tell the relations of `.output`, sizes and queries.

    Facts are looked for in the folder that Graphtide was started in, unless another is named.
    """
    rules = datalog(given_path(script), facts=given_path(facts or "."))
    rules.advance()
    plan = rules.program.plan
    for file in plan.outputs:
        to = None if dict(file.settings).get("IO") == "stdout" else folder
        invocation.printer.answer(_told(rules, file, None if to is None else given_path(to)))
    for name in plan.sizes:
        invocation.printer.answer(Answer(f"{name}: {counted(rules.size(name), 'fact')}"))
    for goal in plan.goals:
        with rules.query(goal.text) as query:
            table = query.table()
            answers = len(query.facts())
        holds = f"{counted(answers, 'answer')}" if query.columns else ("yes" if answers else "no")
        invocation.printer.answer(Answer(f"?- {goal.text}: {holds}", table, style=VALUES))
    rules.close()


def _told(rules: Datalog, file: FileOf, folder: Path | None) -> Answer[object]:
    name = file.relation
    size = counted(rules.size(name), "fact")
    if folder is None:
        return Answer(f"{name}: {size}", rules.table(name), style=VALUES)
    relation = rules.program.plan.relation(name)
    path = write_facts(folder, file, relation, rules.facts(name))
    return Answer(f"{name}: {size}, in {path}")
