"""Live graphs on disk: `writer` logs every advance before it returns, and makes checkpoints.

`recover` starts a graph from the last checkpoint and the log behind it; `records` says what a log
holds, and `steps` applies a record to a graph in memory.
"""
