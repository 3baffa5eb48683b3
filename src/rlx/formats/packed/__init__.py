"""Tasks in archives: opened within budgets, and read as if they were folders of the repository."""
