"""Runs: one program over all versions of a plan, its results kept as differences.

`steps` is what is visited, `prepare` the program, `runner` the walk along the plan, `reading` the
way from differences back to tables, and `run` what users hold in the end.
"""
