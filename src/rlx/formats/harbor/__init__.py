"""Harbor task folders: found by where `task.toml` is, read tolerantly, told as a page."""
