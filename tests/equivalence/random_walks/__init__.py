"""Walk classes that nobody wrote, as texts, run by users' doors and beside Python itself.

A text goes through the reader, unrolling, the plan and the engine; the oracle calls the very same
functions on lists of edges (`tests/oracle/walk_classes`). `writing` writes texts, `journeys` makes
graphs and what happens to them, `checking` compares all that a user can see after every step.
"""
