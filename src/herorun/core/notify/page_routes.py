"""Which channel takes which message, and when: pages at once, information outside quiet hours."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Protocol

from herorun.core.finding import count
from herorun.core.notify.page_policy import Page, Urgency
from herorun.core.notify.quiet_hours import quiet_hours

_ORDER = (Urgency.SECOND, Urgency.MUST, Urgency.AGAIN, Urgency.NEWS, Urgency.INFORM)


class Routes(Protocol):
    """The channels of `[notify]`, by the list in which they stand."""

    @property
    def page(self) -> tuple[str, ...]: ...
    @property
    def inform(self) -> tuple[str, ...]: ...
    @property
    def secondary(self) -> tuple[str, ...]: ...
    @property
    def both(self) -> tuple[str, ...]: ...


def takers(urgency: Urgency, routes: Routes) -> tuple[str, ...]:
    """The channels that are asked to take a message, in order.

    Information never goes to a channel that is for pages alone; a page that no other channel takes
    goes to every channel that may be read.
    """
    if urgency.can_wait:
        warns = urgency is Urgency.NEWS or routes.inform
        return (*routes.inform, *routes.both) if warns else ()
    first = routes.secondary if urgency is Urgency.SECOND else ()
    return tuple(dict.fromkeys((*first, *routes.page, *routes.both, *routes.inform)))


def is_held(urgency: Urgency, quiet: str | None, now: datetime) -> bool:
    """Whether a message waits for the end of the quiet hours."""
    return quiet is not None and urgency.can_wait and quiet_hours(quiet).covers(now)


def group_pages(pages: Iterable[Page], routes: Routes) -> list[list[Page]]:
    """What waits for the same channels is one message: an incident is reported once. The most
    urgent stands first in it.
    """
    groups: dict[tuple[str, ...], list[Page]] = {}
    for page in pages:
        groups.setdefault(takers(page.urgency, routes), []).append(page)
    return [sorted(group, key=lambda page: _ORDER.index(page.urgency)) for group in groups.values()]


def group_title(pages: Sequence[Page]) -> str:
    """The titles of the first two messages, and how many more follow."""
    more = len(pages) - 2
    titles = "; ".join(page.title for page in pages[:2])
    return f"{titles}; {count(more, 'more message')}" if more > 0 else titles
