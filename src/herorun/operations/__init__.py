"""What each command does, one folder per capability; few of them import each other."""
