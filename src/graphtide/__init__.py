"""Graphtide: one graph computation over many versions of a graph."""

from graphtide.version import __version__

__all__ = ["__version__"]
