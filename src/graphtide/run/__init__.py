"""Execution: `live` keeps programs current on a graph in memory, `collection` takes them over the
views of a plan, and `dataflow` builds, feeds and reads dataflows.
"""
