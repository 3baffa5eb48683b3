"""Rollouts of one store, in each kind of database, under a clock that a test turns."""

from tests.databases import database_url, new_database, postgres

__all__ = ["database_url", "new_database", "postgres"]
