"""Whether an environment, and this product, keep their promises."""
