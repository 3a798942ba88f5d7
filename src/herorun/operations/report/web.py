"""The pages of all runs over HTTP: read-only, on loopback, or elsewhere with a token.

Each page is made at most once in its interval, for all readers. A page that cannot be made is an
error, never the previous page.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from threading import BoundedSemaphore, Lock
from time import monotonic
from urllib.parse import quote

from herorun.core.errors import CouldNotLook, HerorunError, WrongUse, describe_error
from herorun.core.lazy_dataclass import dataclass
from herorun.core.report.text import readable
from herorun.operations.health.shared_polls import SharedPolls
from herorun.operations.report.fleet import failure_page, fleet_page
from herorun.operations.report.html import page_of
from herorun.operations.report.overview import run_summaries
from herorun.operations.report.report import report_of
from herorun.runs import known_slugs, watched_run
from herorun.system.clock import now
from herorun.system.git import find_repository
from herorun.system.host import LOOPBACK
from herorun.system.page_server import page_server

FLEET_EVERY = 15  # seconds between two polls of all runs
RUN_EVERY = 60  # and of one run, whose tracker and store are queried
NOW_EVERY = 10  # seconds between two new readings on request
MAX_PAGE_REQUESTS = 6  # requests that wait for one page
MAX_REQUESTS = 16  # and for all runs' pages, so that slow ones do not block the first page
MIN_TOKEN_LENGTH = 32  # characters of a token
RUNS = "/runs/"
NOW = "/now"


@dataclass
class PageCopy:
    """A page, and when it was made. Requests during its making wait for it."""

    lock: Lock = field(default_factory=Lock)
    page: str = ""
    made_at: float | None = None
    places: BoundedSemaphore = field(default_factory=lambda: BoundedSemaphore(MAX_PAGE_REQUESTS))


class FleetPages:
    """The pages of a repository's runs, by their path."""

    def __init__(self, start: Path, clock: Callable[[], float] = monotonic) -> None:
        self._start, self._clock = start, clock
        self._polls = SharedPolls()
        self._copies: dict[str, PageCopy] = {}
        self._lock = Lock()
        self._of_runs = BoundedSemaphore(MAX_REQUESTS)

    def page(self, path: str) -> tuple[int, str]:
        """The HTTP status and the page of a path. `/now` after a run's path reads it all again."""
        slug = path.removeprefix(RUNS).removesuffix(NOW)
        own = f"{RUNS}{slug}"
        try:
            names = list(known_slugs(find_repository(self._start)))
            if path == "/":
                return 200, self._fresh(path, FLEET_EVERY, lambda: self._fleet(names))
            if slug not in names or path not in (own, f"{own}{NOW}"):
                return 404, failure_page(readable(path), "There is no such page.", "/")
            seconds = RUN_EVERY if path == own else NOW_EVERY
            with _hold_place(self._of_runs):
                return 200, self._fresh(own, seconds, lambda: self._run(slug))
        except (HerorunError, OSError) as error:
            return 503, failure_page(readable(slug), describe_error(error), "/")

    def _fresh(self, path: str, seconds: int, make: Callable[[], str]) -> str:
        with self._lock:
            copy = self._copies.setdefault(path, PageCopy())
        with _hold_place(copy.places), copy.lock:
            if copy.made_at is None or self._clock() - copy.made_at >= seconds:
                copy.made_at = None  # after a failure there is no page to reuse
                copy.page = make()
                copy.made_at = self._clock()
            return copy.page

    def _fleet(self, names: list[str]) -> str:
        summaries = run_summaries(names, self._start, self._polls)
        return fleet_page(summaries, now(), lambda slug: f"{RUNS}{quote(slug)}", FLEET_EVERY)

    def _run(self, slug: str) -> str:
        report = report_of(*watched_run(slug, self._start))
        return page_of(report, "/", RUN_EVERY, f"{RUNS}{quote(slug)}{NOW}")


@contextmanager
def _hold_place(places: BoundedSemaphore) -> Iterator[None]:
    """Hold one of the places; a request without a free place fails at once."""
    if not places.acquire(blocking=False):
        raise CouldNotLook("Too many requests wait for this page: reload it in a few seconds.")
    try:
        yield
    finally:
        places.release()


def serve_pages(
    pages: FleetPages, host: str, port: int, token: str, ready: Callable[[str], None]
) -> None:
    """Answer browsers until interrupted; `ready` gets the URL. OSError if nothing can listen
    there.
    """
    if host not in LOOPBACK and not token:
        raise WrongUse(
            f"{host} is not on loopback: set HERORUN_SERVE_TOKEN (`openssl rand -hex 32` prints "
            "one), or listen on 127.0.0.1 and use ssh -L."
        )
    if token and len(token) < MIN_TOKEN_LENGTH:
        raise WrongUse(
            f"HERORUN_SERVE_TOKEN has {len(token)} characters and needs {MIN_TOKEN_LENGTH}: "
            "`openssl rand -hex 32` prints one."
        )
    server = page_server(pages.page, host, port, token)
    try:
        name = f"[{host}]" if ":" in host else host
        ready(f"http://{name}:{server.server_port}/")
        server.serve_forever()
    finally:
        server.server_close()
