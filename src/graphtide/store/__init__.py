"""On-disk formats: the catalog, graphs, and the commits that make a store complete or absent.

Files and Arrow only: what Spark writes into a store, it writes into a folder given to it.
"""
