"""Random programs on random journeys of a graph, against the oracle that runs the class itself.

`sentences` writes expressions, `free` whole programs of anything the language has, `families`
programs that get each of the engine's ways; `journeys` lets a graph change, `checking` compares
after every step and `shrinking` makes a failure small.
`python -m tests.equivalence.random_programs` goes on for as long as it is told to.
"""
