"""Queries on a graph in memory: what can be asked, kept current, answered and verified."""
