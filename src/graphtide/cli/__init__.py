"""The command line: `graphtide load`, `append`, `refresh`, `run`, `show` and others.

Each command is a dataclass of what it can be told (`options`) and a function that carries it out
with the Python API, so that the two use the same words and have the same defaults. `printing`
prints what comes out, for people or as JSON; `outcome` decides how a command ends. Nothing here
imports the API before a command needs it: `graphtide --help` is instant.
"""
