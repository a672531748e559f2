"""What exact mode of all other programs works with: rows of histories, the agenda, sums."""
