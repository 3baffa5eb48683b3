"""Publishing: what a repository supports, how it is used, its tags, and the way to the Hub and back."""
