"""GVDL, the graph view definition language."""
