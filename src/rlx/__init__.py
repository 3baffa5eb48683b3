"""RL Explorer: find, read, run, check, build and publish RL environments for LLM agents."""

__version__ = "0.1.0"
