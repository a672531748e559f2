"""What the demo asks of the calls: three collections in GVDL, and a program over each.

Every question is answered twice, sharing work between views and with every view from scratch, and
the two are compared result by result before their times are.
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
    program: Any  # To type checkers a class, to Python the gt.Program that was read from it.

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


QUESTIONS = (
    Question(
        "Who is connected with whom, by all calls until each day?",
        "until-each-day",
        "expanding windows over day width 1 day",
        gt.algorithms.WCC,
    ),
    Question(
        "Who is central, by the calls of each seven days of 2019?",
        "seven-days",
        "sliding windows over day from '2019-01-01' until '2020-01-01'\n"
        "  width 7 days step 1 day drop partial",
        gt.algorithms.PageRank,
    ),
    Question(
        "Who is central, by all calls until each quarter?",
        "until-each-quarter",
        "expanding windows over day width 3 months",
        gt.algorithms.PageRank,
    ),
)


def answer(session: gt.Session, question: Question) -> Answered:
    """Run the program both ways; refuses to go on if their results differ."""
    collection = session.collection(question.collection)
    name = f"{question.collection}-{question.program.plan.name}"
    shared = collection.run(question.program, name=name)
    scratch = collection.run(question.program, name=f"{name}-scratch", strategy="scratch")
    _compare(shared, scratch)
    return Answered(question, shared, scratch)


def _compare(shared: gt.Run, scratch: gt.Run) -> None:
    """Every vertex in every 50th view and the last; sums may differ in their last digits."""
    for view in {*range(0, len(shared), 50), len(shared) - 1}:
        np.testing.assert_allclose(shared.values(view), scratch.values(view), rtol=1e-9)
