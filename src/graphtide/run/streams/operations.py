"""What a row of a stream does: it brings an edge, changes one, or takes one away.

A stream says so in a column of words, or it is a change feed of Delta and has its words in
`_change_type`. Without either every row brings an edge. An edge that is changed is told of in a
change feed by two rows, as it was and as it is: the first takes an edge away, the second brings one
in its place.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

INSERT, UPDATE, DELETE, REPLACE, UNKNOWN = range(5)
"""`REPLACE` brings an edge in place of one that an earlier row takes away."""

CHANGE_TYPE = "_change_type"
"""The column that makes a stream a change feed of Delta."""

COMMIT_VERSION = "_commit_version"
FEED_COLUMNS = (CHANGE_TYPE, COMMIT_VERSION, "_commit_timestamp")
"""What a change feed has besides the columns of its table."""

WORDS = {
    "insert": INSERT,
    "i": INSERT,
    "create": INSERT,
    "c": INSERT,
    "r": INSERT,
    "update": UPDATE,
    "u": UPDATE,
    "delete": DELETE,
    "d": DELETE,
    "update_preimage": DELETE,
    "update_postimage": REPLACE,
}
"""Words, in any case: spelled out, by their letter, Debezium's (c, r, u, d), Delta's."""

Codes = NDArray[np.int8]


def operation_codes(column: pa.ChunkedArray) -> Codes:
    """What each word asks for; UNKNOWN where there is none, or one that nobody knows."""
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return np.full(len(column), UNKNOWN, np.int8)
    encoded = pc.dictionary_encode(column.combine_chunks(), null_encoding="encode")
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    known = [
        UNKNOWN if word is None else WORDS.get(word.strip().lower(), UNKNOWN)
        for word in encoded.dictionary.to_pylist()
    ]
    codes: Codes = np.array(known, np.int8)[encoded.indices.to_numpy(zero_copy_only=False)]
    return codes


def feed_order(table: pa.Table, codes: Codes) -> NDArray[np.int64]:
    """The rows of a change feed in the order in which they happened.

    Spark hands out the commits of a batch in any order. Within a commit, what goes is before what
    comes.
    """
    commits = np.zeros(table.num_rows, np.int64)
    if COMMIT_VERSION in table.column_names:
        commits = table.column(COMMIT_VERSION).to_numpy()
    order: NDArray[np.int64] = np.lexsort((codes != DELETE, commits))
    return order
