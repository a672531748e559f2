"""Changes to stored graphs: rows as users give them, found in the graph and written beside it."""
