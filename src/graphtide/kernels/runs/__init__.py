"""What runs over collections work with: stretches, best ways, the clock."""
