"""Models that agents speak with: where they are had, what they cost, and how they are reached."""
