"""Exact mode of all other programs: rows of states and sums, refined."""
