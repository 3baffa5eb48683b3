"""The `rlx` command: one module per noun, each a thin layer of options and output over the services."""
