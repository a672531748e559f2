"""The users' ids of vertices, and the numbers that stand for them inside.

Whole numbers from a column stand in ascending order, so that vertices 0 to n - 1 have themselves as
numbers and no table is needed to find them; all other ids stand in the order in which they first
appear. Vertices that come later stand behind. `VertexIds` grows at the end and forgets from there.

`number_vertices` gives the edges that a graph is made of their numbers; `vertex_hint` finds ids
that a user may have meant by one that is not there. What can be an id at all is said in `ids`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphtide.engine.growing import GrowingArray
from graphtide.kernels.graph.hash_tables import (
    FREE,
    enter_distinct,
    enter_ids,
    find_ids,
    remove_ids,
)
from graphtide.model.columns import named_rows
from graphtide.model.errors import InputError, LimitError
from graphtide.model.names import distance
from graphtide.run.live.ids import (
    IdKinds,
    Ids,
    are_texts,
    check_looks,
    id_hint,
    is_id,
    looks_of,
    plain_id,
    read_ids,
    text_of,
)

_FEW = 10_000
_MOST_HINTS = 3
_LENGTHS = 3


def vertex_hint(ids: pa.Array | pa.ChunkedArray, given: Any) -> str:
    """A hint for an unknown id: similar ids, or else some examples."""
    if not len(ids):
        return "the graph has no vertices"
    texts, whole = pa.types.is_string(ids.type), pa.types.is_integer(ids.type)
    if texts and isinstance(given, str):
        near = _near(ids, given)
        return f"did you mean {_alternatives(near)}?" if near else f"ids are such as {_first(ids)}"
    if texts:
        return f"ids are texts here, such as {_first(ids)}"
    if not whole:
        return f"ids are such as {_first(ids)}"
    ends = pc.min_max(ids).as_py()
    shown = f"whole numbers here, from {ends['min']} to {ends['max']}"
    return f"ids are {shown}" + (", without quotes" if isinstance(given, str) else "")


def _near(ids: pa.Array | pa.ChunkedArray, given: str) -> list[str]:
    """The ids most similar to a text; in large graphs among those with its first letter."""
    if len(ids) > _FEW:
        lower, length = pc.utf8_lower(ids), pc.utf8_length(ids)
        same = ids.filter(pc.equal(lower, given.lower()))
        if len(same):
            return list(same.slice(0, _MOST_HINTS).to_pylist())
        alike = pc.and_kleene(
            pc.starts_with(lower, given[:1].lower()),
            pc.less_equal(pc.abs(pc.subtract(length, len(given))), _LENGTHS),
        )
        ids = ids.filter(alike).slice(0, _FEW)
    scored = ((distance(given, item), item) for item in ids.to_pylist())
    near = sorted((score, at, item) for at, (score, item) in enumerate(scored) if score is not None)
    return [item for score, _, item in near[:_MOST_HINTS] if score == near[0][0]]


def _first(ids: pa.Array | pa.ChunkedArray) -> str:
    return ", ".join(repr(item) for item in ids.slice(0, _MOST_HINTS).to_pylist())


def _alternatives(near: list[str]) -> str:
    return " or ".join(repr(item) for item in near)


Int32 = NDArray[np.int32]
_NO_TABLE = np.empty(0, np.int64)
_MOST_NAMED = 5


class VertexIds:
    """All ids of a graph by vertex number; grows at the end and forgets from there.

    Whole numbers are kept as such, with a table of hashes unless they are their own numbers.
    Anything else is a list, with a dict beside it.
    """

    def __init__(self, ids: Ids) -> None:
        self._whole: GrowingArray | None = None
        self._listed: list[Any] = []
        self._plain = False
        self._table: NDArray[np.int64] | None = None
        self._found: dict[Hashable, int] | None = None
        self._looks: IdKinds | None = None
        self.are_stored = False
        """Whether they are kept on disk, which takes whole numbers below 2**63, or else texts."""
        if ids.dtype == object:
            self._listed = ids.tolist()
            self._looks = looks_of(self._listed)
            check_looks(self._looks, lambda: list(self._listed))
        else:
            self._whole = GrowingArray(ids)
            self._plain = bool((ids == np.arange(len(ids))).all())

    def copy(self) -> VertexIds:
        """The ids of this moment, which stay so. O(ids)."""
        made = VertexIds(np.empty(0, np.int64))
        if self._whole is None:
            made._whole, made._listed = None, list(self._listed)
        else:
            made._whole, made._plain = GrowingArray(self._whole.view.copy()), self._plain
        return made

    def __len__(self) -> int:
        return len(self._listed) if self._whole is None else self._whole.length

    def __getitem__(self, number: int) -> Any:
        if self._whole is None:
            return plain_id(self._listed[number])
        return int(self._whole.view[number])

    def numbers(self, ids: Ids) -> Int32:
        """The number of each id, -1 where there is none. O(ids) once a table has been made."""
        numbers = np.empty(len(ids), np.int32)
        if self._whole is None:
            get = self._places().get
            numbers[:] = [get(item, -1) for item in ids.tolist()]
        elif ids.dtype == object:
            numbers.fill(-1)
            at = [place for place, item in enumerate(ids) if _is_whole(item)]
            numbers[at] = self.numbers(np.array([ids[place] for place in at], np.int64))
        else:
            find_ids(self._hashes(), len(self), np.ascontiguousarray(ids), numbers)
        return numbers

    @property
    def are_whole(self) -> bool:
        return self._whole is not None

    @property
    def table(self) -> NDArray[np.int64] | None:
        """What leads kernels from whole numbers to vertices, empty where these are the same; None
        where ids are not whole numbers.
        """
        return None if self._whole is None else self._hashes()

    def taken(self, numbers: NDArray[Any]) -> pa.Array:
        """The ids of some vertices as an Arrow array; texts where ids have no type in common.

        The type is that of all ids, so that tables of one graph fit together: those of a few
        vertices, or of none, have it as well.
        """
        if self._whole is not None:
            return pa.array(self._whole.view.take(numbers))
        listed, looks = [self[number] for number in numbers.tolist()], self._kinds()
        if looks.are_told_as_texts or not self._listed:
            return arrow_ids(listed, looks)
        return arrow_ids([self[0], *listed], looks)[1:]  # The first one says of which type.

    def as_column(self, given: Iterable[Any]) -> pa.Array:
        """Ids as an Arrow column, known or not; `taken` does it for vertices."""
        listed = [plain_id(item) for item in id_column(list(given), "ids")]
        if self._whole is not None and all(map(_is_whole, listed)):
            return pa.array(listed, pa.int64())
        return arrow_ids(listed, self._kinds() | looks_of(listed))

    def hint(self, given: Any) -> str:
        looks = self._kinds()
        if not looks.are_told_as_texts or looks.types <= {str}:
            return vertex_hint(self.taken(np.arange(len(self))), given)
        shown = next((item for item in self._listed if text_of(item) == given), None)
        if shown is not None:
            return f"give {shown!r} itself, which tables show as a text"
        return f"ids are such as {', '.join(map(repr, self._listed[:_MOST_NAMED]))}"

    def check_new(self, ids: Sequence[Any]) -> None:
        """Refuse ids that cannot be told apart from those that are there, or from one another.

        O(new ids) but for a graph that has texts and other ids, which is looked through.
        """
        if self.are_stored:
            self._check_stored(ids)
        known = self._listed if self._whole is None else self._whole.view
        check_looks(self._kinds() | looks_of(ids), lambda: [*known, *ids])

    def _kinds(self) -> IdKinds:
        if self._looks is None:
            self._looks = looks_of(self._listed if self._whole is None else self._whole.view)
        return self._looks

    def _check_stored(self, ids: Sequence[Any]) -> None:
        whole = all(map(_is_whole, ids))
        texts = not whole and all(isinstance(item, str) for item in ids)
        if (whole or texts) and (not len(self) or whole == self.are_whole):
            return
        have = "whole numbers" if len(self) and self.are_whole else "texts"
        have = have if len(self) else "whole numbers below 2**63, or texts"
        raise InputError(
            f"the ids of this graph are {have}",
            where=f"new ids such as {plain_id(ids[0])!r}",
            hint="a live graph has ids of one kind, which it keeps on disk: give all as texts",
        )

    def append(self, ids: Sequence[Any]) -> None:
        """More vertices, whose ids are not there yet. O(new ids) on average."""
        first = len(self)
        if self._looks is not None:
            self._looks |= looks_of(ids)
        if not first:
            self._whole, self._found = GrowingArray(np.empty(0, np.int64)), None
            self._plain, self._table = True, None
        if self._whole is not None and all(map(_is_whole, ids)):
            self._whole.extend(np.array(ids, np.int64))
            self._plain = self._plain and list(ids) == list(range(first, first + len(ids)))
            if self._table is not None and 4 * len(self) <= len(self._table):
                enter_ids(self._table, self._whole.view, first)
            else:
                self._table = None
            return
        if self._whole is not None:
            self._listed, self._whole = self._whole.view.tolist(), None
        self._listed.extend(ids)
        if self._found is not None:
            self._found.update(zip(ids, range(first, first + len(ids)), strict=True))

    def truncate(self, count: int) -> None:
        if count == len(self):
            return
        if self._looks is not None and not self._looks.are_plain:
            self._looks = None
        if self._whole is not None:
            if self._table is not None:
                remove_ids(self._table, self._whole.view, count)
            self._whole.resize(count)
            return
        if self._found is not None:
            for item in self._listed[count:]:
                self._found.pop(item, None)  # Memory may have ended before it came in.
        del self._listed[count:]

    def _places(self) -> dict[Hashable, int]:
        if self._found is None:
            self._found = dict(zip(self._listed, range(len(self._listed)), strict=True))
        return self._found

    def _hashes(self) -> NDArray[np.int64]:
        """The table of ids that are not their own numbers; nothing where all are."""
        if self._plain:
            return _NO_TABLE
        if self._table is None:
            assert self._whole is not None
            size = 4 << max(4, len(self).bit_length())
            table = np.full(size, FREE, np.int64)
            enter_ids(table, self._whole.view, 0)
            self._table = table
        return self._table


def distinct_ids(*columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """The ids that some columns have, each once, in no order."""
    table, ids = np.full(1 << 12, FREE, np.int64), np.empty(1 << 10, np.int64)
    count = 0
    for column in columns:
        done = 0
        while True:
            done, count = enter_distinct(table, column, done, ids, count)
            if done == len(column):
                break
            ids = np.resize(ids, 4 * len(ids))
            table = np.full(4 * len(table), FREE, np.int64)
            enter_ids(table, ids[:count], 0)
    return ids[:count]


def _is_whole(item: Any) -> bool:
    return type(item) is int and -(2**63) <= item < 2**63


def arrow_ids(ids: list[Any], looks: IdKinds) -> pa.Array:
    """Some of the ids of a graph as an Arrow array; as texts where Arrow has no type for them."""
    if looks.are_told_as_texts:
        return pa.array(ids if looks.are_plain else list(map(text_of, ids)), pa.string())
    if looks.large and looks.types == {int}:
        return pa.array(ids, pa.uint64())
    try:
        return pa.array(ids, pa.float64() if float in looks.types else None)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        return pa.array([str(item) for item in ids])


def id_column(values: Any, what: str) -> Ids:
    """A column of ids from an array, a list, or a column of a frame; refuses missing ones."""
    ids = read_ids(values, what)
    if ids.dtype != object or are_texts(ids):
        return ids
    bad = [at for at, item in enumerate(ids) if not is_id(item)]
    if bad:
        raise InputError(
            f"{what} has values that cannot be ids",
            where=named_rows(bad, lambda at: repr(ids[at])),
            hint=id_hint([ids[at] for at in bad]),
        )
    return ids


_MOST_VERTICES = 2**31 - 1


def number_vertices(src: Ids, dst: Ids, vertices: Any) -> tuple[VertexIds, Int32, Int32]:
    """The ids of a graph, and both ends of its edges by number.

    `vertices` is how many there are (then ids are 0, 1, ...), all ids, or None: the ends of the
    edges are all there are.
    """
    if vertices is not None:
        ids = VertexIds(_listed_ids(vertices))
        return ids, *_ends_among(ids, src, dst)
    if src.dtype == object or dst.dtype == object:
        ids = VertexIds(_ids_in_order(src, dst))
        _check_count(len(ids))
        return ids, ids.numbers(src), ids.numbers(dst)
    ids = VertexIds(_whole_ids(src, dst))
    _check_count(len(ids))
    return ids, ids.numbers(src), ids.numbers(dst)


def _listed_ids(vertices: Any) -> Ids:
    if isinstance(vertices, int) and not isinstance(vertices, bool):
        if vertices < 0:
            raise InputError(f"there cannot be {vertices} vertices")
        _check_count(vertices)
        return np.arange(vertices, dtype=np.int64)
    ids = id_column(vertices, "`vertices`").copy()
    _check_count(len(ids))
    first: dict[Any, int] = {}
    twice = [at for at, item in enumerate(ids.tolist()) if first.setdefault(item, at) != at]
    if twice:
        raise InputError(
            "`vertices` lists an id twice",
            where=named_rows(twice, lambda at: repr(plain_id(ids[at]))),
            hint="list every vertex once",
        )
    return ids


def _ends_among(ids: VertexIds, src: Ids, dst: Ids) -> tuple[Int32, Int32]:
    ends = ids.numbers(src), ids.numbers(dst)
    unknown = np.flatnonzero((ends[0] < 0) | (ends[1] < 0))
    if len(unknown):
        raise InputError(
            f"{len(unknown):,} edges have an end that is not among the vertices",
            where=named_rows(
                unknown.tolist(), lambda at: f"({plain_id(src[at])!r}, {plain_id(dst[at])!r})"
            ),
            hint="add the vertex to `vertices`, or leave `vertices` out",
        )
    return ends


def _whole_ids(src: NDArray[np.int64], dst: NDArray[np.int64]) -> NDArray[np.int64]:
    """Ascending; by a mask where ids are small, by a table of hashes otherwise."""
    if not len(src):
        return np.empty(0, np.int64)
    low = min(int(src.min()), int(dst.min()))
    high = max(int(src.max()), int(dst.max()))
    if low < 0 or high > 8 * len(src) + 1024:
        return np.sort(distinct_ids(src, dst))
    seen = np.zeros(high + 1, np.bool_)
    seen[src] = True
    seen[dst] = True
    return np.flatnonzero(seen)


def _ids_in_order(src: Ids, dst: Ids) -> Ids:
    both: Iterable[Any] = (
        end for pair in zip(src.tolist(), dst.tolist(), strict=True) for end in pair
    )
    ids = list(dict.fromkeys(both))
    if all(type(item) is int for item in ids):
        ids.sort()
    return np.fromiter(ids, object, len(ids))


def _check_count(count: int) -> None:
    if count > _MOST_VERTICES:
        raise LimitError(f"{count:,} vertices are more than one graph in memory can hold")
