"""What each command does, by capability: one room a folder, and doors between few of them."""
