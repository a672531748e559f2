"""Fixpoint mode of programs that add up and settle: a value and a residual a vertex."""
