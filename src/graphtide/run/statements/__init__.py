"""Statements of GVDL, carried out on a workspace, and explained without carrying them out."""
