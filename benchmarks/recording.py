"""One more entry in the record, at 10 and at 1,000 entries; compared with committing a line to a
log file with git.
"""

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

from benchmarks.scratch import open_tiny, repository
from benchmarks.timing import Row, in_turns, run
from herorun.core.event import Noted
from herorun.operations.record.init import initialise
from herorun.record import Record
from herorun.system.clock import now

ROUNDS = 15
SIZES = (10, 1000, 10_000)


def rows(home: Path) -> Iterator[Row]:
    acts: dict[str, Callable[[], object]] = {}
    for size in SIZES:
        (home / str(size)).mkdir()
        acts[f"record {size}"] = appending(home / str(size), size)
        acts[f"git {size}"] = committing(home / str(size), size)
    costs = in_turns(acts, ROUNDS)
    for size in SIZES:
        yield Row(
            f"append to a record of {size:,} entries, synced",
            costs[f"record {size}"],
            "append a line, `git commit`",
            costs[f"git {size}"],
        )


def appending(home: Path, size: int) -> Callable[[], object]:
    opened_run = open_tiny(repository(home, files=10))
    initialise(opened_run)
    record: Record = opened_run.record
    record.append(*(a_note(number) for number in range(size)))
    numbers = count(size)
    return lambda: record.append(a_note(next(numbers)))


def a_note(number: int) -> Noted:
    lines = {
        "Status": f"step {number}",
        "Evidence": "loss 2.31",
        "Decision": "go on",
        "Next": "look again",
    }
    return Noted(now(), "dri", f"note {number}", lines)


def committing(home: Path, size: int) -> Callable[[], object]:
    """What people do without herorun: a file in their checkout, a line and a commit at a time."""
    work, numbers = home / "work", count(size)
    log = work / "log.md"
    log.write_text(
        "".join(f"- step {number}: loss 2.31, go on\n" for number in range(size)), encoding="utf-8"
    )

    def act() -> None:
        with log.open("a", encoding="utf-8") as file:
            file.write(f"- step {next(numbers)}: loss 2.31, go on\n")
        run(["git", "add", "log.md"], work)
        run(["git", "commit", "--quiet", "--message", "log"], work)

    return act
