"""Walk programs as graphs and runs take them: compiled, with results of the whole graph."""
