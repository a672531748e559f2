"""The folders of a stored graph beside its two tables: what appends write there, by table."""

DELETED = "deleted"
"""The folder of the edges that appends delete: `_edge`, and `_append`, the number of the append."""

CHANGED = {"vertices": "changed-vertices", "edges": "changed-edges"}
"""The folders of the rows that appends put in place of others, by table."""

KEYS = {"vertices": "_vertex", "edges": "_edge"}
"""The column that holds the number of a row."""
