"""The human seat: a person in a task's sandbox, at a terminal, in place of an agent."""
