"""Tasks as folders of any make: a prompt beside what checks or solves it, without a `task.toml`."""
