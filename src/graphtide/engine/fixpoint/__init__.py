"""Fixpoint mode of selecting programs: one value a vertex, repaired."""
