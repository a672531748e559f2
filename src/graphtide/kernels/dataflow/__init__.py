"""The dataflow machine."""
