"""Selections, with near misses of every proof beside what is proved.

The same text that is proved right with one part has its proof taken away by another.
"""

from __future__ import annotations

import random
from typing import Any

from tests.equivalence.random_programs.sentences import Sentences
from tests.equivalence.random_programs.templates import Made, Template, share_of, step_of


def selecting(pick: random.Random, vertices: tuple[Any, ...], wild: float) -> Made:
    """Like shortest paths: any sign, condition, start, shape of update and bound."""
    made = Template(pick, vertices)
    kind, least = made.one("int", "float", "float"), made.maybe(0.6)
    word = "Min" if least else "Max"
    far = {"int": "1000", "float": "inf"}[kind]
    far = far if least else f"-{far}"
    made.fields += [f"x: {kind} = {far}", f"best = gt.{word}({kind})"]
    _start(made, kind, far)
    _send_best(made, kind, wild)
    made.add("update", *_keep_better(made, word.lower()))
    made.direction()
    made.bound(0.5)
    if made.maybe(0.06):
        made.fields.append("tolerance = 0.25")
    return made.text("Selecting")


def settling(pick: random.Random, vertices: tuple[Any, ...], wild: float) -> Made:
    """What is proved to settle, on data that meets the conditions, or nearly does."""
    made = Template(pick, vertices)
    kind, least = made.one("int", "float", "float"), made.maybe(0.6)
    word = "min" if least else "max"
    steps = {
        "float": ("e.weight", "1.0", "abs(e.weight)", "0.5", "u.worth", "v.worth"),
        "int": ("e.toll", "e.toll", "u.rank", "v.level"),
    }
    step = made.one(*steps[kind])
    near, far = {"int": ("0", "1000"), "float": ("0.0", "inf")}[kind]
    if not least:
        near, far = made.one(("100", "-1000") if kind == "int" else ("inf", "-inf"), ("7", "-9"))
    made.fields += [f"x: {kind} = {far}", f"best = gt.{word.title()}({kind})"]
    who = made.one(f"v == {made.parameters.vertex()}", f"v in {made.parameters.several()}")
    first = made.one(
        f"{near} if {who} else {far}", near, "v.id" if kind == "int" else "float(v.id)"
    )
    made.add("initialize", f"v.x = {first}")
    sign = "+" if least else "-"
    ways = [
        f"u.x {sign} {step}",
        f"u.x {sign} {step}",
        "u.x",
        f"{'max' if least else 'min'}(u.x, {step})",
    ]
    if kind == "float" and not least and made.maybe(0.4):
        made.bodies["initialize"] = [f"v.x = 1.0 if {who} else 0.0"]
        ways = ["u.x * 0.5", "u.x / 2.0", "u.x * min(abs(e.weight), 1.0)"]
        ways += [f"u.x * {share_of(made)}", f"u.x * {share_of(made)} * 0.5"]
    elif kind == "float" and least and made.maybe(0.2):
        ways = [f"u.x * (1.5 + {share_of(made)})", f"u.x / {share_of(made)}"]
    for _ in range(made.one(1, 1, 2)):
        line = f"v.best({made.pick.choice(ways)})"
        guard = made.one(
            *("e.open", made.parameters.number("bool"), "e.toll > 0", "u != v"),
            *("u.kind == v.kind", "v.town != 'a'", "u.active", "u.born <= v.born"),
        )
        made.add("traverse", *((f"if {guard}:", f"    {line}") if made.maybe(0.3) else (line,)))
    made.add("update", *_keep_better(made, word, odd=0.0))
    made.direction()
    made.bound(0.75)
    return made.text("Settling")


def _start(made: Template, kind: str, far: str) -> None:
    near = "0" if kind == "int" else "0.0"
    cast = "" if kind == "int" else "float"
    ways = (
        lambda: [f"v.x = {near} if v == {made.parameters.vertex()} else {far}"],
        lambda: [f"v.x = {near} if v == {made.parameters.vertex()} else {far}"],
        lambda: [f"v.x = {near} if v in {made.parameters.several()} else {far}"],
        lambda: [f"if v == {made.parameters.vertex()}:", f"    v.x = {near}"],
        lambda: [f"v.x = {cast}(v.id)"],
        lambda: [f"v.x = {cast}({made.one('v.degree', 'v.out_degree', 'v.in_degree')})"],
        lambda: [f"v.x = {cast}(3 - v.id)"],
        lambda: [f"v.x = {near} if v.in_degree == 0 else {far}"],
        lambda: [f"v.x = {made.parameters.number(kind)}"],
        lambda: [f"v.x = {'v.level' if kind == 'int' else 'v.worth'}"],
        lambda: [f"v.x = {near} if v.kind in ('a', 'b') else {far}"],
        lambda: [
            "for k in range(v.id % 3):",
            "    v.x = v.x + 1" if kind == "int" else "    v.x = 2.0",
        ],
    )
    made.add("initialize", *made.pick.choice(ways)())


def _send_best(made: Template, kind: str, wild: float) -> None:
    for _ in range(made.one(1, 1, 1, 2)):
        line = f"v.best({_message(made, kind, wild)})"
        chance = made.pick.random()
        if chance < 0.25:
            made.add("traverse", f"if {made.condition('x')}:", f"    {line}")
        elif chance < 0.35:
            other = f"    v.best({_message(made, kind, wild)})"
            made.add("traverse", f"if {made.condition('x')}:", f"    {line}", "else:", other)
        else:
            made.add("traverse", line)


def _message(made: Template, kind: str, wild: float) -> str:
    step = step_of(made, kind)
    ways = [
        f"u.x + {step}",
        f"u.x + {step}",
        f"u.x - {step}",
        "u.x",
        f"min(u.x, {step})",
        f"max(u.x, {step})",
        f"u.x + ({step} if {made.condition('x')} else {step_of(made, kind)})",
        f"u.x if {made.condition('x')} else u.x + {step}",
        f"{step} + u.x + {step_of(made, kind)}",
        f"max(u.x, v.x) + {step}" if made.maybe(0.5) else f"min(u.x, v.x) + {step}",
    ]
    if kind == "float":
        ways += [f"u.x * {step}", "u.x * 0.5", "u.x * 2.0", f"u.x / {made.one('2.0', 'e.weight')}"]
        ways += [f"u.x * {share_of(made)}"]
    if made.maybe(wild):
        ways = [f"u.x * {step}", f"(u.x + {step}) * (u.x - {step})", f"u.x // {step}", "-u.x"]
        ways += ["u.x - u.x", f"u.x + {step} * {step}"]
    return str(made.pick.choice(ways))


def _keep_better(made: Template, word: str, odd: float = 0.12) -> list[str]:
    sign = "<" if word == "min" else ">"
    ways = (
        [f"v.x = {word}(v.x, v.best)"],
        [f"v.x = {word}(v.best, v.x)"],
        [f"if v.best {sign} v.x:", "    v.x = v.best"],
        [f"v.x = v.best if v.best {sign} v.x else v.x"],
        [f"v.x = v.x if v.x {sign} v.best else v.best"],
        ["old = v.x", f"v.x = {word}(old, v.best)"],
    )
    others = (
        ["v.x = v.best"],
        [f"v.x = {word}(v.x, v.best) + 1"],
        [f"if v.best {sign} v.x and v.degree > 1:", "    v.x = v.best"],
        [f"v.x = {word}(v.x, v.best, 3)"],
    )
    return list(made.pick.choice(others if made.maybe(odd) else ways))


def labels(pick: random.Random, vertices: tuple[Any, ...], wild: float) -> Made:
    """Like connected components, and what only looks like them."""
    made = Template(pick, vertices)
    word = made.one("min", "max")
    made.fields += [f"x: int = {made.one('0', '-1')}", f"best = gt.{word.title()}(int)"]
    start = ("v.id", "v.id", "v.id", "v.id * 7 % 5", "v.degree", "-v.id", "v.id + 1", "v.rank")
    made.add("initialize", f"v.x = {made.one(*start)}")
    line = f"v.best({made.one('u.x', 'u.x', 'u.x', 'u.x + 0', 'max(u.x, 1)', 'min(u.x, v.x)')})"
    if made.maybe(0.2):
        made.add("traverse", f"if {made.condition('x')}:", f"    {line}")
    else:
        made.add("traverse", line)
    made.add("update", *_keep_better(made, word))
    made.fields.append(f"direction = {made.one('both', 'both', 'both', 'out', 'in')!r}")
    made.bound(0.8)
    return made.text("Labels")


def reaching(pick: random.Random, vertices: tuple[Any, ...], wild: float) -> Made:
    """Truth values that spread by `or` and `and`."""
    made = Template(pick, vertices)
    word = made.one("Or", "And")
    made.fields += [f"x: bool = {made.one('True', 'False')}", f"seen = gt.{word}()"]
    sentences = Sentences(
        pick, {"int": ["v.id", "v.degree"], "float": [], "bool": []}, made.parameters
    )
    if made.maybe(0.85):
        start = made.one(sentences.about_vertices(), sentences.write("bool", 1))
        made.add("initialize", f"v.x = {start}")
    if made.maybe(0.3):
        start = "if v.id == 0:", "    v.x = True"
        made.add("initialize", *start)
    names = {"int": ["e.toll", "u.id"], "float": ["e.weight"], "bool": ["u.x", "u.x", "e.open"]}
    if made.maybe(0.2):
        names["bool"].append("v.x")
    sent = Sentences(pick, names, made.parameters, ("u", "v"))
    message = made.one("u.x", "u.x", "u.x and e.open", "u.x or e.open", "u.x and e.weight >= 0.0")
    for _ in range(made.one(1, 1, 2)):
        line = f"v.seen({message if made.maybe(0.6) else sent.write('bool', 2)})"
        if made.maybe(0.3):
            made.add("traverse", f"if {made.one('u.x', 'e.open', 'not u.x', 'e.toll > 0')}:")
            line = f"    {line}"
        made.add("traverse", line)
    join = "or" if word == "Or" else "and"
    ways = (f"v.x {join} v.seen", f"v.seen {join} v.x", "v.seen", "v.x or v.seen", "v.x != v.seen")
    made.add("update", f"v.x = {made.pick.choices(ways, (5, 3, 1, 1, 0.4))[0]}")
    made.direction()
    made.bound(0.6)
    return made.text("Reaching")


def pairs(pick: random.Random, vertices: tuple[Any, ...], wild: float) -> Made:
    """A selection for some pairs of vertices."""
    made = Template(pick, vertices)
    made.parameters.lines["pairs"] = "pairs: gt.Pairs"
    wanted = {
        (pick.choice(vertices), pick.choice(vertices)): None for _ in range(pick.randrange(1, 5))
    }
    made.parameters.given["pairs"] = list(wanted)
    least = made.maybe(0.6)
    far, word = ("inf", "Min") if least else ("-inf", "Max")
    made.fields += [f"x: float = {far}", f"best = gt.{word}(float)"]
    near = "0.0" if least else "inf"
    made.add("initialize", f"v.x = {near} if v == self.pairs.source else {far}")
    sent = ("u.x + e.weight", "u.x + 1.0") if least else ("min(u.x, e.weight)", "u.x - e.weight")
    made.add("traverse", f"v.best({made.one(*sent)})")
    made.add("update", *_keep_better(made, word.lower()))
    made.direction()
    made.bound(0.6)
    return made.text("ForPairs")
