"""Fixtures that several folders of tests share."""

import os

# A test is nobody's session: its launches register with no agent and start no watch of one.
for variable in ("CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID", "HERORUN_SESSION"):
    os.environ.pop(variable, None)

pytest_plugins = ["services.fixtures", "services.github", "services.slurm", "stories"]
