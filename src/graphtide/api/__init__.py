"""What users touch from Python: sessions, graphs, views and collections.

This layer wires the others together and holds no algorithm of its own.
"""
