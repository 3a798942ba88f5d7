"""What must hold after a week of faults, from the files alone: each violation in words."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from chaos.faults import Fault
from chaos.world import World
from stories import git

# A fault may rightly be told by these; any other critical alert is a false page.
RIGHTLY = {"crashed", "late-checkpoints", "nothing-saved", "blind", "full-disk", "late-tick", "stale-monitor"}
RELAUNCHED_WITHIN = 15.0  # seconds, on a machine that does much else
LITTER = re.compile(r".*\.new|tmp_(pack|obj|idx)_.*|fast_import_crash_.*|\.export-.*")


def violations(world: World, faults: list[Fault]) -> list[str]:
    """Everything that is wrong; empty for a good week."""
    return [
        *(words for slug in world.slugs for words in _of_run(world, slug, faults)),
        *_of_machine(world),
    ]


def _of_run(world: World, slug: str, faults: list[Fault]) -> Iterator[str]:
    mine = [fault for fault in faults if slug in (fault.slug, fault.facts.get("slug"))]
    yield from _starts(world, slug, mine)
    yield from _notes(world, slug, mine)
    events = journal(world, slug)
    yield from _posts(world, slug, events)
    yield from _alerts(slug, events)
    yield from _verified(world, slug)


def _starts(world: World, slug: str, faults: list[Fault]) -> Iterator[str]:
    starts = world.starts(slug)
    for row in starts:
        if row["beside"]:
            yield f"{row['instance']} was started while {row['beside']} lived"
        if row["from"] != (row["newest"] or 0):
            yield f"{row['instance']} goes on from {row['from']}, and {row['newest']} is complete"
    for name, count in Counter(row["instance"] for row in starts).items():
        if count > 1:
            yield f"{name} was started {count} times"
    for fault in faults:
        if fault.facts.get("starts in the pause"):
            yield f"{slug} was relaunched in a pause"
        if fault.killed:
            yield from _relaunched(slug, fault, starts)


def _relaunched(slug: str, fault: Fault, starts: list[dict[str, Any]]) -> Iterator[str]:
    after = [row["at"] for row in starts if row["at"] > fault.began]
    late = max(fault.ended, fault.began) + RELAUNCHED_WITHIN
    if not after or after[0] > late:
        yield f"{slug}: {fault.killed} was killed by {fault.name} and not relaunched in {RELAUNCHED_WITHIN:g} s"


def _notes(world: World, slug: str, faults: list[Fault]) -> Iterator[str]:
    """0 says that the remote has it, 3 that it waits."""
    book = git(world.origin, "grep", "-h", "-e", "", f"refs/heads/herorun/{slug}", "--", "*.journal/*")
    for fault in faults:
        count = book.count(f'"Status":"{fault.note}"') if fault.note else 0
        if (
            fault.note
            and (fault.code not in (0, 3) or count != (fault.code == 0))
            and not (fault.code == 3 and count == 1)
        ):
            yield f"{slug}: {fault.note} ended with {fault.code} and stands {count} times on the remote"


def journal(world: World, slug: str) -> list[tuple[str, dict[str, Any]]]:
    text = git(world.work, "grep", "-h", "-e", "", f"refs/herorun/record/{slug}", "--", f"*{slug}.journal/*")
    lines = [json.loads(line) for line in text.splitlines()]
    return [(line["kind"], line["event"]) for line in lines]


def _posts(world: World, slug: str, events: list[tuple[str, dict[str, Any]]]) -> Iterator[str]:
    """Each once, in the one issue."""
    page = world.page(slug)
    keys = Counter(unquote(key) for key in re.findall(r"<!-- herorun key=(\S+) -->", page))
    yield from (f"{slug}: the issue says {key} {count} times" for key, count in keys.items() if count > 1)
    done = {event["key"] for kind, event in events if kind == "Done"}
    posts = {event["key"]: event for kind, event in events if kind == "Intended" and event.get("body")}
    yield from (f"{slug}: {key} was intended and never done" for key in sorted(posts.keys() - done))
    said = {key for key, event in posts.items() if key in done and event.get("anew", True)}
    yield from (f"{slug}: {key} is done, and not in the issue" for key in sorted(said - keys.keys()))
    if (world.other / ".herorun" / slug / "issue.md").exists():
        yield f"{slug}: the other clone has an issue of its own"


def _alerts(slug: str, events: list[tuple[str, dict[str, Any]]]) -> Iterator[str]:
    told = {key for kind, event in events if kind == "Intended" for key in [event["key"]]}
    for key in sorted(told):
        check = re.match(r"escalate/([a-z-]+)", key)
        if check and check[1] not in RIGHTLY and not key.startswith("escalate/relaunch"):
            yield f"{slug}: {key} is a false page"


def _verified(world: World, slug: str) -> Iterator[str]:
    fresh = world.home / f"fresh-{slug}"
    git(world.home, "clone", "-q", str(world.origin), str(fresh))
    code = world.herorun("logbook", "verify", slug, where=fresh)
    if code:
        yield f"{slug}: `logbook verify` in a fresh clone ends with {code}: {world.commands[-1]['said'][-300:]}"
    here = git(world.work, "rev-parse", f"refs/herorun/record/{slug}")
    if here != git(world.origin, "rev-parse", f"refs/heads/herorun/{slug}"):
        yield f"{slug}: the remote does not have the whole record"


def _of_machine(world: World) -> Iterator[str]:
    text = world.log.read_text(errors="replace")
    if "Traceback" in text:
        yield f"a traceback in the babysitter's log: {text[text.index('Traceback') :][:600]}"
    changed = {name for name, _ in world.before.items() ^ world.fingerprint().items()}
    if changed:
        yield f"the user's clone changed: {sorted(changed)}"
    if status := git(world.work, "status", "--porcelain"):
        yield f"git status is not clean: {status}"
    for top in (world.work, world.other, world.home / "out", world.origin):
        left = [str(path) for path in top.rglob("*") if LITTER.fullmatch(path.name)]
        yield from (f"{path} was left" for path in left)
