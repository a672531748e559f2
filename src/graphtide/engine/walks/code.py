"""A walk program on its way from its plan to machine code.

plan --normal form--> walks --rule 7--> terms --orders--> nests --write--> a module
"""

from __future__ import annotations

from functools import cache, cached_property
from typing import Any

from graphtide.engine.generate import generated_module, generated_source
from graphtide.engine.walks.compact import CompactForm, CompactNest, is_compact
from graphtide.engine.walks.layout import WalkLayout, walk_layout
from graphtide.engine.walks.names import WalkNames
from graphtide.engine.walks.section import walk_section
from graphtide.model.errors import InputError
from graphtide.plan.walk_explain import explain_walks
from graphtide.plan.walk_facts import WalkFacts, walk_facts
from graphtide.plan.walks import WalkProgram


class WalkCode:
    """What was found out about a program, and its module, made when first asked for."""

    def __init__(self, plan: WalkProgram) -> None:
        self.plan = plan

    @cached_property
    def facts(self) -> WalkFacts:
        """What the program looks at."""
        return walk_facts(self.plan)

    @cached_property
    def layout(self) -> WalkLayout:
        """Where its accumulators and state stand."""
        return walk_layout(self.plan)

    @cached_property
    def compact_forms(self) -> dict[int, CompactForm]:
        """What copies of the graph runs from scratch want, by the number of the walk."""
        names = WalkNames(self.plan, self.layout, self.facts)
        return {
            number: CompactNest(names, walk).form
            for number, walk in enumerate(self.facts.walks)
            if is_compact(walk)
        }

    def explain(self) -> list[str]:
        """Each walk, the terms of its delta with their orders, and how results are kept current."""
        return explain_walks(self.plan)

    @cached_property
    def module(self) -> Any:
        """The compiled module; its kernels are compiled when they are first called."""
        others = ["walk_rounds"] if self.facts.stateful else []
        source = generated_source(walk_section(self.plan, self.facts), "walks", *others)
        try:
            return generated_module(source, f"{self.plan.name}_walks")
        except SyntaxError as error:
            if "nested blocks" not in str(error):
                raise
            raise InputError(
                f"{self.plan.name}: a walk has too many steps to be compiled",
                hint="Python takes twenty loops within one another, and a step may need two: "
                "nine steps always fit",
            ) from None


@cache
def walk_code(plan: WalkProgram) -> WalkCode:
    """The one `WalkCode` of a plan."""
    return WalkCode(plan)
