"""What clients write to a local hub: commits, branches, pull requests, discussions and repositories."""
