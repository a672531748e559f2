"""The immutable trees that the languages lower to, and what can be told from them alone.

Nothing here touches files or Spark; everything prints, compares and hashes.
"""
