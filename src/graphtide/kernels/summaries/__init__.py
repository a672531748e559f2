"""Summaries of results, kept from their differences."""
