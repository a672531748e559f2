"""Work on a catalog: what is stored there is made, listed and found again by name."""
