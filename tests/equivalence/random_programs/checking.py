"""A case in every way that its program can be kept current or run in."""

from __future__ import annotations

from collections.abc import Iterator

from tests.equivalence.random_programs.cases import Case
from tests.equivalence.random_programs.judging import Judge, Tally, WrongError
from tests.equivalence.random_programs.running import VersionRun
from tests.equivalence.random_programs.walking import Walk


def walks(case: Case, judge: Judge) -> Iterator[Walk]:
    """One for each way that the program can be kept current in."""
    first = Walk(case, judge, "auto")
    yield first
    if first.live is None:
        return
    if first.live.mode == "fixpoint" or case.knobs:
        yield Walk(case, judge, "exact")
    if first.live.mode != "fixpoint":
        yield Walk(case, judge, "fixpoint")


def check_case(case: Case, tally: Tally) -> None:
    """All modes of a case, and a run over versions; WrongError at the first difference."""
    for _, wrong in failures(case, tally):
        raise wrong


def failures(case: Case, tally: Tally) -> Iterator[tuple[str, WrongError]]:
    """The modes that a case fails in, and how."""
    judge = Judge(case, tally)
    for walk in walks(case, judge):
        try:
            walk.run()
        except WrongError as wrong:
            yield walk.mode, wrong
    try:
        VersionRun(case, judge).run()
    except WrongError as wrong:
        yield "run", wrong
