"""Sources of rows, one for each way a file holds them."""
