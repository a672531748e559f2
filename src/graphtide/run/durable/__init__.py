"""Live graphs on disk: what is logged, how a start finds its way back, checkpoints, changes out."""
