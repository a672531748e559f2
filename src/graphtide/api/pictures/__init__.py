"""Pictures of runs and collections: PNG or SVG files, and inline in notebooks.

`draw` chooses what to draw, one module draws each kind, `picture` is what users hold in the end.
Nothing needs a display, and nothing of matplotlib's global state is touched: figures are made and
rendered by themselves. Imported only when something is drawn, since matplotlib takes a second.
"""
