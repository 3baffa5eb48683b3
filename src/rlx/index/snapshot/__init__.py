"""The catalog as one SQLite file: written once, published whole, read immutable."""
