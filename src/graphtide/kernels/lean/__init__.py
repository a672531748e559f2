"""Runs from scratch over a lean graph, by several threads."""
