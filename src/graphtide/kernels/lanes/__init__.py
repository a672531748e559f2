"""Up to eight versions in one pass over the edges, and one version alone."""
