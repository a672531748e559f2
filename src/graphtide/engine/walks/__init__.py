"""Walk programs: their loops written out, and the maintainer that keeps them current."""
