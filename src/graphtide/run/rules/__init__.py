"""Datalog programs on dataflows: relations as collections, strata as loops."""
