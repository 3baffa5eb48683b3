"""The `local` sandbox: bubblewrap over the host's own system, for root and for ordinary users."""
