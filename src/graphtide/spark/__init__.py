"""Everything PySpark: Java, sessions, ingest, signatures and deltas.

Only the public DataFrame API is used (no sparkContext, no JVM handles, no RDDs), so the same
code runs locally, on a cluster and over Spark Connect. Importing this package imports nothing
of PySpark; its modules do.
"""
