"""The repository's files: which of them can change the training."""
