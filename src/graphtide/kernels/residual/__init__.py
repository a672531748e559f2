"""Kernels of programs that add up and settle: their records."""
