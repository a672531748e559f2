"""Random expressions of a type, from the names that a function may read.

Most of them stay within numbers that floats hold exactly, so that sums have one right answer. A
wild writer also divides by what may be zero, overflows, and makes infinities and NaN.
"""

from __future__ import annotations

import datetime as dt
import random
import re
from dataclasses import dataclass, field
from typing import Any

from tests.equivalence.random_programs.given_vertices import FIRST_DAY, TEXTS

KINDS = ("int", "float", "bool")
INTS = ("0", "1", "2", "3", "5", "7", "-1", "-2")
WILD_INTS = (
    "9223372036854775807",
    "-9223372036854775807",
    "-9223372036854775808",
    "4611686018427387904",
    "-1",
)
FLOATS = ("0.0", "0.5", "1.0", "2.0", "3.0", "0.25", "-1.0", "-0.5", "8.0")
WILD_FLOATS = ("inf", "-inf", "1e308", "0.1", "-0.0", "1e-320", "(inf - inf)")


@dataclass
class Parameters:
    """Parameters that are declared because something uses them, with the values they are given."""

    pick: random.Random
    vertices: tuple[Any, ...]
    given: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, str] = field(default_factory=dict)

    def number(self, kind: str) -> str:
        """The name of a parameter of that type, declared from now on."""
        name = {"int": "count", "float": "share", "bool": "flag"}[kind]
        value = {
            "int": self.pick.choice((0, 1, 2, 3, -1)),
            "float": self.pick.choice((0.0, 0.5, 1.0, 2.0, -1.0)),
            "bool": self.pick.random() < 0.5,
        }[kind]
        if name not in self.lines:
            default = self.pick.random() < 0.3
            self.lines[name] = f"{name}: {kind}" + (f" = {value!r}" if default else "")
            if not default:
                self.given[name] = value
        return f"self.{name}"

    def text(self) -> str:
        """A parameter that is a text."""
        if "word" not in self.lines:
            self.lines["word"] = "word: str"
            self.given["word"] = self.pick.choice((*TEXTS, "elsewhere"))
        return "self.word"

    def day(self) -> str:
        """A parameter that is a date; its default is one that is written as a text."""
        if "day" not in self.lines:
            self.lines["day"] = "day: gt.Date = '2020-01-05'"
            if self.pick.random() < 0.5:
                days = dt.timedelta(days=self.pick.randrange(14))
                self.given["day"] = FIRST_DAY + days
        return "self.day"

    def used(self, text: str) -> list[str]:
        """The declarations of those that a text uses; the others are forgotten."""
        used = [name for name in self.lines if re.search(rf"self\.{name}\b|'{name}'", text)]
        self.given = {name: value for name, value in self.given.items() if name in used}
        return [self.lines[name] for name in used]

    def vertex(self) -> str:
        if "source" not in self.given:
            self.lines["source"] = "source: gt.Vertex"
            self.given["source"] = self.pick.choice(self.vertices)
        return "self.source"

    def several(self) -> str:
        if "sources" not in self.given:
            self.lines["sources"] = "sources: gt.Vertices"
            count = self.pick.randrange(1, 4)
            self.given["sources"] = [self.pick.choice(self.vertices) for _ in range(count)]
        return "self.sources"


@dataclass
class Sentences:
    """Writes expressions for one function: `names` lists what can be read there, by type."""

    pick: random.Random
    names: dict[str, list[str]]
    parameters: Parameters
    vertices: tuple[str, ...] = ("v",)
    wild: float = 0.0

    def write(self, kind: str, depth: int = 2) -> str:
        """An expression of a type, in parentheses where it is not an atom."""
        if depth <= 0 or self.pick.random() < 0.25:
            return self.atom(kind)
        return {"int": self._int, "float": self._float, "bool": self._bool}[kind](depth - 1)

    def atom(self, kind: str) -> str:
        """A name or a number."""
        names = self.names[kind]
        if names and self.pick.random() < 0.75:
            return self.pick.choice(names)
        if self.pick.random() < 0.15:
            return self.parameters.number(kind)
        if kind == "bool":
            return self.pick.choice(("True", "False"))
        if self.pick.random() < self.wild:
            return self.pick.choice(WILD_INTS if kind == "int" else WILD_FLOATS)
        return self.pick.choice(INTS if kind == "int" else FLOATS)

    def _choice(self, kind: str, depth: int) -> str:
        yes, no = self.write(kind, depth), self.write(kind, depth)
        if kind == "float" and self.pick.random() < 0.2:
            no = self.write("int", depth)
        return f"({yes} if {self.write('bool', depth)} else {no})"

    def _several(self, kind: str, depth: int) -> str:
        function = self.pick.choice(("min", "max"))
        count = self.pick.choice((2, 2, 3))
        return f"{function}({', '.join(self.write(kind, depth) for _ in range(count))})"

    def _int(self, depth: int) -> str:
        one, other = (self.write("int", depth) for _ in range(2))
        chance = self.pick.random()
        if chance < 0.4:
            return f"({one} {self.pick.choice(('+', '-', '+', '*'))} {other})"
        if chance < 0.5:
            return f"({one} {self.pick.choice(('//', '%'))} {other})"
        if chance < 0.65:
            return self._several("int", depth)
        if chance < 0.8:
            return self._choice("int", depth)
        if chance < 0.85:
            return f"({one}) ** {self.pick.choice((0, 2, 3))}"
        if chance < 0.9:
            return f"int({self.write('bool', depth)})"
        if chance < 0.95:
            inner = self.write("float", 0)
            cut = self.pick.choice(("int", "floor", "ceil"))
            return f"({cut}({inner}) if -1000.0 < {inner} < 1000.0 else {one})"
        return f"abs({one})" if chance < 0.97 else f"(-{one})"

    def _float(self, depth: int) -> str:
        one, other = (self.write("float", depth) for _ in range(2))
        if self.pick.random() < 0.5 * self.wild:
            return self._wild_float(one, other)
        chance = self.pick.random()
        if chance < 0.35:
            return f"({one} {self.pick.choice(('+', '-', '+'))} {other})"
        if chance < 0.5:
            return f"({one} * {self.pick.choice(('0.5', '0.25', '2.0', '-1.0', '0.5'))})"
        if chance < 0.65:
            return self._several("float", depth)
        if chance < 0.8:
            return self._choice("float", depth)
        if chance < 0.87:
            return f"float({self.write('int', depth)})"
        mixed = self.write("int", depth)
        return self.pick.choice((f"abs({one})", f"(-{one})", f"({one} + {mixed})"))

    def _wild_float(self, one: str, other: str) -> str:
        names = self.names["float"] or self.names["int"]
        name = self.pick.choice(names) if names else "1.0"
        return self.pick.choice(
            (
                f"({one} / {name})",
                f"({one} * {other})",
                f"({one} // {name})",
                f"({one} % {name})",
                f"({one}) ** 2",
                f"({name}) ** 0.5",
                f"sqrt({one})",
                f"sqrt({one} + {other})",
                f"log({one})",
                f"exp({one})",
                f"math.pow({one}, 2)",
            )
        )

    def _bool(self, depth: int) -> str:
        chance = self.pick.random()
        kind = self.pick.choice(("int", "float"))
        one, other = (self.write(kind, depth) for _ in range(2))
        if chance < 0.1:
            return self.about_properties()
        if chance < 0.45:
            return f"({one} {self.pick.choice(('<', '<=', '>', '>=', '==', '!='))} {other})"
        if chance < 0.55:
            return f"({one} <= {other} < {self.write(kind, 0)})"
        if chance < 0.7:
            word = self.pick.choice(("and", "or"))
            return f"({self.write('bool', depth)} {word} {self.write('bool', depth)})"
        if chance < 0.78:
            return f"(not {self.write('bool', depth)})"
        if chance < 0.82:
            return f"({self.write('bool', depth)} == {self.write('bool', depth)})"
        if chance < 0.85:
            return f"bool({self.write('int', depth)})"
        return self.about_vertices()

    def about_vertices(self) -> str:
        """A question about which vertex it is."""
        vertex = self.pick.choice(self.vertices)
        ways = [
            lambda: f"({vertex} == {self.parameters.vertex()})",
            lambda: f"({vertex} in {self.parameters.several()})",
            lambda: f"({vertex} not in {self.parameters.several()})",
            lambda: f"({vertex}.id % 2 == 0)",
        ]
        if len(self.vertices) > 1:
            ways.append(lambda: "(u != v)")
        if self.pick.random() < 0.5:
            return self.about_properties()
        return self.pick.choice(ways)()

    def about_properties(self) -> str:
        """A question about what the data say of a vertex: its texts, its date."""
        one, other = (self.pick.choice(self.vertices) for _ in range(2))
        word, same = self.pick.choice(TEXTS), self.pick.choice(("==", "!="))
        order = self.pick.choice(("<", "<=", ">", ">=", "==", "!="))
        ways = (
            lambda: f"({one}.kind {same} {word!r})",
            lambda: f"({one}.kind {same} {other}.kind)",
            lambda: f"({one}.town {same} {other}.kind)",
            lambda: f"({one}.kind {same} {self.parameters.text()})",
            lambda: f"({one}.town in ({word!r}, 'c', {self.parameters.text()}))",
            lambda: f"({one}.kind not in ({word!r},))",
            lambda: f"(({one}.kind if {one}.active else {other}.town) {same} {other}.kind)",
            lambda: f"({one}.born {order} {self.parameters.day()})",
            lambda: f"({one}.born {order} {other}.born)",
            lambda: f"({one}.born - {self.parameters.day()} {order} 3)",
            lambda: f"(int({one}.born) % 2 == 0)",
        )
        return self.pick.choice(ways)()
