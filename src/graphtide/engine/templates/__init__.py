"""Kernels written once, against functions of a program that are put in place of a sample.

A template is a module like any other: its *program section*, between the two marked lines, holds
a sample (breadth-first search), so that it can be read, checked and tested as it stands.
`engine.generate` writes the module of a program: the program's own section, then the kernels.
"""
