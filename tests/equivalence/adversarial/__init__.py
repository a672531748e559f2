"""Programs that a user might write and that engines get wrong: a collection that only grows.

Each class says what it is after. They are read as text too, by the oracle that runs the class
itself, so that every class stands alone: nothing outside of it but `gt`, `inf` and `math`.
"""
