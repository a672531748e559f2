"""Queries kept current on a graph in memory, all of them together.

`engine.QueryEngine` is the way in. `fixpoint` keeps all entries of a search; within a budget,
`pairs` and `values` keep answers alone, and `choosing` decides which.
"""
