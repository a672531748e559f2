"""Fixpoint mode of selecting programs: one value a vertex, which an advance repairs.

`maintainer.FixpointMaintainer` is the way in; its kernels are the templates `trimming` and
`fixpoint`.
"""
