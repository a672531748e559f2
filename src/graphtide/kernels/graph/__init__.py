"""The graph in memory: slabs, flips, appended edges, ids, batches of rows."""
