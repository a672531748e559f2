"""Vertex programs on a graph that several tasks hold together, each some shards of it."""
