"""Rows: which files are tables, and their rows at any place, whatever their size."""
