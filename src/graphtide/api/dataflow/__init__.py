"""Dataflows as users write them."""
