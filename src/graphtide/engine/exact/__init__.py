"""Exact mode of selecting programs: a history a vertex, which an advance corrects."""
