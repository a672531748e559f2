"""How far a stream has come in a live graph. The log has it with every batch, so the two agree.

`foreachBatch` of Spark is called at least once for every batch. A batch has a number, from 0
without gaps, and belongs to a query, which is known by an id that its checkpoint keeps. So a batch
that was applied is known by its number; and a checkpoint that is another one, or has run ahead of
the graph, is noticed before a row is applied.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from graphtide.model.errors import StoreError
from graphtide.store.seal import facts_of


@dataclass(frozen=True)
class Batch:
    """A batch of a stream; `load` gets its rows, and is called where the batch is new.

    One of a file sink may hold several, from the `first` on; `files` is how many files have been
    listed by its end.
    """

    query: str
    number: int
    load: Callable[[], pa.Table]
    first: int | None = None
    files: int = 0


@dataclass(frozen=True)
class Position:
    """The last batch of a stream, and how many of its parts were applied; None if all were.

    `rows`, `late` and `aside` count what has come since the beginning: rows that were applied,
    and rows that were set aside, late ones apart. `latest` is the latest time seen, where the
    stream has a bound of its own. `files` is how many files of a file sink have been followed.
    """

    query: str
    batch: int = -1
    part: int | None = None
    rows: int = 0
    late: int = 0
    aside: int = 0
    latest: float | int | None = None
    files: int = 0

    def to_json(self) -> dict[str, Any]:
        """As records and manifests hold it."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Position:
        """The position that a manifest holds."""
        return facts_of(cls, data)


def check_query(stream: str, position: Position | None, query: str) -> None:
    """Refuse another query under the name of a stream that the graph knows."""
    if position is not None and position.query != query:
        raise StoreError(
            f"the stream '{stream}' of the graph is another one: it has followed "
            f"{position.batch + 1:,} batches of the query {position.query}, and this is {query}",
            hint="give the checkpoint folder that the stream had, or follow this one under "
            "another name: every row of it is then new to the graph",
        )


def is_new(stream: str, position: Position | None, given: Batch) -> bool:
    """Whether a batch is to be applied, or the rest of it; StoreError where some are missing."""
    batch, first = given.number, given.number if given.first is None else given.first
    last = -1 if position is None else position.batch
    begun = position is not None and position.part is not None
    if batch < last or (batch == last and not begun):
        return False
    if batch == last or (first <= last + 1 and not begun):
        return True
    came = "none" if last < 0 else f"those up to {last - begun:,}"
    raise StoreError(
        f"the batch {batch:,} of the stream '{stream}' does not follow: of its batches, the graph "
        f"has {came}",
        hint="the checkpoint has run ahead of the graph, which may have been put back from a copy: "
        "put the checkpoint back as well, or follow the stream under another name, with a new "
        "checkpoint",
    )
