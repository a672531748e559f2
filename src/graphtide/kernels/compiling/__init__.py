"""How kernels are compiled, kept on disk and shipped in wheels, and how users hear of it."""
