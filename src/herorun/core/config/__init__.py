"""The run's settings: reads config files, and classifies the differences between two of them."""
