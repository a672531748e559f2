"""A graph in memory: the edges that users give, its versions, and the programs that follow."""
