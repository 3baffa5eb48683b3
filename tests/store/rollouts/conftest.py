"""Rollouts of one store, in each kind of database, under a clock that a test turns."""

from tests.databases import database_url, memory_path, new_database, postgres

__all__ = ["database_url", "memory_path", "new_database", "postgres"]
