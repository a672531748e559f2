"""Expressions of random walk classes, by type.

Ints stay small and floats are multiples of small powers of two, so that Python's numbers are the
machine's and no order of adding up matters.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

INTS = ("-1", "0", "1", "2", "3")
FLOATS = ("-2.0", "0.0", "0.25", "1.0", "3.0")
ORDERS = ("<", "<", "<=", ">", ">=", "==", "!=")
WAYS = ("neighbours", "out_neighbours", "in_neighbours")


@dataclass(frozen=True)
class Path:
    """A path that a loop has bound; `most` steps at most, `least` at least."""

    name: str
    edges: bool
    length: str
    least: int


@dataclass(frozen=True)
class Bound:
    """What can be named at one place: vertices, edges, paths, and names of ints and others."""

    vertices: tuple[str, ...]
    edges: tuple[str, ...] = ()
    paths: tuple[Path, ...] = ()
    numbers: tuple[str, ...] = ()
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def with_name(self, kind: str, name: str) -> Bound:
        """The same with one more local name of a type."""
        return replace(self, names={**self.names, kind: (*self.names.get(kind, ()), name)})

    def local(self, kind: str) -> tuple[str, ...]:
        """The local names of a type."""
        return self.names.get(kind, ())


class Expressions:
    """Draws expressions; `stateful` ones read state."""

    def __init__(self, pick: random.Random, *, stateful: bool) -> None:
        self.random, self.stateful = pick, stateful
        self.counted = 0

    def pick(self, items: Sequence[Any]) -> Any:
        """One of some things, each as likely as any other."""
        return self.random.choice(items)

    def chance(self, share: float) -> bool:
        """True in so many cases of all."""
        return self.random.random() < share

    def fresh(self, letter: str) -> str:
        """A name that nothing else has."""
        self.counted += 1
        return f"{letter}{self.counted}"

    def value(self, kind: str, bound: Bound, depth: int = 2) -> str:
        """An expression of a type: int, float, bool, or a factor of a product of floats."""
        if kind == "factor":
            sides = (
                self.pick(("0.5", "1.0", "-1.0", "2.0")),
                self.pick(("1.0", "2.0", "0.5", "0.0")),
            )
            return f"{sides[0]} if {self.condition(bound, 1)} else {sides[1]}"
        if kind == "bool":
            return self.condition(bound, depth)
        if not depth or self.chance(0.45):
            return self.leaf(kind, bound)
        return self.compound(kind, bound, depth - 1)

    def compound(self, kind: str, bound: Bound, depth: int) -> str:
        """Two values made one, or one of two chosen."""
        one, other = (self.value(kind, bound, depth) for _ in range(2))
        forms = [f"({one} {self.pick('+-*')} {other})"] * 3
        forms += [f"{self.pick(('min', 'max'))}({one}, {other})", f"abs({one})", f"(-{one})"]
        forms.append(f"({one} if {self.condition(bound, depth)} else {other})")
        if kind == "int":
            forms += [f"({one} // 2)", f"({one} % 3)", f"int({self.condition(bound, 0)})"]
        else:
            forms += [f"({one} / 2)", f"float({self.value('int', bound, 0)})"]
        return str(self.pick(forms))

    def leaf(self, kind: str, bound: Bound) -> str:
        """Something that is at hand, or a number."""
        vertex = self.pick(bound.vertices)
        if bound.paths and self.chance(0.25):
            return self.folded(kind, bound)
        if self.stateful and self.chance(0.35):
            return (
                f"{vertex}.level"
                if kind == "float"
                else self.pick((f"{vertex}.n", f"{vertex}.kept[{self.pick((0, 1))}]"))
            )
        found = list(bound.local(kind))
        if kind == "float":
            found += [f"{vertex}.size", "self.half", self.pick(FLOATS)]
            found += [f"{edge}.time" for edge in bound.edges] * 2
            return str(self.pick(found))
        found += [*bound.numbers, f"{vertex}.age", "self.near", self.pick(INTS), f"{vertex}.id"]
        found.append(f"{vertex}.{self.pick(('degree', 'out_degree', 'in_degree'))}")
        found.append(f"({vertex}.born - {self.pick(bound.vertices)}.born)")
        for edge in bound.edges:
            other = self.pick(bound.edges)
            found += [f"{edge}.rank", f"({edge}.day - {other}.day)"]
            found.append(f"(({edge}.at - {other}.at) // 1000000)")
        return str(self.pick(found))

    def folded(self, kind: str, bound: Bound) -> str:
        """A sum, least or greatest along a path."""
        path = self.pick(bound.paths)
        over, cut = self.items(path)
        fold = self.pick(("sum", "min", "max"))
        names = (
            [self.fresh("x")]
            if fold != "sum" or self.chance(0.5)
            else [
                self.fresh("a"),
                self.fresh("b"),
            ]
        )
        inside = self.along(bound, over, tuple(names))
        value = self.value(kind, replace(inside, paths=()), 1)
        if fold != "sum":
            cut = over
        return (
            f"{fold}({value} for {', '.join(names)} in {self.turns(f'{path.name}.{cut}', names)})"
        )

    def items(self, path: Path) -> tuple[str, str]:
        """Vertices or edges of a path, and perhaps a slice of them."""
        over = self.pick(("vertices", "edges") if path.edges else ("vertices",))
        return over, over + self.pick(("", "", "[1:]", "[:-1]"))

    def along(self, bound: Bound, over: str, names: tuple[str, ...]) -> Bound:
        """What is bound where names stand for items of a path."""
        if over == "vertices":
            return replace(bound, vertices=(*bound.vertices, *names, *names))
        return replace(bound, edges=(*bound.edges, *names, *names))

    def turns(self, items: str, names: Sequence[str]) -> str:
        """What a loop over a path goes over: items, or two at a time."""
        if len(names) == 1:
            return items
        return str(self.pick((f"pairwise({items})", f"combinations({items}, 2)")))

    def condition(self, bound: Bound, depth: int = 2) -> str:
        """A truth value."""
        form = self.random.random()
        if depth and form < 0.1:
            return f"not ({self.condition(bound, depth - 1)})"
        if depth and form < 0.3:
            terms = (f"({self.condition(bound, depth - 1)})" for _ in range(2))
            return self.pick((" and ", " and ", " or ")).join(terms)
        if form < 0.5:
            return self.order(bound)
        if form < 0.65:
            one, other = self.pick(bound.vertices), self.pick(bound.vertices)
            return f"{one} {self.pick(('in', 'in', 'not in'))} {other}.{self.pick(WAYS)}"
        if form < 0.75 and bound.paths:
            return self.held_along(bound)
        if form < 0.85:
            kind = self.pick(("int", "float"))
            sides = self.value(kind, bound, 1), self.value(kind, bound, 0)
            return f"{sides[0]} {self.pick(ORDERS)} {sides[1]}"
        return self.fact(bound)

    def order(self, bound: Bound) -> str:
        """Which vertices, or which of two edges comes first."""
        one, other = self.pick(bound.vertices), self.pick(bound.vertices)
        forms = [f"{one} {self.pick(('<', '<', '>', '!=', '==', '<='))} {other}"] * 3
        forms += [f"{one} {self.pick(('==', '!='))} self.source"]
        forms += [f"{one} {self.pick(('in', 'not in'))} self.among"]
        if len(bound.vertices) > 1:
            forms.append(f"gt.distinct({', '.join(self.some(bound.vertices))})")
        if len(bound.edges) > 1:
            first, then = self.random.sample(bound.edges, 2)
            name = self.pick(("time", "time", "rank", "day", "at"))
            forms += [f"{first}.{name} {self.pick(('<', '<', '<='))} {then}.{name}"] * 3
            forms.append(f"{then}.time - {first}.time <= self.half")
            forms.append(f"{first}.time < {then}.time < {first}.time + self.near")
            forms.append(f"{then}.rank <= {first}.rank + {self.pick(INTS)}")
        return str(self.pick(forms))

    def some(self, vertices: Sequence[str]) -> list[str]:
        """Two or three different names of vertices."""
        names = list(dict.fromkeys(vertices))
        return self.random.sample(names, min(len(names), self.pick((2, 3))))

    def held_along(self, bound: Bound) -> str:
        """That something holds all along a path, or somewhere."""
        path = self.pick(bound.paths)
        over, cut = self.items(path)
        if self.chance(0.35):
            cut = self.pick(("vertices", "vertices[1:]", "vertices[:-1]"))
            return f"gt.distinct({path.name}.{cut})"
        names = tuple(self.fresh("x") for _ in range(self.pick((1, 2, 2))))
        inside = replace(self.along(bound, over, names), paths=())
        said = self.condition(inside, 1)
        turns = self.turns(f"{path.name}.{cut}", names)
        return f"{self.pick(('all', 'all', 'any'))}({said} for {', '.join(names)} in {turns})"

    def fact(self, bound: Bound) -> str:
        """What the data say: truth values, texts and moments."""
        one, other = self.pick(bound.vertices), self.pick(bound.vertices)
        forms = [*bound.local("bool"), f"{one}.shut", "self.flag"]
        forms += [f"{one}.city {self.pick(('==', '!='))} {other}.city"]
        forms += [f"{one}.nation {self.pick(('==', '!='))} {self.pick(('self.town', repr('b')))}"]
        forms += [f"{one}.city {self.pick(('in', 'not in'))} ('a', 'c')"]
        forms += [f"{one}.born {self.pick(ORDERS)} {self.pick((f'{other}.born', 'self.since'))}"]
        forms += [f"{one}.seen {self.pick(ORDERS)} {self.pick((f'{other}.seen', 'self.until'))}"]
        if self.stateful:
            forms += [f"{one}.on"] * 2
        for edge in bound.edges:
            forms += [f"{edge}.open", f"{edge}.kind == {self.pick((f'{one}.city', 'self.town'))}"]
            forms += [f"{edge}.kind {self.pick(('!=', '=='))} {self.pick(bound.edges)}.kind"]
            forms += [f"{edge}.day {self.pick(ORDERS)} {self.pick(('self.since', f'{one}.born'))}"]
            forms += [f"{edge}.at {self.pick(ORDERS)} self.until"]
        return str(self.pick(forms))
