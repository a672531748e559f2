"""Random programs of rules, as data and as text: stratified, and with small values.

Level 0 is given: e(number, number), f(number), g(number, number, number), s(symbol, number). Each
further level has one or two relations that may read each other, and negate and aggregate those of
lower levels. Values that are computed are taken modulo 5, so that every loop comes to rest. One
relation may keep the least value of a key.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

GIVEN = {"e": "nn", "f": "n", "g": "nnn", "s": "tn"}
_TEXTS = ["", "a", "b", "ab", "ba", "3"]
_TYPES = {"n": "number", "t": "symbol"}


@dataclass
class RandomProgram:
    """Rules by level, and what relations look like: a letter for the type of each place."""

    relations: dict[str, str] = field(default_factory=lambda: dict(GIVEN))
    levels: list[list[str]] = field(default_factory=list)
    rules: list[Any] = field(default_factory=list)
    best: dict[str, str] = field(default_factory=dict)

    def text(self, outputs: list[str] | None = None) -> str:
        """The program as users write it; it puts all out, or these relations alone."""
        lines = []
        for name, kinds in self.relations.items():
            places = ", ".join(f"c{at}: {_TYPES[kind]}" for at, kind in enumerate(kinds))
            lines.append(f".decl {name}({places})")
        for name, kind in self.best.items():
            keys = [f"k{at}" for at in range(len(self.relations[name]) - 1)]
            one, other = ", ".join([*keys, "a"]), ", ".join([*keys, "b"])
            sign = "b <= a" if kind == "min" else "b >= a"
            lines.append(f"{name}({one}) <= {name}({other}) :- {sign}.")
        lines += [rule_text(rule) for rule in self.rules]
        every = [name for level in self.levels for name in level]
        lines += [f".output {name}" for name in (every if outputs is None else outputs)]
        return "\n".join(lines)


def random_facts(chance: random.Random, name: str) -> tuple[Any, ...]:
    """A fact of a given relation."""
    return tuple(
        chance.choice(_TEXTS) if kind == "t" else chance.randrange(-1, 5) for kind in GIVEN[name]
    )


def random_program(chance: random.Random) -> RandomProgram:
    """A program of one to three levels."""
    program = RandomProgram()
    for level in range(1, chance.randint(2, 4)):
        names = [f"r{level}{letter}" for letter in "ab"[: chance.randint(1, 2)]]
        if level == 1 and chance.random() < 0.3:
            _shortest(program, chance)
        for name in names:
            kinds = "".join(chance.choice("nnt") for _ in range(chance.choice([0, 1, 2, 2, 2])))
            program.relations[name] = kinds
        program.levels.append(names)
        for name in names:
            for _ in range(chance.randint(1, 3)):
                program.rules.append(_Rule(program, chance, names).rule(name))
    return program


def _shortest(program: RandomProgram, chance: random.Random) -> None:
    """The least or greatest of a key, through a loop."""
    kind = chance.choice(["min", "max"])
    program.relations["d"] = "nn"
    program.best["d"] = kind
    program.levels.append(["d"])
    x, y, n, w = (("variable", name) for name in "xynw")
    program.rules.append(("d", (x, n), [("atom", "e", (x, n))]))
    step = ("+", n, ("value", 1)) if kind == "min" else ("-", n, ("value", 1))
    limit = ("compare", "<" if kind == "min" else ">", step, ("value", 6 if kind == "min" else -6))
    body = [("atom", "d", (x, n)), ("atom", "e", (x, y)), limit]
    if chance.random() < 0.5:
        body.append(("atom", "g", (y, w, ("any",))))
    program.rules.append(("d", (y, step), body))


class _Rule:
    """One rule: atoms first, then what uses their variables, then the head."""

    def __init__(self, program: RandomProgram, chance: random.Random, level: list[str]) -> None:
        self.program = program
        self.chance = chance
        self.level = level
        self.bound: dict[str, str] = {}

    def rule(self, head: str) -> Any:
        chance = self.chance
        lower = [name for name in self.program.relations if name not in self.level]
        derived = [name for name in lower if name not in GIVEN]
        body = [
            # What rules derive stands beside what others derive more often than beside facts.
            self._atom(chance.choice(lower + derived * 2 + (self.level * 2 if at else [])))
            for at in range(chance.choice([1, 1, 2, 2, 3]))
        ]
        if chance.random() < 0.35:
            body.append(self._negation(chance.choice(lower)))
        if chance.random() < 0.3:
            body.append(self._comparison())
        if chance.random() < 0.25:
            body.append(self._aggregate(lower))
        if chance.random() < 0.2:
            body.append(self._computed())
        if chance.random() < 0.2:
            body.append(self._test())
        if chance.random() < 0.2:
            alternatives = [[self._comparison()], [self._negation(chance.choice(lower))]]
            body.append(("or", alternatives))
        chance.shuffle(body)
        terms = tuple(self._head_term(kind) for kind in self.program.relations[head])
        return head, terms, body

    def _variable(self, kind: str) -> Any:
        name = self.chance.choice("xyz" if kind == "n" else "pq")
        self.bound[name] = kind
        return ("variable", name)

    def _atom(self, relation: str) -> Any:
        terms = []
        for kind in self.program.relations[relation]:
            roll = self.chance.random()
            if roll < 0.15:
                terms.append(("any",))
            elif roll < 0.27:
                terms.append(self._value(kind))
            else:
                terms.append(self._variable(kind))
        return ("atom", relation, tuple(terms))

    def _negation(self, relation: str) -> Any:
        terms = []
        for kind in self.program.relations[relation]:
            known = self._known(kind)
            pick = self.chance.random()
            terms.append(
                known if known and pick < 0.7 else ("any",) if pick < 0.9 else self._value(kind)
            )
        return ("not", relation, tuple(terms))

    def _comparison(self) -> Any:
        kind = self.chance.choice("nnt")
        operator = self.chance.choice(["=", "!=", "<", "<=", ">", ">="])
        return ("compare", operator, self._term(kind), self._term(kind))

    def _aggregate(self, lower: list[str]) -> Any:
        relation = self.chance.choice(lower)
        kinds = self.program.relations[relation]
        terms: list[Any] = []
        inside: list[str] = []
        for at, kind in enumerate(kinds):
            known = self._known(kind)
            pick = self.chance.random()
            if known and pick < 0.4:
                terms.append(known)
            elif pick < 0.8:
                inside += [f"i{at}"] if kind == "n" else []
                terms.append(("variable", f"i{at}" if kind == "n" else f"j{at}"))
            else:
                terms.append(("any",))
        operation = self.chance.choice(["count", "sum", "min", "max"]) if inside else "count"
        target = None if operation == "count" else ("variable", self.chance.choice(inside))
        inner: list[Any] = [("atom", relation, tuple(terms))]
        known = self._known("n")
        if inside and known and self.chance.random() < 0.4:
            inner.append(("compare", "<", ("variable", inside[0]), known))
        name = self.chance.choice(["n", "x"])
        self.bound.setdefault(name, "n")
        return ("aggregate", name, operation, target, inner)

    def _computed(self) -> Any:
        if self.chance.random() < 0.4:
            self.bound.setdefault("t", "t")
            return ("compare", "=", ("variable", "t"), self._text_term())
        self.bound.setdefault("m", "n")
        return ("compare", "=", ("variable", "m"), self._small())

    def _test(self) -> Any:
        name = self.chance.choice(["contains", "match"])
        first = (
            self._value("t")
            if name == "contains"
            else ("value", self.chance.choice(["a.*", "[ab]"]))
        )
        return (
            "test",
            name,
            (first, self._known("t") or self._value("t")),
            self.chance.random() < 0.7,
        )

    def _head_term(self, kind: str) -> Any:
        if kind == "t":
            return self._known("t") or self._value("t")
        known = self._known("n")
        if known is None or self.chance.random() < 0.1:
            return self._value("n")
        return known if self.chance.random() < 0.75 else self._small()

    def _small(self) -> Any:
        operator = self.chance.choice(["+", "-", "*", "/", "min", "max"])
        value = (operator, self._term("n"), self._term("n"))
        return ("%", value, ("value", 5))

    def _text_term(self) -> Any:
        roll = self.chance.random()
        if roll < 0.5:
            return ("substr", ("cat", self._term("t"), self._term("t")), ("value", 0), ("value", 2))
        return ("to_string", self._term("n"))

    def _term(self, kind: str) -> Any:
        known = self._known(kind)
        return known if known and self.chance.random() < 0.8 else self._value(kind)

    def _known(self, kind: str) -> Any:
        names = [name for name, known in self.bound.items() if known == kind and name in "xyzpq"]
        return ("variable", self.chance.choice(names)) if names else None

    def _value(self, kind: str) -> Any:
        return ("value", self.chance.choice(_TEXTS) if kind == "t" else self.chance.randrange(0, 4))


def rule_text(rule: Any) -> str:
    """A rule as users write it."""
    head, terms, body = rule
    return f"{_atom_text(head, terms)} :- {', '.join(map(_literal_text, body))}."


def _atom_text(relation: str, terms: Any) -> str:
    return f"{relation}({', '.join(map(_term_text, terms))})"


def _literal_text(literal: Any) -> str:
    match literal:
        case ("atom", relation, terms):
            return _atom_text(relation, terms)
        case ("not", relation, terms):
            return f"!{_atom_text(relation, terms)}"
        case ("compare", operator, one, other):
            return f"{_term_text(one)} {operator} {_term_text(other)}"
        case ("test", name, terms, wanted):
            return ("" if wanted else "!") + _atom_text(name, terms)
        case ("aggregate", variable, operation, target, inner):
            of = "" if target is None else f" {_term_text(target)}"
            return f"{variable} = {operation}{of} : {{ {', '.join(map(_literal_text, inner))} }}"
        case ("or", parts):
            return "(" + "; ".join(", ".join(map(_literal_text, part)) for part in parts) + ")"
    raise AssertionError(literal)


def _term_text(term: Any) -> str:
    match term:
        case ("variable", name):
            return name
        case ("any",):
            return "_"
        case ("value", str() as text):
            return f'"{text}"'
        case ("value", number):
            return str(number)
        case (("+" | "-" | "*" | "/" | "%") as operator, one, other):
            return f"({_term_text(one)} {operator} {_term_text(other)})"
        case (name, *rest):
            return f"{name}({', '.join(map(_term_text, rest))})"
    raise AssertionError(term)
