"""Which vertices of a view count: those that are there, that it touches, or of a label.

The results themselves are those of the whole graph: only what is counted and shown is chosen. A
vertex that is taken out of a view never counts there. Of a window, which is about what happened in
it, only vertices with an edge in it count, unless somebody asks for all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

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
    """Which vertices of a view count: with an edge in it or not, of a label or of any.

    Where nothing is said, vertices of windows are those with an edge, and those of other views all
    that are there. Runs on shards count all of windows too: their driver does not have the edges.
    """

    counted: Counted | None = None
    label: str | None = None

    def everything(self, contents: RunContents) -> bool:
        """True where every vertex of the graph counts in every view."""
        if contents.facts.pairs is not None:
            return True
        vertices = contents.steps.vertices
        chosen = self.label is not None or bool(vertices.removed)
        windows = any(self._touched(contents, view) for view in vertices.windows)
        return not (chosen or windows or self.counted == "touched")

    def all_there(self, contents: RunContents) -> bool:
        """True where every vertex counts that is not taken out of a view."""
        windows = any(self._touched(contents, view) for view in contents.steps.vertices.windows)
        return self.label is None and self.counted != "touched" and not windows

    def _touched(self, contents: RunContents, view: int) -> bool:
        if self.counted is not None or contents.facts.pairs is not None or contents.facts.on_shards:
            return self.counted == "touched"
        return view in contents.steps.vertices.windows

    def check(self, contents: RunContents) -> None:
        """InputError where the run cannot choose so."""
        if self.counted is not None and self.counted not in get_args(Counted):
            raise InputError(
                f"vertices cannot be {self.counted!r}",
                hint="use 'touched' or 'all'; label='...' chooses those of a label",
            )
        if contents.facts.pairs is not None and (self.counted == "touched" or self.label):
            raise InputError(
                f"the results of '{contents.facts.name}' are those of pairs of vertices",
                hint="choose pairs when you run the program",
            )
        if self.label is not None:
            _check_label(contents, self.label)

    def mask(self, contents: RunContents, view: int) -> Truths | None:
        """True for each vertex that counts in a view, by its position; None where all count.

        O(vertices).
        """
        contents.check_rows()
        touched, removed = self._touched(contents, view), contents.removed(view)
        if not (touched or removed or self.label is not None):
            return None
        vertices = contents.count(contents.fields[0])
        chosen = np.ones(vertices, np.bool_)
        chosen[list(removed)] = False
        if touched:
            chosen &= contents.touched().mask(view, vertices)
        if self.label is not None:
            labels = contents.rows.columns()["label"]
            chosen &= pc.equal(labels, self.label).to_numpy(zero_copy_only=False)
        return chosen

    def of(self, contents: RunContents, view: int, values: NDArray[Any]) -> NDArray[Any]:
        """The values of the vertices that count, of one for each vertex."""
        mask = self.mask(contents, view)
        return values if mask is None else values[mask]


BY_VIEW = ChosenVertices()
"""Those that each view has."""

THERE = ChosenVertices("all")
"""All that are not taken out."""


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
