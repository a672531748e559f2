"""What the page can open, by name: the one module of the page that speaks with `api`.

A shelf has the catalog of a session, or none, and things that are in memory alone. A name of memory
stands before the same name of the catalog.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphtide.api.collection import Collection
from graphtide.api.drawable import drawable_collection, drawable_key, drawable_run
from graphtide.api.graph import Graph
from graphtide.api.memory_views import MemoryCollection
from graphtide.api.run import Run
from graphtide.api.session import Session
from graphtide.model.errors import NotFoundError
from graphtide.run.collection.contents import RunContents
from graphtide.run.views.drawable import DrawableGraph


class Shelf:
    """Graphs, collections, runs and live graphs by name. `changes` allows statements."""

    def __init__(self, session: Session | None = None, *, changes: bool = False) -> None:
        self.session = session
        self.changes = changes
        self._held: dict[str, dict[str, Any]] = {"collection": {}, "run": {}, "live": {}}

    def put(self, thing: MemoryCollection | Run | Graph, name: str | None = None) -> list[str]:
        """Take up something that is in memory; the place of the page that shows it."""
        raise NotImplementedError

    def collection(self, name: str) -> Collection | MemoryCollection:
        """The collection of that name."""
        held = self._held["collection"].get(name)
        if held is None and self.session is not None:
            held = self.session.collection(name)
        return self._found(held, "collection", name)  # type: ignore[no-any-return]

    def run(self, name: str) -> Run:
        """The run of that name, as far as it is finished."""
        held = self._held["run"].get(name)
        if held is None and self.session is not None:
            held = self.session.results(name)
        return self._found(held, "run", name)  # type: ignore[no-any-return]

    def drawable_collection(self, name: str) -> tuple[Any, str | None, Callable[[], DrawableGraph]]:
        """A collection, what else is drawn like it, and what reads its edges to draw them."""
        thing = self.collection(name)
        return thing, drawable_key(thing), lambda: drawable_collection(thing)

    def drawable_run(
        self, name: str
    ) -> tuple[RunContents, Any, str | None, Callable[[], DrawableGraph]]:
        """The same of a run, with its contents first."""
        run = self.run(name)
        return run._contents, run, drawable_key(run), lambda: drawable_run(run)

    def _found(self, held: Any, kind: str, name: str) -> Any:
        if held is None:
            raise NotFoundError(f"there is no {kind} '{name}'", hint="the catalog lists all")
        return held
