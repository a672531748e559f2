"""Dataflows as `graphtide.dataflow` gives them to users: a module for each kind of object.

A `flow.Dataflow` grows a plan as users call operators (`operators`, `joins`, `reductions`) on
collections; `engine.dataflow` installs the plan when its `times.Clock` first advances.
"""
