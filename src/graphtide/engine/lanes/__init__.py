"""Runs from scratch of several versions in one pass, and of one version alone."""
