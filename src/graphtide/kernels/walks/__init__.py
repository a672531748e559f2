"""Kernels of walk programs: an index of joined pairs, what a batch changed, and what walks send."""
