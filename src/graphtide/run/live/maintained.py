"""A maintainer as its graph sees it: checked before, moved, and asked what changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Change
from graphtide.engine.maintainer import Maintainer, field_values
from graphtide.model.errors import InputError
from graphtide.run.live.conditions import Conditions
from graphtide.run.live.modes import Choice

Int32 = NDArray[np.int32]


@dataclass
class Maintained:
    """A maintainer, why it is this one, and what its edges must satisfy.

    `vertices` is how many vertices the graph must have for those that parameters name to be there.
    `since` is the version from which on it can be rolled back; `before` is how many vertices the
    graph had before the last advance, of which `changes` tells. `failed` says that it could not
    begin anew, and has no results.
    """

    maintainer: Maintainer
    choice: Choice
    conditions: Conditions
    fields: tuple[str, ...]
    vertices: int = 0
    since: int = 0
    before: int = 0
    failed: bool = False
    changes: Mapping[str, Change] = field(default_factory=dict)

    def values(self, name: str) -> NDArray[Any]:
        """The results of a field, not a copy; InputError if there are none."""
        if self.failed:
            raise InputError(
                f"{self.conditions.program} has no results: it could not begin anew",
                hint="maintain the program on the graph again",
            )
        return field_values(self.maintainer, name)

    def start(self, version: int, vertices: int) -> None:
        """Run from scratch on the graph as it is."""
        self.maintainer.start()
        self.changes, self.before, self.since = {}, vertices, version

    def repair(self, inserted: Int32, deleted: Int32, before: int) -> None:
        """Follow the graph to its next version; `before` is how many vertices it had."""
        found = self.maintainer.repair(inserted, deleted)
        self.changes = {self.fields[0]: found} if isinstance(found, Change) else found
        self.before = before

    def restore(self, vertices: int) -> None:
        """Go back by one version; `vertices` is how many there are then."""
        self.maintainer.restore()
        self.changes, self.before = {}, vertices
