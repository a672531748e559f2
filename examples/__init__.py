"""Examples: programs to read and to run."""
