"""What runs an agent on a task, and what is asked of it."""
