"""Dataflows: what `graphtide.dataflow` gives to users, a module for each kind of thing."""
