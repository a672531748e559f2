"""What exact mode of selecting programs works with: histories and visits."""
