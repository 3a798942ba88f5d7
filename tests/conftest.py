"""Fixtures that several folders of tests share."""

pytest_plugins = ["services.fixtures", "services.slurm", "stories"]
