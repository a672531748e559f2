"""Queries by the histories of paper 001: differences by iteration, kept, dropped and pulled."""
