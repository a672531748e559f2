"""The right answer on a version, by two oracles that must agree, and what counts as equal to it.

Where all float sums of the oracle's run were exact, every result must be equal, bit by bit but for
the sign of a zero. Where one was not, the order of edges decides last digits: results must then be
near, unless the program compares or cuts floats, which makes of a last digit anything at all.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from graphtide.model.errors import GraphtideError, LimitError
from tests.equivalence.random_programs.cases import PROPERTIES, Case, Row
from tests.equivalence.random_programs.given_vertices import vertex_row
from tests.oracle import programs as plan_oracle
from tests.oracle.class_runs import LONGEST, NeverSettlesError, Outcome, run_class, run_class_pairs
from tests.oracle.class_texts import ClassText, load_class
from tests.oracle.machine_numbers import UndefinedError
from tests.unit.programs.sources import read

NEAR = 1e-9


class WrongError(Exception):
    """Engine and oracle differ; says where."""

    @property
    def sort(self) -> str:
        """What went wrong, without the particulars: a smaller case must fail in the same way."""
        told = re.sub(r"^step .*?: ", "", str(self).splitlines()[0])
        return re.sub(r"[{\[].*|'.*?'|[-\d.]+", "", told)[:60]


@dataclass
class Tally:
    """What was tried, for the report of a campaign."""

    counts: Counter[str] = field(default_factory=Counter)

    def note(self, what: str) -> None:
        self.counts[what] += 1


@dataclass(frozen=True)
class Version:
    """The ids of a graph's vertices in order, and its edges."""

    vertices: tuple[Any, ...]
    edges: tuple[Row, ...]


@dataclass(frozen=True)
class Ids:
    """The results that name a vertex, and the ids that they are shown as."""

    named: tuple[str, ...]
    vertices: tuple[Any, ...]

    def of(self, state: dict[str, Any]) -> dict[str, Any]:
        """Results as users see them."""
        return {
            name: self._of(values) if name in self.named else values
            for name, values in state.items()
        }

    def _of(self, value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [self._of(item) for item in value]
        if 0 <= value < len(self.vertices):
            return self.vertices[value]
        if 0 <= value < 1 << 31:
            raise WrongError(f"{value} is said to name a vertex of {len(self.vertices)}")
        return None


class Judge:
    """The oracle for one program: what the right answer is on a version, asked once each."""

    def __init__(self, case: Case, tally: Tally) -> None:
        self.case, self.tally = case, tally
        self.program = read(case.text, math=math)
        self.loaded: ClassText = load_class(case.text)
        self.touchy = bool(
            re.search(r"[<>]|==|!=|int\(|floor|ceil|//|%|if ", _functions(case.text))
        )
        self._known: dict[Version, Any] = {}

    def answer(self, version: Version) -> Outcome | Exception:
        """The outcome, or why there is none."""
        if version not in self._known:
            self._known[version] = self._answer(version)
        found: Outcome | Exception = self._known[version]
        return found

    def _answer(self, version: Version) -> Outcome | Exception:
        number = {name: at for at, name in enumerate(version.vertices)}
        edges = [
            (number[row[0]], number[row[1]], dict(zip(PROPERTIES, row[2:], strict=True)))
            for row in version.edges
        ]
        given = self._given(number)
        rows = [vertex_row(self.case.seed, vertex) for vertex in version.vertices]
        pairs = "pairs" in self.loaded.parameters.values()
        run = run_class_pairs if pairs else run_class
        try:
            directed = self.case.directed
            found: Outcome | Exception = run(self.loaded, given, len(number), edges, rows, directed)
        except (NeverSettlesError, IndexError, UndefinedError) as reason:
            found = reason
        if directed:
            self._vote(found, given, rows, edges)
        return found

    def _given(self, number: dict[Any, int]) -> dict[str, Any]:
        """The parameters, with vertices by number."""
        found = dict(self.case.parameters)
        for name, kind in self.loaded.parameters.items():
            value = found.get(name)
            if kind == "vertex":
                found[name] = number[value]
            elif kind == "vertices":
                found[name] = tuple(number[item] for item in value)
            elif kind == "pairs":
                found[name] = tuple((number[one], number[other]) for one, other in value)
        return found

    def _vote(
        self, found: Any, given: dict[str, Any], rows: list[dict[str, Any]], edges: list[Any]
    ) -> None:
        """The interpreter of the plan must say the same: one of three is then outvoted."""
        if isinstance(found, UndefinedError):
            return
        self.tally.note("votes")
        plan, n = self.program.plan, len(rows)
        try:
            if plan.pairs is None:
                other = plan_oracle.run(plan, given, n, edges, limit=LONGEST, given=rows)[0]
            else:
                other = plan_oracle.run_pairs(plan, given, n, edges, rows)
        except (AssertionError, IndexError) as error:
            agreed = isinstance(
                found, IndexError if isinstance(error, IndexError) else NeverSettlesError
            )
            if not agreed:
                raise WrongError(
                    f"the plan's oracle says {error!r}, the class's {found}"
                ) from error
            return
        if not isinstance(found, Outcome) or not same_state(found.state, other, 0.0):
            raise WrongError(f"the plan's oracle says {other}, the class's {found}")

    def compare(
        self, right: Outcome | Exception, found: dict[str, Any], what: str, ids: Ids | None = None
    ) -> bool:
        """Refuse wrong results; False where there is nothing to compare with any more.

        `ids` tells which of the results name vertices, and how.
        """
        if isinstance(right, UndefinedError):
            self.tally.note("not defined")
            return False
        if isinstance(right, NeverSettlesError):
            if right.sure:
                raise WrongError(f"{what} gave {found}, but it never settles")
            self.tally.note("too long to judge")
            return False
        if not isinstance(right, Outcome):
            raise WrongError(f"{what} gave {found}, but {right}")
        if not self.decides(right):
            self.tally.note("inexact and touchy")
            return True
        state = right.state if ids is None else ids.of(right.state)
        if not same_state(state, found, 0.0 if right.exact else NEAR):
            raise WrongError(f"{what} gave {found}, right is {state}")
        self.tally.note("compared" if right.exact else "compared, nearly")
        return True

    def decides(self, right: Outcome | Exception) -> bool:
        """Whether a difference from this answer is a mistake."""
        return isinstance(right, Outcome) and (right.exact or not self.touchy)

    def check_refusal(self, error: GraphtideError, right: Any, version: Version) -> None:
        """Refuse a refusal that the documentation does not promise."""
        text = str(error)
        if "settles only where" in text:
            if not _breaks_condition(text, version, self.case.seed):
                raise WrongError(f"refused without need: {text}") from error
            self.tally.note("refused for its condition")
        elif isinstance(right, UndefinedError):
            self.tally.note("not defined")
        elif isinstance(error, LimitError):
            if self.decides(right):
                raise WrongError(f"said never to settle, right is {right}") from error
            self.tally.note("never settles")
        elif "outside of an array" in text:
            if not isinstance(right, IndexError):
                raise WrongError(f"{text}, right is {right}") from error
            self.tally.note("index refused")
        else:
            raise WrongError(f"refused: {text}") from error


def _breaks_condition(text: str, version: Version, seed: str) -> bool:
    """Whether some edge or vertex is what the refusal says; a parameter is taken at its word."""
    condition = re.search(r"settles only where (.*?)(?:, and it is|\n|$)", text)
    assert condition is not None
    if "self." in condition[1]:
        return True
    names = {"inf": math.inf}
    edges = [dict(zip(PROPERTIES, row[2:], strict=True)) for row in version.edges]
    if "e." in condition[1]:
        return any(not eval(condition[1], names | {"e": SimpleNamespace(**edge)}) for edge in edges)
    rows = [vertex_row(seed, vertex) for vertex in version.vertices]
    levels = [2 if row["level"] is None else row["level"] for row in rows]
    vertices = [
        SimpleNamespace(**row | {"level": level}) for row, level in zip(rows, levels, strict=True)
    ]
    return any(not eval(condition[1], names | {"u": one, "v": one}) for one in vertices)


def _functions(text: str) -> str:
    return text[text.index("def ") :]


def same_state(one: dict[str, Any], other: dict[str, Any], within: float) -> bool:
    """Equal up to a share; NaN is NaN."""
    return all(same(list(one[name]), list(other[name]), within) for name in one)


def same(one: Any, other: Any, within: float) -> bool:
    if isinstance(one, list):
        return len(one) == len(other) and all(
            same(a, b, within) for a, b in zip(one, other, strict=True)
        )
    if one is None or isinstance(one, str) or isinstance(other, str):
        return one == other
    if not isinstance(one, float):
        return other is not None and int(one) == int(other)
    a, b = float(one), float(other)
    if a == b or (math.isnan(a) and math.isnan(b)):
        return True
    return within > 0 and math.isclose(a, b, rel_tol=within, abs_tol=within)
