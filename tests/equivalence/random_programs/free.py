"""Whole programs of anything that the language has, put together at random.

Every accumulator is sent to and read, every declared parameter used, so that each text is legal.
A program without a bound on its iterations settles in most cases: its states only ever rise, and
stop at a cap.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from tests.equivalence.random_programs.given_vertices import NAMES, declarations
from tests.equivalence.random_programs.sentences import KINDS, Parameters, Sentences

FACTS = ("id", "degree", "out_degree", "in_degree")
ACCUMULATORS = {
    "Min": ("int", "float"),
    "Max": ("int", "float"),
    "Sum": ("int", "float"),
    "Product": ("int", "float"),
    "Count": ("int",),
    "Or": ("bool",),
    "And": ("bool",),
}


@dataclass(frozen=True)
class Field:
    """A state field or an accumulator; `size` is None, a number, or the name of a parameter."""

    name: str
    kind: str
    size: int | str | None = None
    word: str = ""

    def place(self, pick: random.Random) -> str:
        """The index of an element, surely inside; nothing where it is no array."""
        if self.size is None:
            return ""
        return "[0]" if isinstance(self.size, str) else f"[{pick.randrange(self.size)}]"


@dataclass
class FreeProgram:
    """One random program; `text` writes it, and then `given` are its parameters."""

    pick: random.Random
    vertices: tuple[Any, ...]
    wild: float = 0.0
    parameters: Parameters = field(init=False)
    states: list[Field] = field(init=False)
    accumulators: list[Field] = field(init=False)

    def __post_init__(self) -> None:
        pick = self.pick
        self.parameters = Parameters(pick, self.vertices)
        self.bounded = pick.random() < 0.6
        self.states = [
            Field(f"s{at}", pick.choice(KINDS), self._size())
            for at in range(pick.choice((1, 1, 1, 2, 3)))
        ]
        self.accumulators = []
        for at in range(pick.choice((1, 1, 2, 3))):
            word = pick.choice(tuple(ACCUMULATORS))
            kind = pick.choice(ACCUMULATORS[word])
            self.accumulators.append(Field(f"a{at}", kind, self._size(), word))

    @property
    def given(self) -> dict[str, Any]:
        return self.parameters.given

    def _size(self) -> int | str | None:
        if self.pick.random() < 0.8:
            return None
        if self.pick.random() < 0.5:
            return self.pick.choice((1, 2, 3))
        self.parameters.lines["width"] = "width: int"
        self.parameters.given["width"] = self.pick.choice((1, 2, 3))
        return "width"

    def text(self) -> str:
        """The class. Declarations come last, because functions decide which there are."""
        functions = self._initialize() + self._traverse() + self._update()
        settings = self._settings()
        fields = [self._state_line(item) for item in self.states]
        fields += [self._accumulator_line(item) for item in self.accumulators]
        if any("e.toll" in line for line in functions):
            fields.append("toll = gt.Property(int)")
        if any("e.open" in line for line in functions):
            fields.append("open = gt.Property(bool)")
        fields += declarations("\n".join(functions))
        parameters = self.parameters.used("\n".join([*fields, *settings, *functions]))
        body = [*parameters, *fields, *settings, *functions]
        return "\n".join(["@gt.program", "class Free:", *(f"    {line}" for line in body)]) + "\n"

    def _state_line(self, item: Field) -> str:
        default = {
            "int": ("0", "3", "-1"),
            "float": ("0.0", "1.0", "inf"),
            "bool": ("True", "False"),
        }
        given = (
            f", default={self.pick.choice(default[item.kind])}" if self.pick.random() < 0.6 else ""
        )
        size = "" if item.size is None else f", size={item.size!r}"
        return f"{item.name} = gt.State({item.kind}{given}{size})"

    def _accumulator_line(self, item: Field) -> str:
        typed = item.word in ("Min", "Max", "Sum", "Product")
        size = "" if item.size is None else f"size={item.size!r}"
        arguments = ", ".join(filter(None, (item.kind if typed else "", size)))
        return f"{item.name} = gt.{item.word}({arguments})"

    def _settings(self) -> list[str]:
        pick, lines = self.pick, []
        if pick.random() < 0.5:
            lines.append(f"direction = {pick.choice(('out', 'in', 'both', 'both'))!r}")
        if self.bounded:
            way = pick.random()
            if way < 0.6:
                lines.append(f"iterations = {pick.choice((0, 1, 2, 3, 4, 6))}")
            elif way < 0.8:
                lines.append(f"iterations: int = {pick.choice((1, 2, 5))}")
            else:
                self.parameters.lines["rounds"] = "rounds: int"
                self.parameters.given["rounds"] = pick.choice((1, 2, 3, 5))
                lines.append("iterations = 'rounds'")
        if pick.random() < 0.1:
            lines.append(f"tolerance = {pick.choice((0.5, 0.25, 0.001))}")
        return lines

    def _names(self, who: str) -> dict[str, list[str]]:
        """What can be read of a vertex."""
        found: dict[str, list[str]] = {kind: [] for kind in KINDS}
        for item in self.states:
            found[item.kind] += [f"{who}.{item.name}{item.place(self.pick)}"] * 2
        found["int"].append(f"{who}.{self.pick.choice(FACTS)}")
        if self.pick.random() < 0.4:
            kind = self.pick.choice(KINDS)
            found[kind].append(f"{who}.{self.pick.choice(NAMES[kind])}")
        return found

    def _sentences(self, names: dict[str, list[str]], *who: str) -> Sentences:
        return Sentences(self.pick, names, self.parameters, who or ("v",), self.wild)

    def _initialize(self) -> list[str]:
        if self.pick.random() < 0.2:
            return []
        names = self._names("v")
        names["int"] += [f"v.{fact}" for fact in FACTS]
        sentences, lines = self._sentences(names), []
        for item in self.states:
            if self.pick.random() < 0.8:
                lines += self._assignment(item, lambda item: sentences.write(item.kind, 2))
        return ["def initialize(self, v):", *(f"    {line}" for line in lines or ["pass"])]

    def _assignment(self, item: Field, value: Any) -> list[str]:
        """Statements that give a state field a value, under a condition at times."""
        if item.size is None:
            return [f"v.{item.name} = {value(item)}"]
        if self.pick.random() < 0.6:
            length = self.pick.choice((f"len(v.{item.name})", self._length(item)))
            return [f"for k in range({length}):", f"    v.{item.name}[k] = {value(item)}"]
        return [f"v.{item.name}{item.place(self.pick)} = {value(item)}"]

    def _length(self, item: Field) -> str:
        return f"self.{item.size}" if isinstance(item.size, str) else str(item.size)

    def _traverse(self) -> list[str]:
        names = {kind: [] for kind in KINDS}
        both = self.pick.random() < 0.5
        for who in ("u", "u", "v") if both else ("u",):
            for kind, found in self._names(who).items():
                names[kind] += found
        names["int"] += ["e.toll"]
        names["float"] += ["e.weight"]
        names["bool"] += ["e.open"]
        sentences, lines = self._sentences(names, "u", "v"), []
        if self.pick.random() < 0.3:
            lines += self._local(sentences, names, "t")
        for item in self.accumulators:
            for _ in range(self.pick.choice((1, 1, 1, 2))):
                lines += self._guarded(sentences, self._send(item, sentences))
        return ["def traverse(self, u, e, v):", *(f"    {line}" for line in lines)]

    def _local(self, sentences: Sentences, names: dict[str, list[str]], name: str) -> list[str]:
        """A name of the function's own, that may widen from int to float."""
        kind = self.pick.choice(("int", "float"))
        lines = [f"{name} = {sentences.write(kind, 1)}"]
        if kind == "float" and self.pick.random() < 0.5:
            lines = [
                f"{name} = {sentences.write('int', 1)}",
                f"{name} += {sentences.write(kind, 1)}",
            ]
        elif self.pick.random() < 0.3:
            change = f"    {name} {self.pick.choice(('+=', '-='))} {sentences.write(kind, 1)}"
            lines += [f"if {sentences.write('bool', 1)}:", change]
        names[kind] += [name, name]
        return lines

    def _guarded(self, sentences: Sentences, lines: list[str]) -> list[str]:
        chance = self.pick.random()
        if chance < 0.65:
            return lines
        inner = [f"    {line}" for line in lines]
        lines = [f"if {sentences.write('bool', 2)}:", *inner]
        if chance > 0.9:
            lines = [f"if {sentences.write('bool', 1)}:", *(f"    {line}" for line in lines)]
            lines += [f"elif {sentences.write('bool', 1)}:", *inner, "else:", "    pass"]
        return lines

    def _send(self, item: Field, sentences: Sentences) -> list[str]:
        def value() -> str:
            return "" if item.word == "Count" else sentences.write(item.kind, 2)

        if item.size is None:
            return [f"v.{item.name}({value()})"]
        chance = self.pick.random()
        if isinstance(item.size, int) and chance < 0.3 and item.word != "Count":
            return [f"v.{item.name}([{', '.join(value() for _ in range(item.size))}])"]
        if chance < 0.6:
            length = self._length(item)
            return [f"for k in range({length}):", f"    v.{item.name}[k]({value()})"]
        if chance < 0.8:
            place = f"abs({sentences.atom('int')} % {self._length(item)})"
            return [f"v.{item.name}[{place}]({value()})"]
        return [f"v.{item.name}{item.place(self.pick)}({value()})"]

    def _update(self) -> list[str]:
        pick, names = self.pick, self._names("v")
        for item in self.accumulators:
            names[item.kind] += [f"v.{item.name}{item.place(pick)}"] * 3
        if pick.random() < 0.15:
            names["int"].append("self.iteration")
        sentences, lines = self._sentences(names), []
        if pick.random() < 0.3:
            lines += self._local(sentences, names, "t")
        for item in self.states:
            lines += self._guarded_update(sentences, item)
        written = "\n".join(lines)
        for item in self.accumulators:
            if f"v.{item.name}" not in written:
                lines += self._surely_read(item)
        return ["def update(self, v):", *(f"    {line}" for line in lines)]

    def _guarded_update(self, sentences: Sentences, item: Field) -> list[str]:
        lines = self._assignment(item, lambda item: self._new_value(sentences, item))
        if self.pick.random() < 0.75:
            return lines
        return [f"if {sentences.write('bool', 1)}:", *(f"    {line}" for line in lines)]

    def _new_value(self, sentences: Sentences, item: Field) -> str:
        value = sentences.write(item.kind, 2)
        if self.bounded or self.pick.random() < 0.08:
            return value
        place = "" if item.size is None else "[0]"
        return self._rising(item.kind, f"v.{item.name}{place}", value)

    def _rising(self, kind: str, held: str, value: str) -> str:
        if kind == "bool":
            return f"({held} or {value})"
        cap = self.pick.choice(("9", "4", "20")) + (".0" if kind == "float" else "")
        return f"min({cap}, max({held}, {value}))"

    def _surely_read(self, item: Field) -> list[str]:
        """One more statement, that reads an accumulator nobody has read."""
        read = f"v.{item.name}{item.place(self.pick)}"
        state = self.pick.choice(self.states)
        held = f"v.{state.name}" + ("" if state.size is None else "[0]")
        value = {
            ("int", "int"): read,
            ("float", "float"): read,
            ("int", "float"): f"float({read})",
            ("bool", "int"): f"int({read})",
            ("bool", "float"): f"float(int({read}))",
            ("float", "int"): f"int({read} > 1.0)",
            ("bool", "bool"): read,
            ("int", "bool"): f"({read} > 1)",
            ("float", "bool"): f"({read} > 1.0)",
        }[item.kind, state.kind]
        if not self.bounded:
            value = self._rising(state.kind, held, value)
        return [f"{held} = {value}"]


def free_program(
    pick: random.Random, vertices: tuple[Any, ...], wild: float
) -> tuple[str, dict[str, Any]]:
    """The text of a program, and the values of its parameters."""
    made = FreeProgram(pick, vertices, wild)
    text = made.text()
    return text, made.given
