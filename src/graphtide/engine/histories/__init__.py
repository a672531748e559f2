"""Queries kept by the histories of paper 001, under its own settings."""
