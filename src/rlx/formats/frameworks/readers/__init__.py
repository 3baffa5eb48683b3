"""What is read from each framework's package, a module each."""
