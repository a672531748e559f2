"""Views of a graph in memory: which edges satisfy predicates, told by NumPy and Arrow alone."""
