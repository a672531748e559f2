"""`gt.datalog`: a Datalog program, its facts, and what follows from them, kept current."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from graphtide.lang.datalog.parse import parse_goal
from graphtide.lang.datalog.program import (
    BoundRules,
    DatalogText,
    RuleProgram,
    graph_rules,
    read_datalog,
)
from graphtide.lang.datalog.resolve import lower_goal
from graphtide.model.elsewhere import SaysWhere
from graphtide.model.errors import InputError
from graphtide.plan.dataflow_expressions import Constant
from graphtide.run.table import Table
from graphtide.run.turns import CallLock, StaysInDataflow, in_turn

if TYPE_CHECKING:
    from graphtide.api.pictures.picture import Picture
    from graphtide.run.dataflow.outputs import Change
    from graphtide.run.rules.program import StandingRules
    from graphtide.run.rules.queries import Indexes, Proof, RuleQuery

_SETTINGS = {"memory", "effort", "fuel", "most_rounds", "workers"}


def datalog(
    text: str | PathLike[str],
    *,
    facts: str | PathLike[str] | None = None,
    magic: bool = True,
    **settings: Any,
) -> Datalog:
    """The Datalog program that a text says, or the file of that name if it ends in `.dl`.

        rules = gt.datalog('''
            .decl edge(x: number, y: number)
            .decl tc(x: number, y: number)
            tc(x, y) :- edge(x, y).
            tc(x, z) :- tc(x, y), edge(y, z).
            .output tc
        ''')
        rules.insert("edge", [(1, 2), (2, 3)])
        rules.advance()
        rules.facts("tc")       # [(1, 2), (1, 3), (2, 3)]

    `facts` is the folder of the files that `.input` names, which are read at once. Without `magic`,
    every relation that is needed is derived in full. `settings` are those of `gt.Dataflow`, such as
    `memory`. The page "Datalog" of the documentation says all that can be written.
    """
    return Datalog(read_datalog(text), facts, settings, magic=magic)


class Datalog(StaysInDataflow, SaysWhere):
    """Facts that users change, and relations that rules derive from them.

    Relations are sets: a fact is there or is not, however often it was inserted. What is inserted
    and deleted counts from the next `advance` on. Threads may share a program: each call waits for
    the one before it.
    """

    _elsewhere = {
        "remove": "delete(relation, facts)",
        "records": "facts(relation)",
        "relation": "facts(relation)",
    }

    def __init__(
        self,
        program: DatalogText,
        facts: str | PathLike[str] | None = None,
        settings: Mapping[str, Any] | None = None,
        *,
        magic: bool = True,
    ) -> None:
        self.program = program
        self._magic = magic
        self._settings = dict(settings or {})
        _check_settings(self._settings, self.relations)
        self._standing: StandingRules | None = None
        self._making = Lock()
        self._indexes: Indexes | None = None
        if facts is not None:
            self._rules().read_files(Path(facts))

    @property
    def relations(self) -> dict[str, tuple[str, ...]]:
        """The names of all relations, with those of their columns."""
        return {item.name: item.names for item in self.program.plan.relations}

    @property
    def outputs(self) -> tuple[str, ...]:
        """The relations that are kept current: those of `.output` and `.printsize`."""
        return self.program.plan.wanted

    @property
    def on_graphs(self) -> RuleProgram:
        """The program over a graph or its views; InputError where the text is none."""
        return graph_rules(self.program)

    def __call__(self, /, **parameters: object) -> BoundRules:
        """The program over graphs with its parameters: `years.run(rules(root=["ann"]))`."""
        return self.on_graphs(**parameters)

    @in_turn
    def insert(self, relation: str, rows: Any) -> int:
        """Facts that are there from the next version on; how many were not there before.

        Rows are tuples, or a table: pandas, Arrow, or a mapping of names to columns.
        """
        return self._rules().fact_set(relation).insert(rows)

    @in_turn
    def delete(self, relation: str, rows: Any) -> int:
        """Facts that are not there from the next version on; how many were there before."""
        return self._rules().fact_set(relation).delete(rows)

    @in_turn
    def advance(self) -> None:
        """Derive what follows from what has changed; where that fails, nothing has changed."""
        self._rules().advance()

    @in_turn
    def facts(self, relation: str) -> list[tuple[Any, ...]]:
        """The facts of a relation that is put out, in order, as of the last advance."""
        return self._rules().rows(relation)

    @in_turn
    def size(self, relation: str) -> int:
        """How many facts a relation that is put out has."""
        return len(self._rules().output(relation).records())

    @in_turn
    def table(self, relation: str) -> Table:
        """The same as a table."""
        from graphtide.run.rules.program import facts_table

        rules = self._rules()
        return Table(facts_table(rules.relation(relation), rules.rows(relation)))

    @in_turn
    def changes(self, relation: str) -> list[Change]:
        """What has come (1) and gone (-1) since the last call, with the version of each."""
        return self._rules().changes(relation)

    @in_turn
    def query(self, goal: str) -> DatalogQuery:
        """Ask for the facts of a relation with some values given: `query('tc("david", x)')`.

        The answer is there at once and is kept current until the query is closed. It closes the
        open version: what was inserted and deleted before counts. Any relation can be asked for,
        also one that is not put out; only what the answer needs of it is derived.
        """
        from graphtide.run.rules.queries import RuleQuery

        rules = self._rules()
        lowered = lower_goal(parse_goal(goal), rules.plan.relations)
        return DatalogQuery(RuleQuery(rules, self._shared(), lowered, magic=self._magic))

    @in_turn
    def why(self, fact: str) -> DatalogProof:
        """One short proof of a fact: `why("tc(1, 3)")`.

        Where each rule reads its own loop once, none has fewer rules after one another. It prints
        as a tree, and `draw()` makes a picture of it. InputError where the fact does not hold.
        """
        from graphtide.run.rules.queries import proof_of

        rules = self._rules()
        goal = lower_goal(parse_goal(fact), rules.plan.relations)
        if not all(isinstance(item, Constant) for item in goal.arguments):
            raise InputError(
                f"{goal.text} is no fact: it leaves values open",
                hint="give all values; query() finds those for which it holds",
            )
        proof = proof_of(rules, self._shared(), goal)
        if proof is None:
            raise InputError(f"{goal.text} does not hold", hint="query() finds what does")
        return DatalogProof(proof)

    @property
    def _turns(self) -> CallLock:
        return self._rules().flow.clock.turns

    def _shared(self) -> Indexes:
        if self._indexes is None:
            from graphtide.run.rules.queries import Indexes

            self._indexes = Indexes(self._rules())
        return self._indexes

    @in_turn
    def explain(self) -> str:
        """Strata, rules, in which order each joins its atoms, and how many rows it sent."""
        from graphtide.run.rules.build import explain_rules

        rules = self._rules()
        return explain_rules(rules.flow, rules.built(), rules.told)

    @in_turn
    def close(self) -> None:
        """Give all memory back; nothing can be read or changed any more."""
        if self._standing is not None:
            self._standing.close()

    def __repr__(self) -> str:
        listed = ", ".join(
            f"{name}({', '.join(columns)})" for name, columns in self.relations.items()
        )
        return f"<Datalog {self.program.name}: {listed}>"

    def _rules(self) -> StandingRules:
        """The program with its state, made when it is first used, by whichever thread that is."""
        with self._making:
            if self._standing is None:
                self._standing = self._made()
            return self._standing

    def _made(self) -> StandingRules:
        from graphtide.run.rules.program import StandingRules

        return StandingRules(self.program, self._settings, magic=self._magic)


def _check_settings(settings: Mapping[str, Any], relations: Mapping[str, Any]) -> None:
    """Refuse an unknown setting, which may be the facts of a relation in the wrong place."""
    for name in sorted(set(settings) - _SETTINGS):
        hint = "it takes facts, magic, memory, effort, fuel, most_rounds and workers"
        if name in relations:
            hint = f'insert them: rules.insert("{name}", rows), then rules.advance()'
        raise InputError(f"gt.datalog has no setting '{name}'", hint=hint)


class DatalogQuery(StaysInDataflow):
    """The answer to a goal: the values of its variables, in the order in which it names them."""

    def __init__(self, asked: RuleQuery) -> None:
        self._asked = asked

    @property
    def columns(self) -> tuple[str, ...]:
        """The variables of the goal."""
        return self._asked.relation.names

    def facts(self) -> list[tuple[Any, ...]]:
        """The values for which the goal holds, in order; `[()]` for a goal without variables."""
        return self._asked.rows()

    def table(self) -> Table:
        """The same as a table."""
        from graphtide.run.rules.program import facts_table

        return Table(facts_table(self._asked.relation, self._asked.rows()))

    def changes(self) -> list[Change]:
        """What has come (1) and gone (-1) since the last call, with the version of each."""
        return self._asked.changes()

    def explain(self) -> str:
        """The rules of the query, its demands among them, and in which order each joins."""
        return self._asked.explain()

    def close(self) -> None:
        """Stop keeping the answer current, and give its memory back."""
        self._asked.close()

    def __enter__(self) -> DatalogQuery:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<query {self._asked.flow.name}>"


class DatalogProof:
    """Why a fact holds: the rule that derives it, and why its premises hold."""

    def __init__(self, proof: Proof) -> None:
        self._proof = proof

    @property
    def fact(self) -> tuple[str, tuple[Any, ...]]:
        """The relation and the values."""
        return self._proof.relation, self._proof.fact

    @property
    def rule(self) -> str | None:
        """The rule as text; None for a fact that was given."""
        return self._proof.rule

    @property
    def line(self) -> int:
        """The line of the rule in its text; 0 for a fact that was given."""
        return self._proof.line

    @property
    def premises(self) -> tuple[DatalogProof, ...]:
        """The facts that the rule needs, with their proofs."""
        return tuple(map(DatalogProof, self._proof.premises))

    @property
    def height(self) -> int:
        """How many rules follow each other at most; 0 for a fact that was given."""
        return self._proof.height

    def draw(self) -> Picture:
        """The proof as a picture, the fact on top; `save("proof.svg")` writes it."""
        from graphtide.api.pictures.proofs import draw_proof

        return draw_proof(self._proof)

    def __str__(self) -> str:
        return str(self._proof)

    def __repr__(self) -> str:
        return f"<proof of {self._proof.text}, {self.height} high>"
