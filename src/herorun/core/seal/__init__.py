"""The content of a seal. Pure."""
