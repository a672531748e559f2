"""Compiled loops over arrays. The only package that imports Numba.

Every kernel is a pure function of arrays and scalars: what it writes is passed in, and it
allocates nothing in proportion to the graph. The public functions that validate and prepare
are in `engine`.
"""
