"""The kind `hf`: Hugging Face Sandboxes, on the account of whoever's token it is made with."""
