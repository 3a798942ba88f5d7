"""What only Iris knows: its client and answers, states, options, and submission."""
