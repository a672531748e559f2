"""A program that stands: its facts, its dataflow, and what it has derived so far.

The dataflow is built when something is first asked of it: the facts that are there by then tell how
large relations are, and so in which order to join them. Only what the text puts out, and what that
needs, is kept current.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graphtide.lang.datalog.program import DatalogText
from graphtide.model.errors import InputError
from graphtide.model.schema import name_hint
from graphtide.model.wording import counted
from graphtide.plan.rule_demand import demanded
from graphtide.plan.rules import Relation
from graphtide.run.dataflow.changes import Change
from graphtide.run.dataflow.collection import Arrangement
from graphtide.run.dataflow.flow import Dataflow
from graphtide.run.dataflow.outputs import Output
from graphtide.run.rules.build import BuiltRules, RuleBuilder
from graphtide.run.rules.fact_sets import FactSet
from graphtide.run.rules.files import read_facts
from graphtide.run.rules.relations import UNIT, flow_columns


class StandingRules:
    """One program with its facts; see `api.datalog.Datalog` for what users do with it."""

    def __init__(
        self, program: DatalogText, settings: Mapping[str, Any], *, magic: bool = True
    ) -> None:
        self._magic = magic
        self.program = program
        self.plan = program.plan
        self.flow = Dataflow(program.name, **settings)
        heads = set(self.plan.derived)
        given = {item.relation for item in self.plan.inputs} | dict(self.plan.facts).keys()
        self.facts = {
            item.name: FactSet(item, self.flow.host.texts)
            for item in self.plan.relations
            if item.name not in heads or item.name in given
        }
        for name, facts in self.plan.facts:
            self.facts[name].insert_for_good(list(facts))
        self._built: BuiltRules | None = None
        self.outputs: dict[str, Output] = {}
        self.bases: dict[str, Arrangement] = {}

    def read_files(self, folder: Path) -> None:
        """Insert what the files of `.input` hold."""
        for file in self.plan.inputs:
            self.fact_set(file.relation).insert(
                read_facts(folder, file, self.relation(file.relation))
            )

    def relation(self, name: str) -> Relation:
        """A relation by its name; InputError where there is none."""
        for item in self.plan.relations:
            if item.name == name:
                return item
        known = [item.name for item in self.plan.relations]
        raise InputError(
            f"There is no relation '{name}'",
            hint=name_hint(name, known, f"there is: {', '.join(known)}", "'"),
        )

    def fact_set(self, name: str) -> FactSet:
        """The facts of a relation that users may change."""
        self.relation(name)
        if name not in self.facts:
            raise InputError(
                f"{name} is what rules derive, and cannot be changed",
                hint=f"change what it is derived from, or say `.input {name}` in the text",
            )
        return self.facts[name]

    def built(self) -> BuiltRules:
        """The program as operators, built at the first call."""
        if self._built is None:
            self._built = self._build()
        return self._built

    def _build(self) -> BuiltRules:
        flow = self.flow
        inputs = {
            name: flow.input(name, **flow_columns(item.relation))
            for name, item in self.facts.items()
        }
        unit = flow.input("unit", **{UNIT: int})
        sizes = {name: len(item) for name, item in self.facts.items()}
        plan = self.plan
        if self._magic:
            plan = demanded(plan, plan.wanted, (), asked=False)
        builder = RuleBuilder(flow, plan, inputs, unit, sizes)
        built = builder.build(self.plan.wanted)
        for name in self.plan.wanted:
            self.outputs[name] = built.collection(name).output(name)
        for name, source in inputs.items():
            # By their first column, unless a rule has arranged them already: for queries to import.
            known = [by for number, by, _ in flow.arranged if number == source.number]
            self.bases[name] = source.arrange(known[0] if known else source.names[:1])
        unit.insert_for_good([(0,)])
        for name, item in self.facts.items():
            item.connect(inputs[name])
        return built

    def advance(self) -> None:
        """Derive what follows from all that has changed; where that fails, nothing has."""
        self.built()
        try:
            self.flow.advance()
        except BaseException:
            for item in self.facts.values():
                item.undo()
            raise
        for item in self.facts.values():
            item.settle()

    def output(self, name: str) -> Output:
        """What a relation holds, brought up to date."""
        self.relation(name)
        if name not in self.plan.wanted:
            wanted = ", ".join(self.plan.wanted) or "nothing"
            raise InputError(
                f"{name} is not put out",
                where=f"the text puts out {wanted}",
                hint=f"write `.output {name}`, or ask for it: query('{name}(...)')",
            )
        self.bring_up()
        return self.outputs[name]

    def bring_up(self) -> None:
        """Close a first version, where none has been, so that there is something to read."""
        self.built()
        if self.flow.version == 0:
            self.advance()

    def settle(self) -> None:
        """Close the open version where facts have changed, or none has been closed."""
        if self.flow.version == 0 or not all(item.is_settled for item in self.facts.values()):
            self.advance()

    def changes(self, name: str) -> list[Change]:
        """What has come and gone since the last call."""
        return [
            (self._seen(name, fact), version, diff)
            for fact, version, diff in self.output(name).changes()
        ]

    def rows(self, name: str) -> list[tuple[Any, ...]]:
        """The facts of a relation that is put out, in order."""
        return sorted(self._seen(name, fact) for fact in self.output(name).records())

    def _seen(self, name: str, fact: tuple[Any, ...]) -> tuple[Any, ...]:
        return fact if self.relation(name).columns else ()

    def told(self, name: str) -> str | None:
        """How many facts of a relation users gave; None where they give none."""
        return f"{counted(len(self.facts[name]), 'fact')} given" if name in self.facts else None

    def close(self) -> None:
        """Give all memory back to the system."""
        self.flow.host.end()
        self.flow.clock.flows.clear()
