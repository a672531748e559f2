"""Summaries and results of part of the vertices: those that a view touches, or of a label.

The results themselves are those of the whole graph: only what is counted and shown is chosen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphtide.model.errors import InputError
from graphtide.model.schema import name_hint
from graphtide.run.collection.contents import RunContents

Counted = Literal["all", "touched"]
Truths = NDArray[np.bool_]


@dataclass(frozen=True)
class ChosenVertices:
    """Which vertices of a view count: with an edge in it or not, of a label or of any."""

    counted: Counted = "all"
    label: str | None = None

    @property
    def everything(self) -> bool:
        """True where every vertex counts."""
        return self.counted == "all" and self.label is None

    def check(self, contents: RunContents) -> None:
        """InputError where the run cannot choose so."""
        if self.counted not in get_args(Counted):
            raise InputError(
                f"vertices cannot be {self.counted!r}",
                hint="use 'touched' or 'all'; label='...' chooses those of a label",
            )
        if contents.facts.pairs is not None and not self.everything:
            raise InputError(
                f"the results of '{contents.facts.name}' are those of pairs of vertices",
                hint="choose pairs when you run the program",
            )
        if self.label is not None:
            _check_label(contents, self.label)

    def mask(self, contents: RunContents, view: int) -> Truths:
        """True for each vertex that counts in a view, by its position. O(vertices)."""
        contents.check_rows()
        vertices = len(contents.base[contents.fields[0]])
        chosen = np.ones(vertices, np.bool_)
        if self.counted == "touched":
            chosen &= contents.touched().mask(view, vertices)
        if self.label is not None:
            labels = contents.rows.columns()["label"]
            chosen &= pc.equal(labels, self.label).to_numpy(zero_copy_only=False)
        return chosen


EVERY_VERTEX = ChosenVertices()


def _check_label(contents: RunContents, label: str) -> None:
    columns = contents.rows.columns()
    if "label" not in columns:
        raise InputError(
            "the vertices have no labels to choose by, or one label", hint="leave out the label"
        )
    known = pc.unique(columns["label"]).to_pylist()
    if label not in known:
        hint = name_hint(label, known, f"there are: {', '.join(known)}", "'")
        raise InputError(f"no vertex has the label {label!r}", hint=hint)
