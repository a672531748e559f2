"""A workspace: a catalog of what is stored, a door to Spark, and what statements are about.

Whatever works on a catalog is handed this, and not the session that users hold.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakValueDictionary

from graphtide.model.errors import InputError
from graphtide.model.names import given_path
from graphtide.model.progress import Progress
from graphtide.run.turns import StaysHere
from graphtide.store.catalog import Catalog

if TYPE_CHECKING:
    from graphtide.spark.gateway import SparkGateway


class Workspace(StaysHere, ABC):
    """A folder of graphs, collections and runs; Spark is started when it is first needed.

    `current` names the graph that statements without `on` mean. `progress` forces progress lines
    on or off, or is a function that hears of progress. `trust` says which dataflows live graphs may
    run that they store by name.
    """

    _instead = "open the folder in the other process: gt.session(folder)"

    def __init__(
        self,
        folder: str | Path,
        open_gateway: Callable[[], SparkGateway],
        *,
        progress: Progress = None,
        trust: Any = (),
    ) -> None:
        path = given_path(folder).resolve()
        if path.is_file():
            raise InputError(f"{path} is a file", hint="a session has a folder of its own")
        self.catalog = Catalog(path)
        self._open_gateway = open_gateway
        self._gateway: SparkGateway | None = None
        self.progress = progress
        self.trust = trust
        self.current: str | None = None
        self._live: dict[str, Any] = {}
        self._lent: WeakValueDictionary[str, Any] = WeakValueDictionary()

    def reporting_to(self, report: Progress) -> Self:
        """The same workspace for one piece of work, which reports elsewhere.

        Its Spark and the live graphs that are open are the same; `close_opened` lets those go that
        the work has opened.
        """
        made = object.__new__(type(self))
        vars(made).update(vars(self))
        made._open_gateway = lambda: self.gateway
        made._live = dict(self._live)
        made.progress = report
        return made

    def close_opened(self, before: Workspace) -> None:
        """Close live graphs that this workspace has opened since it was copied from another."""
        for name, held in self._live.items():
            if before._live.get(name) is not held:
                held.close()

    @property
    def gateway(self) -> SparkGateway:
        """The door to Spark. Imported now: whoever only looks at what is stored needs no Spark."""
        if self._gateway is None:
            self._gateway = self._open_gateway()
        return self._gateway

    @abstractmethod
    def live(
        self,
        name: str,
        start: Any = None,
        *,
        keep: Any = None,
        time: str | None = None,
        readonly: bool = False,
    ) -> Any:
        """The live graph of that name; whoever has a workspace says how it is opened."""

    def live_at_hand(self, name: str, *, readonly: bool = False) -> Any:
        """The live graph that statements are about, open from the first of them on.

        It is the one that a user holds for writing, if there is one. One that only reads is at the
        last committed state.
        """
        held = self._writable(name)
        if held is None and readonly:
            held = self._live.get(name)
            held = held if held is not None and held.readonly else None
        if held is None:
            held = self._live[name] = self.live(name, readonly=readonly)
        held.refresh()
        return held

    def _writable(self, name: str) -> Any:
        """The live graph of that name that this workspace has open for writing, if any."""
        both = self._lent.get(name), self._live.get(name)
        return next((graph for graph in both if graph is not None and graph.writable), None)

    def close_live(self, *names: str) -> None:
        """Close live graphs that are open here: those named, or all."""
        for name in names or {*self._live, *self._lent}:
            for held in (self._live.pop(name, None), self._lent.pop(name, None)):
                if held is not None:
                    held.close()

    def current_graph(self) -> str:
        """The graph that statements without `on` mean: the one in use, or the only one."""
        if self.current is not None:
            return self.current
        graphs = self.catalog.graphs()
        if len(graphs) == 1:
            return graphs[0]
        raise InputError(
            "the statement does not say which graph it is on",
            hint="write 'on NAME', or 'use graph NAME;' before it"
            if graphs
            else "load a graph first",
        )
