"""One repository at one revision, read with one viewer's token."""
