"""The frameworks that environments are written for."""
