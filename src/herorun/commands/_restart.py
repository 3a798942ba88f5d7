"""A babysitter starts again when another herorun is installed over it."""

import contextlib
from collections.abc import Callable, Iterator

from herorun.core.babysit.stop_condition import StopCondition
from herorun.system.own_package import OwnPackage, VersionReplaced, restart_process


def check_installation(until: StopCondition) -> Callable[[], None]:
    """A check to call at each tick, which raises `VersionReplaced`. Monitoring with a time limit
    does not restart: the limit would count from the restart.
    """
    return OwnPackage().must_be_the_same if until.time is None else lambda: None


@contextlib.contextmanager
def restart_if_replaced() -> Iterator[None]:
    from herorun import output

    try:
        yield
    except VersionReplaced as replacement:
        output.show_note(str(replacement))
        restart_process()
