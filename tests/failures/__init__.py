"""Failures that a process survives, and failures that it does not: memory, system calls, kills."""
