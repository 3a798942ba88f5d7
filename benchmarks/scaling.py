"""What many runs ask of a git host, an object store and a tracker: one repository's day, simulated
with the rules that a fleet goes by, and what its servers allow.

`python -m benchmarks.scaling` writes the tables of docs/scaling.md.
"""

import heapq
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from pathlib import Path
from random import Random

from herorun.core.babysit.cadence import next_tick_delay, push_delay

PAGE = Path(__file__).parents[1] / "docs" / "scaling.md"

# Counted on real servers by tests/test_scaling.py: one quiet tick of a run whose 100 checkpoints
# lie on gs://, whose rows are in W&B and whose page is on GitHub
STORE_CLASS_A, STORE_CLASS_B = 7, 7  # listings and writes; reads
TRACKER = 13  # GraphQL requests to W&B
API_READS, API_WRITES = 6, 1  # requests to GitHub for one post; a tick without a post makes none
ADVERTISED_RUNS = (
    85  # bytes that the host sends before every push for each branch of a name of 20 letters
)
# By `benchmarks/growth.py`, see docs/benchmarks.md
RECORDED_EVENTS = 1200  # bytes that a quiet tick adds to the repository

# Assumed
CADENCE = timedelta(minutes=15)  # the default
PUSH = 2.0  # seconds of one push
TICK = 1.0, 5.0  # seconds from a tick's beginning to its push
CRASHES = 1.0  # of a run in a day; each is posted, and so is the relaunch
POSTS = 4  # after a crash: the crash, the relaunch, first steps, first checkpoint
ALERT = timedelta(minutes=20)  # until a crashed run trains again

DAY = 86_400.0
CLASS_A, CLASS_B = 0.005 / 1000, 0.0004 / 1000  # US dollars a request, Cloud Storage and S3
REPOSITORIES = (10, 100, 1000)
HOSTS = (100, 1000, 10_000, 50_000)
TEAM = 100  # runs of one repository on such a host


@dataclass
class Run:
    """As a tick sees it."""

    began: float  # its newest instance, in seconds of the day
    crash: float  # the next
    after_relaunch: bool = False

    def pause(self, at: float) -> float:
        age = timedelta(seconds=at - self.began)
        firing = self.after_relaunch and age < ALERT
        return next_tick_delay(CADENCE, age, self.after_relaunch, False, firing).total_seconds()


@dataclass
class Day:
    """What one repository's runs did."""

    runs: int
    ticks: int = 0
    posts: Counter[int] = field(default_factory=Counter)  # by hour
    pushes: Counter[int] = field(default_factory=Counter)  # by minute
    delays: list[float] = field(default_factory=list)  # seconds that a quiet push waited

    @property
    def busiest_minute(self) -> int:
        return max(self.pushes.values())

    @property
    def pushes_a_minute(self) -> float:
        return self.pushes.total() / (DAY / 60)

    @property
    def gigabytes_a_year(self) -> float:
        return self.ticks * RECORDED_EVENTS * 365 / 1e9

    @property
    def busiest_hour(self) -> int:
        """Posts."""
        return max(self.posts.values(), default=0)


class Remote:
    """The push queue of one process, as `operations.record.push` keeps it."""

    def __init__(self, day: Day, waits: bool) -> None:
        self._day, self._waits = day, waits
        self._waiting: list[tuple[float, bool]] = []  # ready since, urgent
        self._began, self._busy = -DAY, 0.0

    def ready(self, at: float, urgent: bool) -> float:
        """A record wants to go out; when that is looked at."""
        self._waiting.append((at, urgent))
        return max(at + self._delay(at, urgent), self._busy)

    def look(self, at: float) -> None:
        due = any(self._delay(at, urgent) <= 0 for _, urgent in self._waiting)
        if not due or at < self._busy:
            return
        self._day.pushes[int(at // 60)] += 1
        self._day.delays += [at - since for since, urgent in self._waiting if not urgent]
        self._waiting, self._began, self._busy = [], at, at + PUSH

    def _delay(self, at: float, urgent: bool) -> float:
        since_last = timedelta(seconds=at - self._began)
        # a moment more than the rule's own, which counts in microseconds
        delay = push_delay(since_last, CADENCE, urgent or not self._waits).total_seconds()
        return delay + 1e-3 if delay > 0 else 0.0


def a_day(runs: int, waits: bool = True, outage: bool = False, seed: int = 1) -> Day:
    """One process babysits a repository's runs; with an `outage` all of them crash at noon."""
    lot, day, order = Random(seed), Day(runs), count()
    remote = Remote(day, waits)
    fleet = [Run(-lot.uniform(0, DAY), _crash(lot, 0, outage)) for _ in range(runs)]
    events: list[tuple[float, int, str, int]] = []

    def at(time: float, what: str, number: int = 0) -> None:
        if time < DAY:
            heapq.heappush(events, (time, next(order), what, number))

    for number in range(runs):
        at(lot.uniform(0, CADENCE.total_seconds()), "tick", number)
    while events:
        time, _, what, number = heapq.heappop(events)
        if what == "look":
            remote.look(time)
        elif what in ("quiet", "urgent"):
            at(remote.ready(time, what == "urgent"), "look")
        else:
            run = fleet[number]
            has_crash = run.crash <= time
            if has_crash:
                run.began, run.after_relaunch = time, True
                run.crash = _crash(lot, time, outage)
                day.posts[int(time // 3600)] += POSTS
            day.ticks += 1
            at(time + lot.uniform(*TICK), "urgent" if has_crash else "quiet")
            at(time + run.pause(time), "tick", number)
    return day


def _crash(lot: Random, after: float, outage: bool) -> float:
    own = after + lot.expovariate(CRASHES / DAY)
    return min(own, DAY / 2) if outage and after < DAY / 2 else own


def by_repository() -> str:
    """What one repository and one token get."""
    rows = [
        "| runs | pushes a minute | with `--all` | wait | size, 1 year | posts, outage | calls |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for runs in REPOSITORIES:
        alone, day, outage = a_day(runs, waits=False), a_day(runs), a_day(runs, outage=True)
        delay = sum(day.delays) / len(day.delays)
        cells = (
            f"{runs:,}",
            f"{alone.pushes_a_minute:.1f}",
            f"{day.pushes_a_minute:.1f}",
            f"{delay:.1f} s",
            f"{day.gigabytes_a_year:,.1f} GB",
            f"{outage.busiest_hour:,}",
            f"{outage.busiest_hour * (API_READS + API_WRITES):,}",
        )
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def by_host() -> str:
    """What a host with repositories of `TEAM` runs gets, the store and the tracker."""
    rows = [
        "| runs | pushes an hour | size, 1 year | store requests a day | price | W&B a second |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    day = a_day(TEAM)
    for runs in HOSTS:
        teams = runs / TEAM
        ticks = day.ticks * teams
        price = ticks * (STORE_CLASS_A * CLASS_A + STORE_CLASS_B * CLASS_B)
        cells = (
            f"{runs:,}",
            f"{day.pushes.total() / 24 * teams:,.0f}",
            f"{day.gigabytes_a_year * teams:,.0f} GB",
            f"{ticks * (STORE_CLASS_A + STORE_CLASS_B) / 1e6:,.1f} million",
            f"${price:,.2f}" if price < 10 else f"${price:,.0f}",
            f"{ticks * TRACKER / DAY:,.1f}",
        )
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def page(text: str) -> str:
    """The page with its tables as they come out today."""
    for name, table in (("repository", by_repository()), ("host", by_host())):
        before, mark, rest = text.partition(f"<!-- {name} -->\n")
        _, end, after = rest.partition("<!-- end -->")
        text = f"{before}{mark}\n{table}\n\n{end}{after}"
    return text


def main() -> None:
    print(by_repository(), by_host(), sep="\n\n")
    if PAGE.exists():
        PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
