"""Fixtures that several folders of tests share."""

pytest_plugins = ["services.fixtures", "services.github", "services.slurm", "stories"]
