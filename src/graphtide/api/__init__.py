"""What users touch from Python: sessions, graphs, views and collections.

Its objects check what users give them and hand it to `graphtide.run`; they hold no algorithm.
"""
