"""What is done about it: every verb's steps, each act once and journalled."""
