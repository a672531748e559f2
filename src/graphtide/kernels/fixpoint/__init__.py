"""What fixpoint mode works with: records, levels, plain components."""
