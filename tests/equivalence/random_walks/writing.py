"""Random walk classes as texts: loops, paths, conditions, sends, rows, and all kinds of updates."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, replace
from typing import Any

from tests.equivalence.random_walks.expressions import Bound, Expressions, Path
from tests.equivalence.random_walks.words import ACCUMULATORS, declarations

LOOPS = ("neighbours", "neighbours", "out_neighbours", "in_neighbours")
ALONG = ("edges", "out_edges", "out_edges", "in_edges")
Lines = list[str]


@dataclass(frozen=True)
class Written:
    """The text of a class, and values for the parameters that it may have."""

    text: str
    values: dict[str, Any]


class Writer(Expressions):
    """Draws the functions of one class."""

    def __init__(self, pick: random.Random, *, stateful: bool, length: int) -> None:
        super().__init__(pick, stateful=stateful)
        self.length = length
        self.matches: list[str] = []
        self.sent: list[str] = []

    def block(self, bound: Bound, steps: int) -> Lines:
        """One or two statements, so many steps of which may nest; something is always sent."""
        found: Lines = []
        if self.chance(0.2):
            kind = self.pick(("int", "float", "bool"))
            name = self.fresh(kind[0] + "_")
            found.append(f"{name} = {self.value(kind, bound, 1)}")
            bound = bound.with_name(kind, name)
        for _ in range(self.pick((1, 1, 2))):
            found += self.statement(bound, steps)
        return _without_idle_names(found)

    def statement(self, bound: Bound, steps: int) -> Lines:
        """A loop, a condition, or something that is sent."""
        if len(bound.vertices) == 1:
            return self.loop(bound, steps)
        forms = ["send", "send"]
        forms += ["loop", "loop", "path"] if steps else []
        forms += ["if", "if", "range"] + (["along"] if bound.paths else [])
        match self.pick(forms):
            case "loop":
                return self.loop(bound, steps)
            case "path":
                return self.path(bound, steps)
            case "if":
                return self.choice(bound, steps)
            case "range":
                return self.numbers(bound)
            case "along":
                return self.loop_along(bound)
            case _:
                return self.send(bound)

    def loop(self, bound: Bound, steps: int) -> Lines:
        """A step on, and what is done there."""
        if steps > 1 and self.chance(0.25):
            return self.path(bound, steps)
        origin, vertex = self.pick(bound.vertices), self.fresh("v")
        inside = replace(bound, vertices=(*bound.vertices, vertex))
        head = f"for {vertex} in {origin}.{self.pick(LOOPS)}:"
        if self.chance(0.45):
            edge = self.fresh("e")
            inside = replace(inside, edges=(*bound.edges, edge))
            head = f"for {vertex}, {edge} in {origin}.{self.pick(ALONG)}:"
        return [head, *_in(self.body(inside, steps - 1))]

    def body(self, bound: Bound, steps: int) -> Lines:
        """The inside of a loop: under a condition, behind a `continue`, or as it is."""
        inside = self.block(bound, steps)
        if self.chance(0.4):
            return [f"if {self.condition(bound)}:", *_in(inside)]
        if self.chance(0.2):
            before = self.send(bound) if self.chance(0.4) else []
            return [f"if {self.condition(bound)}:", *_in([*before, "continue"]), *inside]
        return inside

    def path(self, bound: Bound, steps: int) -> Lines:
        """A loop that is repeated; by a parameter where it fits."""
        length = "self.length" if self.length <= steps and self.chance(0.6) else ""
        count = self.length if length else self.random.randint(1, steps)
        edges = self.chance(0.6)
        path = Path(self.fresh("path"), edges, length or str(count), count)
        vertex, origin = self.fresh("v"), self.pick(bound.vertices)
        word = self.pick(ALONG if edges else LOOPS)
        own = [vertex] + ([f"{path.name}.vertices[1]"] if count > 1 else [])
        own += [f"{path.name}.vertices[-2]"] if count > 1 else []
        along = [f"{path.name}.edges[0]", f"{path.name}.edges[-1]"] if edges else []
        inside = replace(
            bound,
            vertices=(*bound.vertices, *own),
            edges=(*bound.edges, *along),
            paths=(*bound.paths, path),
        )
        head = f"for {vertex}, {path.name} in {origin}.{word}.repeat({path.length}):"
        return [head, *_in(self.body(inside, steps - count))]

    def choice(self, bound: Bound, steps: int) -> Lines:
        """`if`, with or without what is done otherwise."""
        found = [f"if {self.condition(bound)}:", *_in(self.block(bound, steps))]
        if self.chance(0.25):
            found += [f"elif {self.condition(bound, 1)}:", *_in(self.send(bound))]
        if self.chance(0.4):
            found += ["else:", *_in(self.send(bound))]
        return found

    def numbers(self, bound: Bound) -> Lines:
        """A loop over numbers, which are indices too."""
        name = self.fresh("k")
        inside = replace(bound, numbers=(*bound.numbers, name))
        over = self.pick(("2", "self.width", "1, 3", "2, 0, -1"))
        found = self.send(inside)
        if over in ("2", "self.width") and self.chance(0.6):
            accumulator = self.pick(("votes", "lows")) if over == "self.width" else "parts"
            vertex = self.pick(inside.vertices)
            self.sent.append(accumulator)
            kind = ACCUMULATORS[accumulator][1]
            value = "" if kind == "count" else self.value(kind, inside, 1)
            found.append(f"{vertex}.{accumulator}[{name}]({value})")
        return [f"for {name} in range({over}):", *_in(found)]

    def loop_along(self, bound: Bound) -> Lines:
        """A loop over the items of a path."""
        path = self.pick(bound.paths)
        over, cut = self.items(path)
        names = tuple(self.fresh("x") for _ in range(self.pick((1, 2))))
        inside = self.along(bound, over, names)
        head = f"for {', '.join(names)} in {self.turns(f'{path.name}.{cut}', names)}:"
        found = self.send(inside)
        if self.chance(0.4):
            found = [f"if {self.condition(inside, 1)}:", *_in(found)]
        return [head, *_in(found)]

    def send(self, bound: Bound) -> Lines:
        """To a vertex, to the whole graph, or a row."""
        if self.chance(0.25) and len(self.matches) < 3:
            return [self.report(bound)]
        name = self.pick(list(ACCUMULATORS))
        _, kind, size = ACCUMULATORS[name]
        target = f"{self.pick(bound.vertices)}.{name}"
        if self.chance(0.35):
            target = f"self.all_{name}"
            self.sent.append(f"all_{name}")
        else:
            self.sent.append(name)
        if kind == "count":
            index = f"[{self.pick((0, 1))}]" if size else ""
            return [f"{target}{index}()"]
        if size == 2 and name == "parts" and self.chance(0.3):
            return [f"{target}([{self.value(kind, bound, 1)}, {self.value(kind, bound, 0)}])"]
        index = f"[{self.pick(range(size))}]" if size else ""
        if size and self.chance(0.2):
            index = f"[{self.pick(bound.vertices)}.id % 2]"
        return [f"{target}{index}({self.value(kind, bound, 1)})"]

    def report(self, bound: Bound) -> str:
        """A row of matches that is declared for it."""
        name = f"rows{len(self.matches)}"
        columns, values = ["one=gt.Vertex"], [self.pick(bound.vertices)]
        for column, kind in self.random.sample(
            [("n", "int"), ("when", "float"), ("fine", "bool")], self.pick((0, 1, 2))
        ):
            columns.append(f"{column}={kind}")
            values.append(self.value(kind, bound, 1))
        path = self.pick(bound.paths) if bound.paths and self.chance(0.7) else None
        if path is not None:
            size = '"length"' if path.length == "self.length" else path.length
            columns.append(f"part=gt.Columns(gt.Vertex, size={size})")
            values.append(f"{path.name}.vertices{self.pick(('[1:]', '[:-1]'))}")
            if path.edges and self.chance(0.5):
                columns.append(f"at=gt.Columns(float, size={size})")
                x = self.fresh("x")
                values.append(f"[{x}.time for {x} in {path.name}.edges]")
        limit = self.pick(("", "", ", limit=2", ', limit="most"', ", limit=40"))
        self.matches.append(f"{name} = gt.Matches({', '.join(columns)}{limit})")
        return f"self.{name}({', '.join(values)})"

    def update(self) -> Lines:
        """Every accumulator reaches state, and globals some of the time."""
        own = replace(Bound(("v",)), names={"int": (), "float": (), "bool": ()})
        self.stateful = self.stateful and self.chance(0.5)
        found: Lines = []
        for name in dict.fromkeys(self.sent):
            whole = name.startswith("all_")
            if whole and not self.chance(0.4):
                continue
            _, kind, size = ACCUMULATORS[name.removeprefix("all_")]
            read = f"{'self' if whole else 'v'}.{name}"
            read += f"[{self.pick(range(size))}]" if size else ""
            found += self.assigned(read, kind, own)
        if self.stateful and self.chance(0.3):
            found.append("v.n = (v.n + self.iteration) % 5")
        if self.chance(0.15):
            found.append("v.n = (v.n + self.V) % 6" if self.stateful else "v.n = self.V % 6")
        return found

    def assigned(self, read: str, kind: str, own: Bound) -> Lines:
        """A statement that takes what an accumulator holds into state that stays small."""
        if kind == "bool":
            if self.chance(0.3):
                return [f"if {read}:", f"    v.on = {self.fact(own)}"]
            return [f"v.on = {read}"]
        if kind in ("float", "factor"):
            small = f"math.floor({read} * 4.0) / 4.0 if -50.0 < {read} < 50.0 else 0.5"
            return [f"v.level = {small}"]
        added = f"{read} % 7"
        if self.chance(0.4):
            added = f"({added} + {self.leaf('int', own)}) % 7"
        if self.chance(0.3):
            return [f"v.kept[{self.pick((0, 1))}] = {added}"]
        return [f"v.n = {added}"]


def write_class(pick: random.Random) -> Written:
    """A class, and what its parameters may be given."""
    stateful, length = pick.random() < 0.5, pick.choice((1, 2, 2, 3))
    writer = Writer(pick, stateful=stateful, length=length)
    walk: Lines = []
    if writer.chance(0.2):
        walk.append(f"base = {writer.value('int', Bound(('u',)), 1)}")
    bound = Bound(("u",)) if not walk else Bound(("u",)).with_name("int", "base")
    for _ in range(pick.choice((1, 1, 2))):
        walk += writer.loop(bound, pick.choice((2, 3, 3)))
    walk = _without_idle_names(walk)
    update = writer.update()
    if not writer.sent and not writer.matches:
        walk += ["for w in u.neighbours:", "    self.all_found(1)"]
    functions = _function("traverse", "u", walk)
    update += _unassigned(functions + "\n".join(update))
    if stateful and pick.random() < 0.6:
        start = pick.choice(("v.id % 5", "v.degree", "v.age", "1 if v == self.source else 3"))
        functions = _function("initialize", "v", [f"v.n = {start}"]) + functions
        update += [] if "v.n = " in "\n".join(update) else ["v.n = (v.n + 1) % 3"]
    if update:
        functions += _function("update", "v", update)
    lines = declarations(functions, writer.matches)
    if stateful or "self.iteration" in functions or pick.random() < 0.3:
        lines.append(pick.choice((f"iterations = {pick.randint(1, 4)}", "iterations: int = 2")))
    text = "@gt.program\nclass Walked:\n" + "".join(f"    {line}\n" for line in lines) + functions
    return Written(text, {"length": length, "width": pick.choice((2, 3))})


def _without_idle_names(lines: Lines) -> Lines:
    """The lines without a first one that gives something a name which none of them uses."""
    name, sign, _ = lines[0].partition(" = ")
    idle = sign and name.isidentifier() and not any(name in line for line in lines[1:])
    return lines[1:] if idle else lines


def _unassigned(functions: str) -> Lines:
    """Assignments of state that something reads and nothing assigns."""
    given = {
        "n": "v.n = v.degree % 4",
        "level": "v.level = 0.75",
        "on": "v.on = v.in_degree > 1",
        "kept": "v.kept[1] = v.out_degree % 3",
    }
    return [
        line
        for name, line in given.items()
        if re.search(rf"\.{name}\b", functions)
        and not re.search(rf"\bv\.{name}(\[\d\])? = ", functions)
    ]


def _function(name: str, vertex: str, lines: Lines) -> str:
    return f"\n    def {name}(self, {vertex}):\n" + "".join(f"        {line}\n" for line in lines)


def _in(lines: Lines) -> Lines:
    return [f"    {line}" for line in lines]
