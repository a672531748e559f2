"""Datalog programs on dataflows: relations as collections, strata as loops.

`build` makes operators of a plan of rules, `standing` keeps what a program has derived, `queries`
asks for some of it, and `maintainer` lets rules follow a graph.
"""
