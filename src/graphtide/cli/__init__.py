"""The command line: `graphtide load`, `run`, `shell`, `show`, `explain` and `delete`.

Each command is a dataclass of what it can be told (`options`) and a function that carries it out
with the Python API, so that the two use the same words and have the same defaults. What comes out
is printed by `printing`, for people or as JSON; how a command ends is decided in `outcome`.
Nothing here imports the API before a command needs it: `graphtide --help` is instant.
"""
