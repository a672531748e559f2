"""Views in the order in which they were given, and the plan that arranges them.

What a collection of the catalog and one in memory have in common: both are a plan over classes
of edges, and differ in where the edges are and in who runs programs on them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, SupportsIndex, TypeVar, overload

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model.cells import visible
from graphtide.model.delta import Delta
from graphtide.model.errors import NotFoundError
from graphtide.model.schema import name_hint
from graphtide.model.wording import counted
from graphtide.plan.collection import CollectionPlan
from graphtide.run.collection.arranged_views import ArrangedViews, plan_table
from graphtide.run.collection.named_views import unviewed_text
from graphtide.run.html import collection_html

if TYPE_CHECKING:
    from graphtide.api.pictures.picture import Picture

OneView = TypeVar("OneView")


@dataclass(frozen=True)
class Step:
    """One version of a collection's plan: a view, or a stepping stone (`view` is None).

    `parent` is the index of the step that `delta` starts from; -1 is the empty version.
    """

    index: int
    view: str | None
    stone: str | None
    parent: int
    delta: Delta


class ViewSequence(Sequence[OneView]):
    """Views in the order in which they were given; `steps` follows the plan."""

    def __init__(self, arranged: ArrangedViews) -> None:
        self._arranged = arranged
        self._positions = {view.name: at for at, view in enumerate(arranged.views)}

    @property
    @abstractmethod
    def graph(self) -> str:
        """What the graph is called."""

    @abstractmethod
    def _view(self, position: int) -> OneView:
        """One view."""

    @property
    def name(self) -> str:
        """The name of the collection."""
        return self._arranged.name

    @property
    def plan(self) -> CollectionPlan:
        """The plan by classes; `plan.totals` says what the other arrangements would cost."""
        return self._arranged.plan

    @property
    def weights(self) -> NDArray[np.int64]:
        """The number of edges of each class of the plan."""
        return self._arranged.weights

    @property
    def differences(self) -> int:
        """All edges that enter or leave along the plan, loading the first version included."""
        return self.plan.differences(self._arranged.weights)

    @property
    def unviewed(self) -> dict[str, int]:
        """How many edges are in no view, by reason; empty where each is in one.

        Edges without a value are in no window, and neither are those before the first and behind
        the last. Where `within` chooses edges, it is those that are counted.
        """
        return dict(self._arranged.unviewed)

    @property
    def names(self) -> list[str]:
        """The names of the views, in the order in which they were given."""
        return list(self._positions)

    def __len__(self) -> int:
        return len(self._arranged.views)

    @overload
    def __getitem__(self, key: SupportsIndex | str) -> OneView: ...
    @overload
    def __getitem__(self, key: slice) -> list[OneView]: ...
    def __getitem__(self, key: SupportsIndex | str | slice) -> OneView | list[OneView]:
        if isinstance(key, slice):
            return [self[at] for at in range(*key.indices(len(self)))]
        if isinstance(key, SupportsIndex):
            return self._view(self._place(key))
        if key not in self._positions:
            raise NotFoundError(
                f"the collection '{self.name}' has no view '{key}'",
                hint=name_hint(key, self._positions, "see its names: collection.names", "'"),
            )
        return self._view(self._positions[key])

    def _place(self, key: SupportsIndex) -> int:
        """A position counted from the front; IndexError past the end, as sequences must."""
        try:
            return range(len(self))[key]
        except IndexError:
            raise IndexError(
                f"the collection '{self.name}' has {len(self):,} views, and none at {key!r}"
            ) from None

    def steps(self) -> Iterator[Step]:
        """The versions of the plan, depth first, each with the delta from its parent."""
        for index, step in enumerate(self.plan.steps):
            name = None if step.view is None else self._arranged.views[step.view].name
            yield Step(index, name, step.stone, step.parent, self._arranged.delta(index))

    def to_arrow(self) -> pa.Table:
        """A row a step of the plan: view or stone, size, parent, edges in and out."""
        return plan_table(self._arranged)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def explain(self) -> str:
        """The plan as text, with what chain and tree would cost and the lower bounds."""
        names = [view.name for view in self._arranged.views]
        text = self.plan.explain(names, self._arranged.weights)
        said = unviewed_text(self._arranged.unviewed)
        return text if said is None else f"{text}\n{said}"

    def picture(self, path: str | Path | None = None) -> Picture:
        """Draw how like the views are, in the given order and as arranged.

        To a PNG, SVG or PDF file if a path is given; a notebook shows what it returns.
        """
        # Imported here: matplotlib takes a second.
        from graphtide.api.pictures.draw import draw_collection

        return draw_collection(self._arranged, self.graph, path)

    def __repr__(self) -> str:
        totals, said = self.plan.totals, unviewed_text(self._arranged.unviewed)
        return (
            f"<collection '{visible(self.name)}' on {self.graph}: {counted(len(self), 'view')}, "
            f"{self.plan.kind} of {counted(self.differences, 'difference')} "
            f"({totals.given:,} in the given order)"
            + (">" if said is None else f"; {visible(said)}>")
        )

    def _repr_html_(self) -> str:
        title = (
            f"collection '{self.name}' on {self.graph}: {counted(len(self), 'view')}, "
            f"{self.plan.kind} of {counted(self.differences, 'difference')}"
        )
        said = unviewed_text(self._arranged.unviewed)
        title = title if said is None else f"{title}; {said}"
        return collection_html(title, self.plan, self.to_arrow())
