"""Fixtures that several folders of tests share."""

import gc
import os
import signal

from herorun.core.environment import admissible

# A worker collects some 12,000 tests. By the usual thresholds a third of that time goes into
# looking for garbage among them.
gc.set_threshold(100_000, 50, 50)

# A test is nobody's session: its launches register with no agent and start no watch of one.
for variable in ("CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID", "HERORUN_SESSION"):
    os.environ.pop(variable, None)

# What the tests' own contracts name is trusted, as in CI; what asks for trust takes this away.
os.environ["HERORUN_TRUST"] = "all"

# What this shell tells trainers would stand in every plan, and another clone would have to be told
# to believe it.
for variable in [name for name in os.environ if admissible(name) and name != "PYTHONPATH"]:
    os.environ.pop(variable)

# A shell's background jobs ignore interruptions, and would hand that down to all that the tests
# start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

pytest_plugins = [
    "services.fixtures",
    "services.github",
    "services.slurm",
    "services.k8s",
    "stories",
]
