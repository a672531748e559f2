"""What the programs of a family are put together from: parts chosen at random, in one text."""

from __future__ import annotations

import random
from typing import Any

from tests.equivalence.random_programs.given_vertices import declarations
from tests.equivalence.random_programs.sentences import Parameters, Sentences

Made = tuple[str, dict[str, Any]]
"""The text of a program, and the values of its parameters."""


class Template:
    """Collects the lines of one program."""

    def __init__(self, pick: random.Random, vertices: tuple[Any, ...]) -> None:
        self.pick = pick
        self.parameters = Parameters(pick, vertices)
        self.fields: list[str] = []
        self.bodies: dict[str, list[str]] = {"initialize": [], "traverse": [], "update": []}

    def one(self, *choices: Any) -> Any:
        return self.pick.choice(choices)

    def maybe(self, chance: float) -> bool:
        return self.pick.random() < chance

    def add(self, function: str, *lines: str) -> None:
        self.bodies[function] += lines

    def bound(self, none: float) -> None:
        """A bound on the iterations, or none."""
        if self.maybe(none):
            return
        way = self.pick.random()
        if way < 0.6:
            self.fields.append(f"iterations = {self.one(0, 1, 2, 3, 4, 5, 7)}")
        elif way < 0.8:
            self.fields.append(f"iterations: int = {self.one(2, 4)}")
        else:
            self.parameters.lines["rounds"] = "rounds: int"
            self.parameters.given["rounds"] = self.one(1, 2, 3, 5)
            self.fields.append("iterations = 'rounds'")

    def direction(self) -> None:
        if self.maybe(0.5):
            self.fields.append(f"direction = {self.one('out', 'in', 'both')!r}")

    def condition(self, state: str) -> str:
        """A condition for sending: on the edge, on who sends, on parameters, on the state."""
        ways = (
            lambda: "e.open",
            lambda: "not e.open",
            lambda: "e.weight > 1.0",
            lambda: "e.toll > 0",
            lambda: f"e.weight >= {self.parameters.number('float')}",
            lambda: self.parameters.number("bool"),
            lambda: f"u in {self.parameters.several()}",
            lambda: f"u.{state} < {self.one('4', '2', '6')}",
            lambda: f"u.{state} > {self.one('1', '0')}",
            lambda: f"u.{state} > {self.parameters.number('int')}",
            lambda: "u != v",
            lambda: "u.id < 3",
            lambda: "e.open and e.weight < 3.0",
            lambda: Sentences(self.pick, {}, self.parameters, ("u",)).about_properties(),
            lambda: Sentences(self.pick, {}, self.parameters, ("u", "v")).about_properties(),
            lambda: self.one("u.active", "v.active", "u.rank > v.rank", "v.level >= 1"),
        )
        return str(self.pick.choice(ways)())

    def text(self, name: str) -> Made:
        functions: list[str] = []
        for function, lines in self.bodies.items():
            if lines:
                arguments = "self, u, e, v" if function == "traverse" else "self, v"
                functions.append(f"def {function}({arguments}):")
                functions += [f"    {line}" for line in lines]
        whole = "\n".join([*self.fields, *functions])
        for item, kind in (("toll", "int"), ("open", "bool")):
            if f"e.{item}" in whole:
                self.fields.append(f"{item} = gt.Property({kind})")
        self.fields += declarations(whole)
        body = [*self.parameters.used(whole), *self.fields, *functions]
        text = "\n".join(["@gt.program", f"class {name}:", *(f"    {line}" for line in body)])
        return text + "\n", self.parameters.given


def step_of(made: Template, kind: str) -> str:
    if kind == "int":
        return str(
            made.one(
                *("1", "e.toll", "e.toll", "2", "abs(e.toll)", "max(e.toll, 0)", "0", "u.id"),
                *("u.rank", "v.rank", "u.level", "v.level"),
            )
            if made.maybe(0.85)
            else made.parameters.number("int")
        )
    return str(
        made.one(
            *("e.weight", "e.weight", "1.0", "abs(e.weight)", "max(e.weight, 0.0)", "0.5", "0.0"),
            *("u.worth", "v.worth", "u.worth + v.worth"),
        )
        if made.maybe(0.85)
        else made.parameters.number("float")
    )


def share_of(made: Template) -> str:
    """A factor that is a choice between constants, which proofs bound by both of them."""
    guard = made.one("e.open", "e.toll > 0", "u.kind == 'a'", "u.kind == v.kind", "e.weight < 1.0")
    one, other = made.one("0.9", "0.5", "1.0", "0.25"), made.one("0.5", "0.0", "1.0", "2.0", "-0.5")
    choice = f"({one} if {guard} else {other})"
    return str(made.one(choice, choice, f"min({choice}, abs(e.weight))", f"(1.0 - {choice})"))
