"""Queries on a graph in memory: their entries by vertex, and what a batch does to all of them."""
