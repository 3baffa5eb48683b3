"""Keeps the catalog of a store: lists the Hub, reads what changed, publishes a snapshot."""
