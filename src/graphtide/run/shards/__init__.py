"""Runs on a graph that no worker has whole: tasks of Spark hold its shards."""
