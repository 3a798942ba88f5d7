"""The rows of a run as series and charts."""
