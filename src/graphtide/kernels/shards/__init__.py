"""What a task does with the edges of its shards before it runs anything."""
