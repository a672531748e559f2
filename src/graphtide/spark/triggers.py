"""When a stream of Spark reads, besides as soon as it can and every so many seconds."""

AVAILABLE_NOW = "available now"
"""Read all that there is, and end."""
