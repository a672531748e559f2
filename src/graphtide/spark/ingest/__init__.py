"""Ingest: tables of any kind in, a numbered and typed property graph out.

    source --stage--> Parquet parts in input order --infer--> types
           --> vertices: numbered, first of its id
           --> edges: endpoints replaced by numbers
           --> bad rows: refused, or kept beside the graph

Every kind of source is first *staged*: its columns as they are, with the file and row each came
from, in Parquet parts named by the position of their first row. From then on there is one path.
"""
