"""Queries kept current on a graph in memory, all of them together."""
