"""How kernels are compiled, kept on disk, shipped in wheels, and told of."""
