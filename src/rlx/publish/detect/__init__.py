"""What frameworks the files of a repository support, against what its tags claim."""
