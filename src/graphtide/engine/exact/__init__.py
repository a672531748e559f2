"""Exact mode of selecting programs: a history a vertex, corrected."""
