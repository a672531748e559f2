"""The languages of Graphtide: text in, trees of `graphtide.plan` out.

Each language is a package of its own: grammar, parse, resolve, lower, unparse. None of them
touches files or Spark; what they must know of the data they ask for through a protocol.
"""
