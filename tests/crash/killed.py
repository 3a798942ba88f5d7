"""A herorun that kills itself: `python -m crash.killed <call> <before|after> <words of the
command>...`.
"""

import sys

import pytest

from crash.faults import Fault, kill_self
from herorun import cli

if __name__ == "__main__":
    at, moment, *argv = sys.argv[1:]
    with pytest.MonkeyPatch.context() as patch:
        Fault(int(at), moment == "after", kill_self).install(patch)
        sys.exit(cli.run(argv))
