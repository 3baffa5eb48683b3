"""Where agents and commands run. Each sandbox is one adapter."""
