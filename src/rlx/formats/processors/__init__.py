"""Processors: what the rows of a table mean, a framework each."""
