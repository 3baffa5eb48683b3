"""Databases for the queue."""

from tests.databases import database_url, new_database, postgres

__all__ = ["database_url", "new_database", "postgres"]
