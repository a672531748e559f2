"""What everything else speaks of: schemas, property types, deltas and errors.

Frozen dataclasses over NumPy and nothing else: no Spark, no files, no parsing.
"""
