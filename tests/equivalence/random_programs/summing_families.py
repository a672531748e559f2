"""Sums, products and counts: affine, capped, and with reads of what v itself holds."""

from __future__ import annotations

import random
from typing import Any

from tests.equivalence.random_programs.templates import Made, Template, step_of


def summing(pick: random.Random, vertices: tuple[Any, ...], wild: float) -> Made:
    """Affine sums and products, with reads of v, degrees, conditions, several accumulators."""
    made = Template(pick, vertices)
    kind = made.one("int", "float")
    made.fields += [f"x: {kind} = {made.one(0, 1, 2, 8)}", f"total = gt.Sum({kind})"]
    if made.maybe(0.6):
        start = made.one("v.id", "v.degree", "v.out_degree", "v.id - 2")
        made.add("initialize", f"v.x = {start}" if kind == "int" else f"v.x = float({start})")
    for _ in range(made.one(1, 1, 2)):
        line = f"v.total({_summand(made, kind)})"
        if made.maybe(0.3):
            made.add("traverse", f"if {made.condition('x')}:", f"    {line}")
        else:
            made.add("traverse", line)
    extra = made.one("", "", "count", "product", "max", "min")
    if extra == "count":
        made.fields.append("more = gt.Count()")
        made.add("traverse", "if u.x > 1:", "    v.more()")
    elif extra:
        made.fields.append(f"more = gt.{extra.title()}({kind})")
        made.add("traverse", f"v.more({_summand(made, kind)})")
    made.add("update", *_summed(made, kind, bool(extra)))
    made.direction()
    made.bound(0.0 if made.maybe(0.9) else 1.0)
    return made.text("Summing")


def _summand(made: Template, kind: str) -> str:
    step = step_of(made, kind)
    half = " * 0.5" if kind == "float" else " // 2"
    return str(
        made.one(
            "u.x",
            f"u.x + {step}",
            f"u.x * {step}",
            f"u.x{half}",
            f"v.x{half}",
            "v.x * v.x + u.x" if kind == "int" else "u.x - v.x",
            "max(u.x, v.x)",
            "u.x - v.x",
            "u.x * u.out_degree",
            "u.x + v.in_degree",
            f"{step}",
            "u.x if u.x > v.x else 0",
        )
    )


def _summed(made: Template, kind: str, extra: bool) -> list[str]:
    more = "v.more" if extra else "1"
    half = "0.5" if kind == "float" else "2"
    ways: list[str] = ["v.x = v.total", f"v.x = v.total * {half} + 1", "v.x = v.x + v.total"]
    ways += [f"v.x = min(v.total, {made.one(8, 50)})", "v.x += v.total", "v.x = v.total - v.x"]
    if made.maybe(0.1):
        cast = "" if kind == "int" else "float"
        ways = [f"v.x = v.total + {cast}(self.iteration)"]
    lines = [made.pick.choice(ways)]
    if extra:
        lines.append(f"if {more} > {made.one('v.x', '1', '2')}:")
        lines.append(f"    v.x = v.x {made.one('+', '-')} 1")
    return lines


def saturating(pick: random.Random, vertices: tuple[Any, ...], wild: float) -> Made:
    """Sums and counts that run until nothing changes, because they only rise up to a cap."""
    made = Template(pick, vertices)
    kind = made.one("int", "int", "float")
    word = made.one("Sum", "Max", "Count", "Sum")
    cap = made.one("6", "20", "100") + ("" if kind == "int" else ".0")
    made.fields += [f"x: {kind} = {made.one(0, 1)}"]
    made.fields.append("got = gt.Count()" if word == "Count" else f"got = gt.{word}({kind})")
    source = made.parameters.vertex() if made.maybe(0.5) else ""
    first = f"3 if v == {source} else 0" if source else made.one("v.id", "v.degree", "2")
    made.add("initialize", f"v.x = {first}")
    if word == "Count":
        made.add(
            "traverse",
            f"if {made.one('u.x > 1', 'u.x > v.x', 'v.x < 5 and e.open')}:",
            "    v.got()",
        )
    else:
        made.add("traverse", f"v.got({_summand(made, kind)})")
    ways = (
        f"v.x = min({cap}, max(v.x, v.got))",
        f"v.x = min({cap}, v.x + abs(v.got))",
        f"v.x = max(v.x, min(v.got, {cap}))",
        f"v.x = v.x if v.got <= v.x else min({cap}, v.got)",
        "v.x = v.got // 2" if kind == "int" else "v.x = v.got * 0.5",
        f"v.x = min({cap}, v.got)",
    )
    made.add("update", made.pick.choice(ways))
    made.direction()
    made.bound(0.9)
    if made.maybe(0.1):
        made.fields.append("tolerance = 0.25")
    return made.text("Saturating")


def own_state(pick: random.Random, vertices: tuple[Any, ...], wild: float) -> Made:
    """`traverse` reads what v itself holds."""
    made = Template(pick, vertices)
    kind, word = made.one("int", "float"), made.one("Sum", "Sum", "Max", "Min", "Product")
    made.fields += [f"x: {kind} = {made.one(1, 8, 100)}", f"back = gt.{word}({kind})"]
    if made.maybe(0.4):
        made.add(
            "initialize",
            f"v.x = {'' if kind == 'int' else 'float'}({made.one('v.id', 'v.degree')})",
        )
    if kind == "float":
        sent = ("v.x * 0.5", "v.x - u.x", "max(u.x, v.x) * 0.5", "v.x", "v.x * 0.5 + u.x")
    else:
        sent = ("v.x // 2", "v.x * v.x + u.x", "max(u.x, v.x) - 1", "v.x", "u.x - v.x", "v.x + 1")
    line = f"v.back({made.one(*sent)})"
    if made.maybe(0.25):
        made.add("traverse", f"if {made.one('v.x > 2', 'u.x > v.x', 'e.open', 'v.degree > 1')}:")
        line = f"    {line}"
    made.add("traverse", line)
    half = "v.x // 2" if kind == "int" else "v.x * 0.5"
    empty = {"Sum": "v.back", "Product": "v.back"}.get(
        word, f"v.back if v.in_degree > 0 else {half}"
    )
    ways = (
        f"v.x = {empty}",
        f"v.x = {empty}",
        f"v.x = min(v.x, {empty})",
        f"v.x = max(v.x, {empty})",
    )
    made.add("update", made.one(*ways))
    made.direction()
    made.bound(0.25)
    return made.text("OwnState")
