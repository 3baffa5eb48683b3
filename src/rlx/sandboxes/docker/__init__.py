"""The kind `docker`: Harbor's own environment, where an engine answers."""
