"""Runs: one program over all versions of a plan, its results kept as differences.

`start.PreparedRun` is the way in: it holds `steps`, which are to be visited, and `prepare`, the
program. `runner` walks along the plan, and `contents` reads tables from the differences it leaves.
"""
