"""What is known of a run beside its steps and results: its program, its collection, how it ran."""

from __future__ import annotations

import datetime as dt
import hashlib
from dataclasses import dataclass, fields
from typing import Any, Literal

from graphtide.lang.python import BoundDataflow
from graphtide.model.errors import StoreError
from graphtide.plan.program_analysis import is_plain_components
from graphtide.run.live.chosen_program import Bound, ChosenProgram
from graphtide.run.live.result_rows import Pairs

Strategy = Literal["adaptive", "differential", "scratch"]


@dataclass(frozen=True)
class RunFacts:
    """As stored in the manifest.

    `identity` is that of the program with its parameters and of the collection: only what has the
    same can be resumed. `labels` names the result that holds components, if one does. `pairs` are
    those that results belong to, by the numbers of their vertices; None where they are vertices'.
    `versions` is the collection as of the run; empty where none is stored.
    """

    name: str
    program: str
    fields: tuple[str, ...]
    labels: str | None
    mode: str
    reason: str
    strategy: Strategy
    collection: str
    graph: str
    graph_identity: str
    identity: str
    created: str
    pairs: Pairs | None = None
    versions: str = ""

    def to_json(self) -> dict[str, Any]:
        """As a manifest holds it."""
        return {"run": {**vars(self), "fields": list(self.fields)}}


def run_name(collection: str, bound: Bound) -> str:
    """The name of a run that was given none."""
    return f"{collection}-{bound.program.name}"


def begun_facts(
    chosen: ChosenProgram, strategy: Strategy, pairs: Pairs | None, visited: str = "", **known: str
) -> RunFacts:
    """The facts of a run that begins now; `visited` is what it visits, as text.

    `known` are its name, that of its collection, the reason of its mode, and all that only stored
    runs have.
    """
    told: dict[str, Any] = {"graph": "", "graph_identity": ""}
    return RunFacts(
        program=str(chosen.bound),
        fields=chosen.fields,
        labels=component_field(chosen),
        mode=chosen.choice.mode,
        strategy=strategy,
        identity=run_identity(chosen, visited),
        created=dt.datetime.now(dt.UTC).isoformat(),
        pairs=pairs,
        **(told | known),
    )


def facts_from(name: str, manifest: dict[str, Any]) -> RunFacts:
    """The facts of a manifest."""
    try:
        given = manifest["run"]
        later = ("pairs", "versions")
        known = {item.name: given[item.name] for item in fields(RunFacts) if item.name not in later}
        known |= {"name": name, "fields": tuple(given["fields"])}
        pairs = given.get("pairs")
        pairs = None if pairs is None else tuple(map(tuple, pairs))
        return RunFacts(**known, pairs=pairs, versions=given.get("versions", ""))
    except (KeyError, TypeError) as error:
        raise StoreError(
            f"the manifest of the run '{name}' is damaged: {error!r}", hint="run it again"
        ) from None


def component_field(chosen: ChosenProgram) -> str | None:
    """The result that tells which component a vertex is in; None where there is none."""
    bound = chosen.bound
    if isinstance(bound, BoundDataflow):
        return chosen.fields[0] if bound.program.result.labels else None
    return chosen.fields[0] if is_plain_components(bound.program) else None


def run_identity(chosen: ChosenProgram, versions: str) -> str:
    """Equal for the same program with the same parameters, mode and versions, and only then."""
    text = f"{_told(chosen.bound)}|{chosen.choice.mode}|{versions}"
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _told(bound: Bound) -> str:
    """A program with its parameters, and all that it does, as text."""
    if isinstance(bound, BoundDataflow):
        # Imported here: the dataflow machine takes a quarter of a second that others do not need.
        from graphtide.run.dataflow.identity import dataflow_identity

        return dataflow_identity(bound)
    return f"BoundProgram(program={bound.program!r}, values={bound.values!r})"
