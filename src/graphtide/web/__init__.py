"""A page to look with: collections, runs and live graphs in the browser, in notebooks and in files.

`answers` maps paths to answers and knows nothing of HTTP. A server on the loopback address
(`server`), a widget (`widget`) and a saved file (`saved`) ask it. `shelf` alone speaks with `api`.
"""
