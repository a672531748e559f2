"""Maintainers: programs bound to a graph in memory and kept current through its versions.

    plan of a program --write--> source --generate--> compiled module
    edges --> ResidentGraph (live-prefix adjacency, edge properties)
    both --> maintainer: start, advance, rollback

No Spark, no files but the cache of generated modules.
"""
