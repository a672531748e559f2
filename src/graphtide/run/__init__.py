"""Execution: what the objects of `api` do, without the words and checks for users.

`live` keeps programs current on a graph in memory, `durable` and `streams` put it on disk and feed
it; `collection` takes programs over the views of a plan, in this process or on `shards`; `catalog`
and `statements` make and find what is stored; `dataflow`, `rules`, `walks` and `queries` bring the
other kinds of programs to a graph.
"""
