"""Whether the variants of an environment run, and play alike: parity, validators, tests and smoke rollouts."""
