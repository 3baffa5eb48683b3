"""Twins of pages: the same data as Markdown for people and models, and as JSON for scripts."""
