"""A graph in memory: the edges that users give, its versions, and the programs that follow.

`versions.Versions` is the way in: it reads a batch (`batches`), brings it into the graph
(`entering`), and lets every program follow (`maintained`).
"""
