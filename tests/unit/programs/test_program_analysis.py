"""What is proved about programs, under which obligations, and what is not."""

from __future__ import annotations

import math

import pytest

import graphtide.lang.python as gt
from graphtide.plan import expressions as x
from graphtide.plan.program_analysis import (
    Selection,
    explain_analysis,
    is_plain_components,
    selection,
    why_not_selection,
)
from graphtide.plan.program_reads import edge_properties, invertible, reads
from graphtide.plan.program_text import expression_text
from graphtide.plan.programs import AccumulatorKind, VertexProgram, traverse_form
from tests.unit.programs import library
from tests.unit.programs.sources import read

START = "1.0 if v.id == 0 else {}"


def selecting(
    message: str, kind: str = "Min", start: str | None = None, value: str = "float"
) -> VertexProgram:
    """A program that keeps the best of `message`, where s is the state of u."""
    better = {"Min": "min(v.s, v.a)", "Max": "max(v.s, v.a)"}.get(kind, f"v.s {kind.lower()} v.a")
    initial = start or {"Min": START.format("inf"), "Max": START.format("0.0")}.get(
        kind, "v.id == 0"
    )
    return read(
        f"""
        @gt.program
        class Tried:
            s: {value}
            a = gt.{kind}({value if kind in ("Min", "Max") else ""})
            hops = gt.Property(int)
            def initialize(self, v): v.s = {initial}
            def traverse(self, u, e, v):
                {message}
            def update(self, v): v.s = {better}
        """
    ).plan


def found(program: VertexProgram) -> Selection:
    answer = selection(program)
    assert answer is not None, why_not_selection(program)
    return answer


def proofs(program: VertexProgram) -> tuple[str | None, str | None]:
    """The obligations of both claims as text; None where it was not proved."""
    answer = found(program)
    texts = [
        " and ".join(map(str, claim.obligations)) if claim.holds else None
        for claim in (answer.monotone, answer.never_overtakes)
    ]
    return texts[0], texts[1]


@pytest.mark.parametrize(
    ("message", "monotone", "never_overtakes"),
    [
        ("v.a(u.s)", "", ""),
        ("v.a(u.s + 1)", "", ""),
        ("v.a(1 + u.s)", "", ""),
        ("v.a(u.s - 1)", "", None),
        ("v.a(u.s - (-1))", "", ""),
        ("v.a(u.s + e.w)", "", "e.w >= 0"),
        ("v.a(u.s - e.w)", "", "e.w <= 0"),
        ("v.a(u.s + e.w + e.x)", "", "e.w >= 0 and e.x >= 0"),
        ("v.a(u.s + abs(e.w))", "", ""),
        ("v.a(u.s + max(e.w, 0))", "", ""),
        ("v.a(u.s + max(e.w, e.x))", "", "e.w >= 0"),
        ("v.a(u.s + min(e.w, e.x))", "", "e.w >= 0 and e.x >= 0"),
        ("v.a(u.s + (e.w + 1))", "", "e.w >= -1.0"),
        ("v.a(u.s + e.w * e.x)", "", "e.w < inf and e.w >= 0 and e.x < inf and e.x >= 0"),
        ("v.a(u.s + e.w / 2)", "", "e.w < inf and e.w >= 0"),
        ("v.a(max(u.s, e.w))", "", ""),
        ("v.a(min(u.s, e.w))", "", None),
        ("v.a(u.s * 2)", "", ""),
        ("v.a(u.s * 0.5)", "", None),
        ("v.a(u.s * e.w)", "e.w < inf and e.w > 0", "e.w < inf and e.w >= 1"),
        ("v.a(u.s / 2)", "", None),
        ("v.a(e.w - u.s)", None, None),
        ("v.a(-u.s)", None, None),
        ("v.a(u.s * u.s)", None, None),
        ("v.a(u.s + e.w if e.open > 0 else inf)", "", "e.w >= 0"),
        ("v.a(u.s if e.open > 0 else e.w)", "", None),
        ("if e.open > 0: v.a(u.s + 1)", "", ""),
        ("if u.s < 5: v.a(u.s + 1)", "", ""),
        ("if 5 >= u.s: v.a(u.s + 1)", "", ""),
        ("if u.s > 5: v.a(u.s + 1)", None, ""),
        ("if not u.s > 5: v.a(u.s + 1)", "", ""),
        ("if u.s == 5: v.a(u.s + 1)", None, ""),
        ("x = u.s + e.w\nv.a(x + x - x)", None, None),
        ("v.a(u.s + 1)\nv.a(u.s + e.w)", "", "e.w >= 0"),
        ("for k in range(3): v.a(u.s + k)", "", ""),
        ("v.a(u.s + float(e.hops))", "", "e.hops >= 0"),
        ("v.a(u.s + float(e.hops + e.hops))", "", None),
        ("v.a(u.s + u.id)", "", ""),
        ("v.a(exp(u.s))", None, None),
        ("if u.s + e.w < 9: v.a(u.s + e.w)", "e.w >= 0", "e.w >= 0"),
        ("v.a(max(u.s, u.s - e.w))", "e.w < inf and e.w > -inf", ""),
        ("v.a(max(u.s, u.s // 2))", None, ""),
        ("v.a(u.s % 3)", None, None),
        ("v.a(u.s * (2.0 if e.open > 0 else 1.5))", "", ""),
        ("v.a(u.s * (2.0 if e.open > 0 else 0.5))", "", None),
        ("v.a(u.s * (2.0 if e.open > 0 else -1.5))", None, None),
        ("v.a(u.s * (2.0 if u.s > 3 else 1.5))", None, ""),
        ("v.a(u.s * 2.0 * (3.0 * 0.5))", "", ""),
        ("v.a(u.s * max(e.w, 1.0))", "e.w < inf", "e.w < inf"),
        ("v.a(u.s + (e.w if e.open > 0 else 0.5))", "", "e.w >= 0"),
    ],
)
def test_messages_of_the_least(
    message: str, monotone: str | None, never_overtakes: str | None
) -> None:
    indented = message.replace("\n", "\n                ")
    assert proofs(selecting(indented)) == (monotone, never_overtakes)


@pytest.mark.parametrize(
    ("message", "monotone", "never_overtakes"),
    [
        ("v.a(min(u.s, e.w))", "", ""),
        ("v.a(max(u.s, e.w))", "", None),
        ("v.a(u.s - e.w)", "", "e.w >= 0"),
        ("v.a(u.s * e.w)", "e.w < inf and e.w >= 0", "e.w <= 1 and e.w >= 0"),
        ("v.a(u.s * 0.5)", "", ""),
        ("v.a(u.s / 2)", "", ""),
        ("v.a(u.s / e.w)", "e.w < inf and e.w > 0", "e.w < inf and e.w >= 1"),
        ("if u.s > 0: v.a(u.s - 1)", "", ""),
        ("if u.s < 5: v.a(u.s - 1)", None, ""),
        ("v.a(u.s * (0.9 if e.open > 0 else 0.5))", "", ""),
        ("v.a((0.9 if e.open > 0 else 0.5) * u.s)", "", ""),
        ("v.a(u.s * (0.9 if e.open > 0 else 0.0))", "", ""),
        ("v.a(u.s * (1.1 if e.open > 0 else 0.5))", "", None),
        ("v.a(u.s * (0.9 if e.open > 0 else inf))", None, None),
        (
            "v.a(u.s * (e.w if e.open > 0 else 0.5))",
            "e.w < inf and e.w >= 0",
            "e.w <= 1 and e.w >= 0",
        ),
        ("v.a(u.s * (0.9 if e.open > 0 else 0.5) * 0.5)", "", ""),
        ("v.a(u.s * ((0.9 if e.open > 0 else 1.6) * 0.5))", "", ""),
        ("v.a(u.s * (1.0 - (0.9 if e.open > 0 else 0.5)))", "", ""),
        ("v.a(u.s * min(e.w, 1.0))", "e.w >= 0", "e.w >= 0"),
        ("v.a(u.s * max(0.25, min(0.5, e.w)))", "", ""),
        ("v.a(u.s / (2.0 if e.open > 0 else 4.0))", "", ""),
        ("v.a(u.s / (2.0 if e.open > 0 else 0.0))", None, None),
        ("v.a(u.s * 0.9 / 2.0)", "", ""),
        ("v.a((u.s if e.open > 0 else u.s * 0.5) * 0.9)", "", ""),
    ],
)
def test_messages_of_the_greatest(
    message: str, monotone: str | None, never_overtakes: str | None
) -> None:
    assert proofs(selecting(message, "Max")) == (monotone, never_overtakes)


def test_a_start_below_zero_or_without_end_proves_less() -> None:
    assert proofs(selecting("v.a(u.s * 2)", "Min", "-1.0"))[1] is None
    assert proofs(selecting("v.a(u.s * e.w)", "Max", "inf")) == (
        "e.w < inf and e.w > 0",
        "e.w <= 1 and e.w > 0",
    )
    assert proofs(selecting("if u.s + e.w < 9: v.a(u.s + 1)", "Min", "-1.0")) == (
        "e.w < inf and e.w > -inf",
        "",
    )


@pytest.mark.parametrize(
    ("message", "kind", "monotone", "never_overtakes"),
    [
        ("v.a(u.s)", "Or", "", ""),
        ("v.a(u.s and e.w > 0)", "Or", "", ""),
        ("if u.s: v.a(True)", "Or", "", ""),
        ("if u.s and e.w > 0: v.a(True)", "Or", "", ""),
        ("v.a(True)", "Or", "", None),
        ("v.a(not u.s)", "Or", None, None),
        ("v.a(u.s)", "And", "", ""),
        ("v.a(u.s or e.w > 0)", "And", "", ""),
        ("if not u.s: v.a(False)", "And", "", None),
        ("v.a(True if u.s else e.w > 0)", "And", "", ""),
    ],
)
def test_messages_of_truth_values(
    message: str, kind: str, monotone: str | None, never_overtakes: str | None
) -> None:
    program = selecting(message, kind, value="bool")
    assert proofs(program) == (monotone, never_overtakes)
    assert found(program).kind is (AccumulatorKind.MAX if kind == "Or" else AccumulatorKind.MIN)


@pytest.mark.parametrize(
    ("message", "start", "never_overtakes"),
    [
        ("v.a(u.s)", "9223372036854775807", ""),
        ("v.a(u.s + 1)", "1000", ""),
        ("v.a(u.s + 1)", "9223372036854775807", None),
        ("v.a(u.s + 2000000000)", "1000", None),
        ("v.a(u.s + e.hops)", "v.id", "e.hops <= 1073741824 and e.hops >= 0"),
        ("v.a(u.s * 2)", "1000", None),
    ],
)
def test_ints_must_not_wrap_around(message: str, start: str, never_overtakes: str | None) -> None:
    assert proofs(selecting(message, "Min", start, "int"))[1] == never_overtakes


@pytest.mark.parametrize(
    "update",
    [
        "v.s = min(v.s, v.a)",
        "v.s = min(v.a, v.s)",
        "v.s = v.a if v.a < v.s else v.s",
        "v.s = v.s if v.s <= v.a else v.a",
        "v.s = v.a if v.s > v.a else v.s",
        "if v.a < v.s: v.s = v.a",
        "if v.s >= v.a: v.s = v.a",
        "new = min(v.s, v.a)\n    v.s = new",
        "old = v.s\n    v.s = v.a\n    v.s = min(old, v.s)",
        "if v.s <= v.a: pass\n    else: v.s = v.a",
    ],
)
def test_updates_that_keep_the_less(update: str) -> None:
    program = with_update(update)
    assert found(program).settles


@pytest.mark.parametrize(
    "update",
    [
        "v.s = v.a",
        "v.s = max(v.s, v.a)",
        "v.s = min(v.s, v.a, 3)",
        "v.s = min(v.s, v.a + 1)",
        "v.s = v.a if v.a > v.s else v.s",
        "if v.a < 3: v.s = v.a",
        "v.s = min(v.s, v.a) if v.id > 3 else v.s",
        "v.s = min(v.s, v.a) if self.iteration > 3 else v.s",
        "for k in range(v.degree): v.s = min(v.s, v.a)",
    ],
)
def test_updates_that_do_something_else(update: str) -> None:
    program = with_update(update)
    assert selection(program) is None
    assert "update" in (why_not_selection(program) or "")


def with_update(update: str) -> VertexProgram:
    body = update.replace("\n    ", "\n                ")
    return read(
        f"""
        @gt.program
        class Tried:
            s: float = inf
            a = gt.Min(float)
            def traverse(self, u, e, v): v.a(u.s)
            def update(self, v):
                {body}
        """
    ).plan


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("v.a(u.s + v.s)", "depends on v"),
        ("v.a(u.s + v.id)", "depends on v"),
        ("if v != u: v.a(u.s)", "depends on v"),
        ("v.a(u.s + u.out_degree)", "how many edges u has"),
        ("for k in range(e.hops): v.a(u.s)", "loop whose length is not known"),
    ],
)
def test_messages_that_are_no_selection(message: str, reason: str) -> None:
    assert reason in (why_not_selection(selecting(message)) or "")


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (library.PageRank, "its accumulator is a sum"),
        (library.Votes, "arrays"),
        (library.Moments, "more than one"),
    ],
)
def test_programs_that_are_no_selection(program: gt.Program, reason: str) -> None:
    assert selection(program.plan) is None
    assert reason in (why_not_selection(program.plan) or "")


def test_a_selection_says_what_maintenance_needs() -> None:
    answer = found(library.Hops.plan)
    assert answer.kind is AccumulatorKind.MIN
    assert (answer.state, answer.accumulator, answer.type) == ("level", "best", x.INT)
    assert answer.identity == 2**63 - 1
    assert expression_text(answer.message) == (
        "u.level + 1 if u.level < self.limit else 9223372036854775807"
    )
    assert answer.initial is not None
    assert expression_text(answer.initial) == "0 if v in self.sources else 1000000000"
    assert answer.settles
    assert answer.obligations == ()


def test_obligations_are_checked_on_values() -> None:
    (obligation,) = found(library.ShortestPaths.plan).obligations
    assert str(obligation) == "e.weight >= 0"
    assert [obligation.holds_for(value) for value in (0.0, math.inf, -1.0, math.nan)] == [
        True,
        True,
        False,
        False,
    ]


def test_plain_components() -> None:
    assert is_plain_components(library.Components.plan)
    assert not any(
        is_plain_components(item.plan) for item in library.ALL if item is not library.Components
    )


@pytest.mark.parametrize(
    "change",
    [
        ('direction = "both"', 'direction = "out"'),
        ("v.id", "v.id + 1"),
        ("u.label", "u.label + 1"),
        ("label: int", "label: int\n    iterations = 3"),
    ],
)
def test_what_is_nearly_components(change: tuple[str, str]) -> None:
    text = gt.unparse(library.Components.plan).replace(
        "label = gt.State(int, default=0)", "label: int"
    )
    assert change[0] in text
    assert not is_plain_components(read(text.replace(*change)).plan)


def test_the_greatest_label_is_components_too() -> None:
    text = gt.unparse(library.Components.plan).replace("Min", "Max").replace("min", "max")
    assert is_plain_components(read(text).plan)


def test_what_invertible_programs_read() -> None:
    answer = invertible(library.PageRank.plan)
    assert answer is not None
    assert answer.traverse.source_degrees
    assert not answer.traverse.reads_target
    core = invertible(library.Core.plan)
    assert core is not None
    assert not core.traverse.source_degrees
    assert core.traverse.reads_target
    assert invertible(library.ShortestPaths.plan) is None
    assert invertible(library.Moments.plan) is None


def test_what_functions_read() -> None:
    plan = library.Moments.plan
    assert edge_properties(plan) == {"kind": x.INT, "weight": x.FLOAT}
    found = reads(plan.update)
    assert found.iteration
    assert found.target_degrees
    assert reads(plan.traverse).source_state == {"mean"}
    assert reads(library.Hops.plan.traverse).parameters == {"limit"}
    assert reads(library.Hops.plan.initialize).target_membership


def test_long_functions_have_no_closed_form() -> None:
    lines = "\n".join("                x = x + x" for _ in range(40))
    program = selecting(f"x = u.s\n{lines}\n                v.a(x)")
    assert "too long" in (why_not_selection(program) or "")


def test_sends_under_ifs_become_one_message() -> None:
    program = selecting(
        "if e.w > 0:\n                    v.a(u.s)\n                elif e.w > -1: v.a(e.w)"
    )
    assert expression_text(traverse_form(program).sent["a"]) == (
        "u.s if e.w > 0.0 else e.w if e.w > -1.0 else inf"
    )


def starting(start: str, update: str = "min(v.s, v.a)", message: str = "u.s") -> VertexProgram:
    """A program with that start, which may read the float parameter `first`."""
    return read(
        f"""
        @gt.program
        class Tried:
            first: float = 1.0
            s: float
            a = gt.Min(float)
            def initialize(self, v): v.s = {start}
            def traverse(self, u, e, v): v.a({message} if self.first > 0 else inf)
            def update(self, v): v.s = {update}
        """
    ).plan


@pytest.mark.parametrize(
    ("start", "told"),
    [
        ("1.0", ""),
        ("float(v.id) * 0.5", ""),
        ("min(float(v.id), 3.0) if v.id > 1 else -inf", ""),
        ("self.first", "self.first >= -inf"),
        ("self.first + 1.0", "self.first < inf and self.first > -inf"),
        ("float(v.id) / float(v.id)", "it could not be proved that its start is a number"),
        ("inf - inf", "it could not be proved that its start is a number"),
        ("sqrt(float(v.id))", "it could not be proved that its start is a number"),
        ("float(v.degree)", "its start depends on how many edges v has"),
    ],
)
def test_starts(start: str, told: str) -> None:
    claim = found(starting(start)).start
    assert (" and ".join(map(str, claim.obligations)) if claim.holds else claim.reason) == told


def test_what_is_not_proved_is_not_said_to_be_wrong() -> None:
    lines = explain_analysis(selecting("v.a(exp(u.s))"))
    assert (
        "monotone: it could not be proved that a greater u.s never gives a lesser message" in lines
    )
    assert "never overtakes: it could not be proved that a message is never less than u.s" in lines


@pytest.mark.parametrize(
    ("update", "strictly"),
    [
        ("min(v.s, v.a)", True),
        ("v.a if v.a < v.s else v.s", True),
        ("v.a if v.s > v.a else v.s", True),
        ("min(v.a, v.s)", False),
        ("v.a if v.a <= v.s else v.s", False),
        ("v.s if v.s < v.a else v.a", False),
    ],
)
def test_what_nan_and_the_two_zeros_tell_apart_is_no_selection(update: str, strictly: bool) -> None:
    assert selection(starting("1.0", update)) is not None
    assert (selection(starting("0.0 / float(v.id)", update)) is not None) is strictly
    assert (selection(starting("1.0", update, "1.0 / u.s")) is not None) is strictly
