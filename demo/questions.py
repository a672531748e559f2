"""What the demo asks of the calls: three collections in GVDL, and a program over each.

Every question is answered twice, sharing work between views and with every view from scratch, and
the two are compared result by result before their times are.

The second question shows where sharing gains nothing, the third that the same question gains much
where ranks need not be right to the last digit: most of them stay as they are from day to day.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import graphtide as gt


@dataclass(frozen=True)
class Question:
    """A program over a collection, in words and as statements."""

    words: str
    collection: str
    views: str
    name: str
    program: Any  # To type checkers a class, to Python the gt.Program that was read from it.
    within: float = 1e-9  # How far two answers may be apart, as a share of them.

    @property
    def statement(self) -> str:
        """The collection as GVDL."""
        return f"create view collection {self.collection} on Calls\n  {self.views};"


@dataclass(frozen=True)
class Answered:
    """Both runs of a question. Times are those of the computation: reading is the same for both."""

    question: Question
    shared: gt.Run
    scratch: gt.Run

    @property
    def gain(self) -> float:
        """How many times faster sharing was; below 1 where it was slower."""
        return self.scratch.seconds / self.shared.seconds


_ranks: Any = gt.algorithms.ConvergedPageRank
RANKS_TO_ONE_PERCENT = _ranks(tolerance=0.01)

QUESTIONS = (
    Question(
        "Who is connected with whom, by all calls until each day?",
        "until-each-day",
        "expanding windows over day width 1 day",
        "WCC",
        gt.algorithms.WCC,
    ),
    Question(
        "Who is central, by the calls of each seven days of 2019?",
        "seven-days",
        "sliding windows over day from '2019-01-01' until '2020-01-01'\n"
        "  width 7 days step 1 day drop partial",
        "PageRank",
        gt.algorithms.PageRank,
    ),
    Question(
        "Who is central, to one in a hundred, by all calls until each day of 2019?",
        "until-each-day-of-2019",
        "expanding windows over day from '2019-01-01' until '2020-01-01' width 1 day",
        "ConvergedPageRank",
        RANKS_TO_ONE_PERCENT,
        within=0.0202,  # Two ranks, each within 1% of the true one.
    ),
)


def answer(session: gt.Session, question: Question) -> Answered:
    """Run the program both ways; refuses to go on if their results differ."""
    collection = session.collection(question.collection)
    name = f"{question.collection}-{question.name}"
    shared = collection.run(question.program, name=name)
    scratch = collection.run(question.program, name=f"{name}-scratch", strategy="scratch")
    _compare(shared, scratch, question.within)
    return Answered(question, shared, scratch)


def _compare(shared: gt.Run, scratch: gt.Run, within: float) -> None:
    """Every vertex in every 50th view and the last."""
    for view in {*range(0, len(shared), 50), len(shared) - 1}:
        np.testing.assert_allclose(shared.values(view), scratch.values(view), rtol=within)
