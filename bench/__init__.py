"""Benchmarks of the project: `python -m bench views`. Not shipped with the package."""
