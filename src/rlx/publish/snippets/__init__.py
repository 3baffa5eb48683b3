"""Commands that use an environment: run it, look at what came of it, read the result."""
