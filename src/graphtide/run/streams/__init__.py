"""Streams into live graphs: each row once, whatever dies in between."""
