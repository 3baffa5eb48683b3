"""Agents that work inside of sandboxes: layers that are prepared once, so that no run installs anything."""
