"""Databases for the queue."""

from tests.databases import database_url, memory_path, new_database, postgres

__all__ = ["database_url", "memory_path", "new_database", "postgres"]
