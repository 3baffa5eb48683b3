"""Harbor tasks, run by OpenEnv with Harbor. Loaded by the worker process alone."""
