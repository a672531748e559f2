"""A workspace: a catalog of what is stored, a door to Spark, and what statements are about.

Whatever works on a catalog is handed this, and not the session that users hold.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from graphtide.model.errors import InputError
from graphtide.model.paths import given_path
from graphtide.run.staying import StaysHere
from graphtide.store.catalog import Catalog

if TYPE_CHECKING:
    from graphtide.spark.gateway import SparkGateway


class Workspace(StaysHere):
    """A folder of graphs, collections and runs; Spark is started when it is first needed.

    `current` names the graph that statements without `on` mean. `progress` forces progress lines
    on or off.
    """

    _instead = "open the folder in the other process: gt.session(folder)"

    def __init__(
        self,
        folder: str | Path,
        open_gateway: Callable[[], SparkGateway],
        *,
        progress: bool | None = None,
    ) -> None:
        self.catalog = Catalog(given_path(folder).resolve())
        self._open_gateway = open_gateway
        self._gateway: SparkGateway | None = None
        self.progress = progress
        self.current: str | None = None

    @property
    def gateway(self) -> SparkGateway:
        """The door to Spark. Imported now: whoever only looks at what is stored needs no Spark."""
        if self._gateway is None:
            self._gateway = self._open_gateway()
        return self._gateway

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
