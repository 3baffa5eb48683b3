"""From a specification to the same environment in several frameworks: written, checked and proven equal."""
