"""What a seal says, and of what. Pure."""
