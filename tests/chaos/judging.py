"""What must hold after a week of faults, from the files alone: each violation in words."""

import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any
from urllib.parse import unquote

from chaos.faults import Fault
from chaos.job_faults import TOLD_BY
from chaos.world import SET, World
from stories import git

# A fault may rightly be told by these; any other critical alert is a false page.
RIGHTLY = {
    "crashed",
    "late-checkpoints",
    "nothing-saved",
    "monitor-blind",
    "full-disk",
    "late-tick",
    "stale-monitor",
}
# until a relaunch: a remote or a disk may be away for some of them; what a look takes is the
# machine's matter
LOOKS = 15
PATIENCE = 300.0  # seconds for so many
YOUNG = 5.0  # seconds within which an instance may have saved nothing
TimedEvents = list[tuple[float, str, dict[str, Any]]]
LITTER = re.compile(r".*\.new|tmp_(pack|obj|idx)_.*|fast_import_crash_.*|\.export-.*")


def violations(world: World, faults: list[Fault]) -> list[str]:
    """Everything that is wrong; empty for a good week."""
    return [
        *(violation for slug in world.slugs for violation in _of_run(world, slug, faults)),
        *_of_machine(world),
    ]


def newest_lines(world: World) -> list[str]:
    """The ends of the journals, without the looks at which nothing was done."""
    return [
        f"{slug}: {kind} {json.dumps(event)[:500]}"
        for slug in world.slugs
        for kind, event in [
            (kind, event)
            for kind, event in journal(world, slug)
            if kind != "Observed" and (kind != "Decided" or event["actions"])
        ][-40:]
    ]


def _of_run(world: World, slug: str, faults: list[Fault]) -> Iterator[str]:
    mine = _mine(slug, faults)
    events = journal(world, slug)
    yield from _starts(world, slug, mine)
    yield from late_relaunches(slug, mine, time_events(events, faults))
    yield from _notes(world, slug, mine)
    yield from _posts(world, slug, events)
    yield from _alerts(slug, events, [*mine, *of_all_runs(faults)])
    yield from _verify_run(world, slug)


def _newest_of_lineage(row: dict[str, Any], backs: list[tuple[float, int]]) -> int:
    """Of what was complete at a start, without what a rollback before it has given up."""
    return max(
        (
            step
            for step, saved_at in row["complete"]
            if not any(saved_at < back < row["at"] and step > to for back, to in backs)
        ),
        default=0,
    )


def _starts(world: World, slug: str, faults: list[Fault]) -> Iterator[str]:
    starts = world.starts(slug)
    turns = [
        (at, e)
        for at, kind, e in time_events(journal(world, slug), faults)
        if kind == "Launching" and e["given_up"]
    ]
    chosen_instances = {
        e["instance"] for _, e in turns
    }  # where a person goes back, a person chooses
    backs = [(at, e["given_up"]["step"]) for at, e in turns]
    for row in starts:
        if row["beside"]:
            yield f"{row['instance']} was started while {row['beside']} lived"
        newest = _newest_of_lineage(row, backs)
        if row["from"] != newest and row["instance"] not in chosen_instances:
            yield f"{row['instance']} goes on from {row['from']}, and {newest} is complete"
    for name, count in Counter(row["instance"] for row in starts).items():
        if count > 1:
            yield f"{name} was started {count} times"
    for fault in faults:
        if fault.facts.get("starts in the pause"):
            yield f"{slug} was relaunched in a pause"
        if fault.facts.get("starts on its own"):
            yield f"{slug} was started after {fault.name} before a person said so"
        if fault.facts.get("approved a bug"):
            yield f"{slug}: an approval was taken for {fault.name}"
        if fault.facts.get("brought back"):
            yield f"{slug} could not be brought back after {fault.name}: {fault.facts}"


def await_relaunches(world: World, faults: list[Fault]) -> None:
    """What the last faults have done is fixed, or is late: the watch continues for as many
    looks.
    """
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and any(_awaits(world, slug, faults) for slug in world.slugs):
        time.sleep(1)


def _awaits(world: World, slug: str, faults: list[Fault]) -> bool:
    events = time_events(journal(world, slug), faults)
    mine = _mine(slug, faults)
    tick_counts = [looks_until_relaunch(fault, mine, events) for fault in mine if fault.killed_job]
    return any(not is_over and count <= LOOKS for count, is_over in tick_counts)


def late_relaunches(slug: str, faults: list[Fault], events: TimedEvents) -> Iterator[str]:
    """In looks of the run's own watch, which a machine that does much else makes later and not
    more.
    """
    for fault in faults:
        count, is_over = (
            looks_until_relaunch(fault, faults, events) if fault.killed_job else (0, True)
        )
        if not is_over or count > LOOKS:
            word = "late" if is_over else "not"
            yield (
                f"{slug}: {fault.killed_job} was killed by {fault.name} and "
                f"{word} relaunched, after "
                f"{count} looks"
            )


def looks_until_relaunch(
    fault: Fault, faults: list[Fault], events: TimedEvents
) -> tuple[int, bool]:
    """How often the run was looked at from the fault's end until the relaunch was decided, and
    whether it was.
    """
    hits = [
        at for at, kind, e in events if kind == "Launched" and e["relaunch_of"] == fault.killed_job
    ]
    hits += questions(fault, faults, events)
    tick_times = [
        at for at, kind, _ in events if kind == "Observed" and at > max(fault.began, fault.ended_at)
    ]
    return sum(at <= min(hits, default=at) for at in tick_times), bool(hits)


def questions(fault: Fault, faults: list[Fault], events: TimedEvents) -> list[float]:
    """A person is rightly asked, and nothing is relaunched, where two faults overlap and kill a job
    and its relaunch before that could save anything, or where the loss of the same instance has
    spiked: a spike vetoes a relaunch, and is a mismatch while the level after a resume is compared.
    """
    launched_events = [
        at for at, kind, e in events if kind == "Launched" and e["instance"] == fault.killed_job
    ]
    crashed_events = [
        at
        for at, kind, e in events
        if kind == "Decided"
        and any((a["check"], a["instance"]) == ("crashed", fault.killed_job) for a in e["alerts"])
    ]
    if not launched_events or not crashed_events:
        return []
    young = min(crashed_events) - min(launched_events) <= YOUNG
    has_spiked = any(
        "spike" in f.name and min(launched_events) < f.struck_at < fault.struck_at for f in faults
    )
    right = (["repeated"] if young else []) + (["veto"] if has_spiked else [])
    keys = [f"escalate/relaunch/{fault.killed_job}/{reason}" for reason in right]
    return [at for at, kind, e in events if kind == "Done" and e["key"] in keys]


def time_events(events: list[tuple[str, dict[str, Any]]], faults: list[Fault]) -> TimedEvents:
    """Each with its moment by the real clock: the one that it was told by may have been off by an
    hour.
    """
    first_fault = min((fault.began for fault in faults), default=0.0)
    return [(_at(event, first_fault), kind, event) for kind, event in events]


def _at(event: dict[str, Any], first_fault: float) -> float:
    at = datetime.fromisoformat(event["at"]).timestamp()
    return at - SET * round((at - first_fault) / SET)


def of_all_runs(faults: list[Fault]) -> list[Fault]:
    """What is done to the machine; a clock is every run's, whatever is done to one meanwhile."""
    clocks = [
        replace(fault, name="clock_back", slug="")
        for fault in faults
        if fault.slug and fault.name.startswith("clock_back")
    ]
    return [*(fault for fault in faults if not fault.slug), *clocks]


def _mine(slug: str, faults: list[Fault]) -> list[Fault]:
    return [fault for fault in faults if slug in (fault.slug, fault.facts.get("slug"))]


def _notes(world: World, slug: str, faults: list[Fault]) -> Iterator[str]:
    """0 says that the remote has it, 3 that it waits."""
    book = git(
        world.origin, "grep", "-h", "-e", "", f"refs/heads/herorun/{slug}", "--", "*.journal/*"
    )
    for fault in faults:
        count = book.count(f'"Status":"{fault.note}"') if fault.note else 0
        if (
            fault.note
            and (fault.code not in (0, 3) or count != (fault.code == 0))
            and not (fault.code == 3 and count == 1)
        ):
            yield (
                f"{slug}: {fault.note} ended with {fault.code} and stands {count} times on the "
                "remote"
            )


def journal(world: World, slug: str) -> list[tuple[str, dict[str, Any]]]:
    text = git(
        world.work,
        "grep",
        "-h",
        "-e",
        "",
        f"refs/herorun/record/{slug}",
        "--",
        f"*{slug}.journal/*",
    )
    lines = [json.loads(line) for line in text.splitlines()]
    return [(line["kind"], line["event"]) for line in lines]


def _posts(world: World, slug: str, events: list[tuple[str, dict[str, Any]]]) -> Iterator[str]:
    """Each once, in the one issue."""
    page = world.page(slug)
    keys = Counter(unquote(key) for key in re.findall(r"<!-- herorun key=(\S+) -->", page))
    yield from (
        f"{slug}: the issue says {key} {count} times" for key, count in keys.items() if count > 1
    )
    done_keys = {event["key"] for kind, event in events if kind == "Done"}
    posts = {
        event["key"]: event for kind, event in events if kind == "Intended" and event.get("body")
    }
    yield from (
        f"{slug}: {key} was intended and never done" for key in sorted(posts.keys() - done_keys)
    )
    posted_keys = {
        key for key, event in posts.items() if key in done_keys and event.get("anew", True)
    }
    yield from (
        f"{slug}: {key} is done, and not in the issue" for key in sorted(posted_keys - keys.keys())
    )
    if (world.other / ".herorun" / slug / "issue.md").exists():
        yield f"{slug}: the other clone has an issue of its own"


def _alerts(
    slug: str, events: list[tuple[str, dict[str, Any]]], faults: list[Fault]
) -> Iterator[str]:
    rightly = "|".join([*RIGHTLY, *(TOLD_BY.get(fault.name, ("", "-"))[1] for fault in faults)])
    if any(fault.name.startswith("clock") for fault in faults):
        rightly += "|stalled-.*"
    if any(fault.name.startswith(("full_state", "github")) for fault in faults):
        rightly += "|undelivered-escalation"  # what must be said finds no room, or no server
    intended_keys = {key for kind, event in events if kind == "Intended" for key in [event["key"]]}
    for key in sorted(intended_keys):
        check = re.match(r"escalate/([a-z-]+)", key)
        if (
            check
            and not re.fullmatch(rightly, check[1])
            and not key.startswith("escalate/relaunch")
        ):
            yield f"{slug}: {key} is a false page"


def _verify_run(world: World, slug: str) -> Iterator[str]:
    fresh = world.home / f"fresh-{slug}"
    git(world.home, "clone", "-q", str(world.origin), str(fresh))
    code = world.herorun("logbook", "verify", slug, where=fresh)
    if code:
        yield (
            f"{slug}: `logbook verify` in a fresh clone ends with {code}: "
            f"{world.commands[-1]['said'][-300:]}"
        )
    local_tip = git(world.work, "rev-parse", f"refs/herorun/record/{slug}")
    if local_tip != git(world.origin, "rev-parse", f"refs/heads/herorun/{slug}"):
        yield f"{slug}: the remote does not have the whole record"


def _of_machine(world: World) -> Iterator[str]:
    text = world.log.read_text(errors="replace")
    if "Traceback" in text:
        yield f"a traceback in the babysitter's log: {text[text.index('Traceback') :][:600]}"
    changed_names = {name for name, _ in world.before.items() ^ world.fingerprint().items()}
    if changed_names:
        yield f"the user's clone changed: {sorted(changed_names)}"
    if status := git(world.work, "status", "--porcelain"):
        yield f"git status is not clean: {status}"
    for top in (world.work, world.other, world.home / "out", world.origin):
        leftovers = [str(path) for path in top.rglob("*") if LITTER.fullmatch(path.name)]
        yield from (f"{path} was left" for path in leftovers)
