"""A vertex program on its way from its plan to machine code: all stages, in one place.

    plan --prove--> what may be left out --write--> a section --generate--> a module

A program plays several *roles*: it is kept current in fixpoint mode or in exact mode, run from
scratch alone or in lanes. Each role has a module of its own, the program's section in front of the
templates that the role needs, so that nobody waits for machine code of a role that nobody asks for.

`program_code` keeps one `ProgramCode` for each plan: nothing is proved or written twice in a
process, whoever asks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, cached_property
from types import ModuleType
from typing import Any, NamedTuple

from graphtide.engine.generate import generated_module, generated_source
from graphtide.engine.lanes.sections import lanes_section, lean_section, single_section
from graphtide.engine.lanes.write import why_not_lanes
from graphtide.engine.sections import selecting_section
from graphtide.engine.synchronous.sections import plain_section, synchronous_section
from graphtide.plan.given_facts import given_expression, with_given_facts
from graphtide.plan.program_analysis import (
    Selection,
    explain_analysis,
    labels_components,
    selection,
    why_not_selection,
)
from graphtide.plan.program_text import explain
from graphtide.plan.programs import VertexProgram

_WIDE = "graphtide.kernels.lanes.values", "graphtide.kernels.lanes.words"
_NARROW = "graphtide.kernels.lanes.single_values"


class Role(NamedTuple):
    """What a module is for: who writes the program's section, and what comes behind it."""

    name: str
    section: Callable[[VertexProgram, Selection | None], str]
    templates: tuple[str, ...]


def _selecting(program: VertexProgram, found: Selection | None) -> str:
    assert found is not None
    return selecting_section(program, found, settles=False)


def _settling(program: VertexProgram, found: Selection | None) -> str:
    assert found is not None
    return selecting_section(program, found, settles=True)


def _settling_given(program: VertexProgram, found: Selection | None) -> str:
    assert found is not None
    assert found.initial is not None
    message, initial = (given_expression(item) for item in (found.message, found.initial))
    found = replace(found, message=message, initial=initial)
    return selecting_section(with_given_facts(program), found, settles=True)


_FOLLOWING = "selecting", "settling", "trimming", "fixpoint", "fixpoint_call", "stretch"
_HISTORIES = "selecting", "settling", "rounds", "events", "visiting", "exact", "exact_call"

FIXPOINT = Role("fixpoint", _settling, _FOLLOWING)
"""Kept current with one value a vertex."""
LABELS = Role("labels", _settling, (*_FOLLOWING, "relabelling"))
"""The same of plain components, whose large parts are renamed in one sweep."""
EXACT = Role("exact", _selecting, _HISTORIES)
"""A selecting program kept current with its histories, on any edges."""
EXACT_SETTLING = Role("exact_settling", _settling, _HISTORIES)
"""The same on edges of which it is known that no message overtakes its source."""
RECORDED = Role("recorded", lambda plan, _: synchronous_section(plan), ("synchronous", "recording"))
"""Any program run from scratch, every iteration kept."""
REFINED = Role(
    "refined",
    lambda plan, _: synchronous_section(plan),
    ("differences", "evaluation", "refinement"),
)
"""What was kept, corrected."""
PLAIN = Role("plain", lambda plan, _: plain_section(plan), ("synchronous",))
"""Any program run from scratch, nothing kept."""
SUPERSTEPS = Role(
    "supersteps",
    lambda plan, _: plain_section(with_given_facts(plan)),
    ("synchronous", "own_targets", "supersteps"),
)
"""The same on a part of a graph, superstep by superstep."""
LANES = Role("lanes", lambda plan, _: lanes_section(plan), ("lanes",))
"""Up to eight versions run from scratch in one pass over the edges."""
SINGLE = Role("single", lambda plan, _: single_section(plan), ("lanes",))
"""The template of lanes with a number in place of a lane: one version from scratch."""
LEAN = Role("lean", lambda plan, _: lean_section(plan), ("lanes", "ranges"))
"""One version from scratch over a lean graph, by ranges of vertices."""
LEAN_PLAIN = Role(
    "lean_plain", lambda plan, _: plain_section(plan), ("synchronous", "plain_ranges")
)
"""The same of programs that have no form in lanes."""
LEAN_OFFERS = Role("lean_offers", _settling, ("selecting", "offers"))
"""A selecting program on edges of which it is known that no message overtakes its source."""
LANE_SUPERSTEPS = Role(
    "lane_supersteps",
    lambda plan, _: single_section(with_given_facts(plan)),
    ("lanes", "own_targets", "lane_supersteps"),
)
"""Supersteps of a program that has that form."""
OWN_TRIMMING = Role("own_trimming", _settling_given, ("selecting", "own_trimming"))
"""What deleted edges take away from a selecting program, on a part of a graph."""
_SINGLE = SINGLE, LEAN, LANE_SUPERSTEPS


class ProgramCode:
    """What was proved of a program, and its modules by role; each is made when first asked for."""

    def __init__(self, plan: VertexProgram) -> None:
        self.plan = plan
        self._modules: dict[Role, ModuleType] = {}

    @cached_property
    def selection(self) -> Selection | None:
        """The program as a selection; None if it is none."""
        return selection(self.plan)

    @cached_property
    def why_not_selection(self) -> str | None:
        """The reason in words why it is no selection; None if it is one."""
        return None if self.selection is not None else why_not_selection(self.plan)

    @cached_property
    def labels_components(self) -> bool:
        """True of labels of plain connected components."""
        return self.selection is not None and labels_components(self.plan, self.selection)

    @cached_property
    def why_not_lanes(self) -> str | None:
        """The reason in words why it has no form in lanes; None if it has one."""
        return why_not_lanes(self.plan)

    def module(self, role: Role) -> Any:
        """The module of a role; its kernels are compiled when they are first called."""
        if role not in self._modules:
            section = role.section(self.plan, self.selection)
            source = generated_source(section, *role.templates)
            for wide in _WIDE if role in _SINGLE else ():
                source = source.replace(wide, _NARROW)
            self._modules[role] = generated_module(source, f"{self.plan.name}_{role.name}")
        return self._modules[role]

    def explain(self) -> list[str]:
        """The plan as text, and what was found out about it, with reasons."""
        lines = [explain(self.plan), "analysis"]
        return lines + [f"    {line}" for line in explain_analysis(self.plan)]


@cache
def program_code(plan: VertexProgram) -> ProgramCode:
    """The one `ProgramCode` of a plan."""
    return ProgramCode(plan)
