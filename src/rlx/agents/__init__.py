"""Agents: who works on a task."""
