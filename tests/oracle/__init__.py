"""Naive plain-Python twins. They share no code with what they check, only the plan's trees."""
