"""Pictures of runs, graphs and collections: PNG, SVG or PDF files, and inline in notebooks.

`draw` chooses what to draw, one module draws each kind, `picture` is what users hold in the end.
Pictures need no display and leave matplotlib's global state alone: every figure is made and
rendered by itself. Other modules import this package only when they draw, since matplotlib takes a
second.
"""
