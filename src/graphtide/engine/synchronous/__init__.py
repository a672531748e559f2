"""Exact mode of all other programs: every vertex keeps a history of states and sums.

`maintainer.SynchronousMaintainer` is the way in: `runs` runs from scratch, and `refining` corrects
histories by what a batch changed.
"""
