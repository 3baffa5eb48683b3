"""Kinds of environments that can be written without a model, each complete and playable."""
