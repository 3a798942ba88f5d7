"""Starts a detached program, with its output in a log file."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


def start_detached(argv: Sequence[str], cwd: Path, log: Path, more: Mapping[str, str]) -> int:
    """Start it in a new session, without input, with our environment and `more`; returns its
    process number.
    """
    with log.open("ab") as log_file:
        process = subprocess.Popen(
            list(argv),
            cwd=cwd,
            env={**os.environ, **more},
            stdin=subprocess.DEVNULL,
            stdout=log_file,
            stderr=log_file,
            start_new_session=True,
        )
    return process.pid
