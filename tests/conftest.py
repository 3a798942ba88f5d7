"""Fixtures that several folders of tests share."""

import gc
import os
import re
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from herorun.core.environment import admissible
from memory_folder import in_memory
from merged_cases import MergingPlugin
from work_order import is_longest, servers_of
from worker_messages import without_routine

# A worker collects some 11,000 tests, and next to none of that is garbage: none is looked for
# until all is collected.
gc.disable()

# A test is nobody's session: its launches register with no agent and start no watch of one.
for variable in ("CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID", "HERORUN_SESSION"):
    os.environ.pop(variable, None)

# What the tests' own contracts name is trusted, as in CI; what asks for trust takes this away.
os.environ["HERORUN_TRUST"] = "all"

# The tests' own folders; the three newest runs leave some tens of megabytes each.
if memory := in_memory(room=1 << 30):
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(memory))

# How long one example takes tells of the machine: what must be quick has a test of its own.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")

# What this shell tells trainers would stand in every plan, and another clone would have to be told
# to believe it.
for variable in [name for name in os.environ if admissible(name)]:
    os.environ.pop(variable)

# A shell's background jobs ignore interruptions, and would hand that down to all that the tests
# start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

pytest_plugins = [
    "forked_workers",
    "services.fixtures",
    "services.github",
    "services.slurm",
    "services.k8s",
    "services.k8s_kubelet",
    "stories",
    "screens.notices",
]

LONG = "back_end or thorough"  # what `make test-thorough` asks for
SHORT = "not back_end and not thorough"  # what `make test` asks for
# A test is long by its own file, or by a class or a list of cases from one of these.
_SAYS_LONG = re.compile(rb"back_end|thorough|scheduler_suite|crash\.stages")
_ALL_LONG = re.compile(rb"^pytestmark = \[?pytest\.mark\.(back_end|thorough)\b", re.MULTILINE)


def may_be_long(path: Path) -> bool:
    return _SAYS_LONG.search(path.read_bytes()) is not None


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """To import each file takes seconds of CPU: for the long tests, those alone that may hold one,
    and for the others all but those that hold nothing else.
    """
    if collection_path.suffix != ".py" or not collection_path.name.startswith("test_"):
        return None
    marks = config.getoption("markexpr")
    all_long = _ALL_LONG.search(collection_path.read_bytes()) is not None
    if (marks == LONG and not may_be_long(collection_path)) or (marks == SHORT and all_long):
        return True
    return None


def pytest_configure(config: pytest.Config) -> None:
    """A worker sends six messages a test, a third of what a small test costs. No one reads three
    of them, nor of each case, where neither durations nor an XML report is asked for.
    """
    if config.getoption("durations", None) is not None or config.getoption("xmlpath", None):
        return
    again = config.getoption("lf", False) or config.getoption("failedfirst", False)
    if config.getoption("markexpr") == SHORT and not again:
        config.pluginmanager.register(MergingPlugin(config))
    for plugin in config.pluginmanager.get_plugins():
        if hasattr(plugin, "sendevent"):
            plugin.sendevent = without_routine(plugin.sendevent)


def pytest_collection_finish() -> None:
    """What was collected stays to the end: no search for garbage goes through it."""
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The other run reads all files, and sees that none of the long tests is left out."""
    marked_paths = {
        item.path for item in items if any(map(item.get_closest_marker, LONG.split(" or ")))
    }
    if missed_paths := sorted(path for path in marked_paths if not may_be_long(path)):
        raise pytest.UsageError(f"no run of the long tests would find those of {missed_paths}")
    items.sort(key=lambda item: (servers_of(item), is_longest(item)), reverse=True)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """The next test is another process, which was not called with -C."""
    if text_width := sys.modules.get("herorun.output.text_width"):
        text_width.be_in(".")


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """A Ray head takes a thirtieth of a core as long as it is there: it ends with the last of its
    tests that this worker has in a row.
    """
    if "ray_head" in servers_of(item) and not (nextitem and "ray_head" in servers_of(nextitem)):
        request: Any = getattr(item, "_request", None)
        if definition := request._fixture_defs.get("ray_head"):  # none where it was left out
            definition.finish(request)
