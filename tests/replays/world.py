"""What the world said, line by line: `world.jsonl` and `rows.csv` of a replay, as they stood at any
moment.

A line holds a time (`at`) and one thing that happened then. `in` says where it belongs: to the
incident (`fault`), to the same story without it (`sound`), or to both. Rows count seconds from the
beginning. The ports below answer as real back ends do, for the moment that the clock shows; what
reads them is the product's own.
"""

import csv
import json
import os
import tomllib
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from herorun.core.babysit.action_key import Verb, write_key
from herorun.core.decode import decode
from herorun.core.event import Done, Event, Launched, Launching, Ordered, Word
from herorun.core.evidence import Job, TrackerIdentity, TrackerState
from herorun.core.ports import Absent, FileEntry, Found, LifecycleRule, Row, Rows, Search, Unknown

HERE = Path(__file__).parent


@dataclass
class Clock:
    now: datetime


@dataclass(frozen=True)
class Incident:
    """One folder: its header, and what was said in it, in order."""

    name: str
    facts: dict[str, Any]
    lines: tuple[dict[str, Any], ...]
    rows: tuple[Row, ...]

    @property
    def begin(self) -> datetime:
        return self.facts["begin"]

    @property
    def end(self) -> datetime:
        return self.facts["end"]

    def until(self, moment: datetime, kind: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if kind in line and line["at"] <= moment]


def load(name: str, part: str) -> Incident:
    """The incident itself (`fault`), or the same story without it (`sound`)."""
    folder = HERE / name
    document = tomllib.loads((folder / "incident.toml").read_text())
    start = document["begin"]
    texts = (folder / "world.jsonl").read_text().splitlines()
    lines = [{**line, "at": datetime.fromisoformat(line["at"])} for line in map(json.loads, texts)]
    rows = []
    if (folder / "rows.csv").exists():
        with (folder / "rows.csv").open(newline="") as file:
            rows = [_row(each, start) for each in csv.DictReader(file) if each["in"] in ("", part)]
    part_lines = [line for line in lines if line.get("in", part) == part]
    return Incident(
        name, document, tuple(part_lines), tuple(sorted(rows, key=lambda row: row.at or start))
    )


def _row(fields: dict[str, str], start: datetime) -> Row:
    values = {k: float(v) for k, v in fields.items() if k not in ("after", "step", "in") and v}
    return Row(int(fields["step"]), values, start + timedelta(seconds=float(fields["after"])))


def launches(line: dict[str, Any], contract: str) -> list[Any]:
    """The events of a launch, as the journal holds them."""
    launch = line["launched"]
    plan = {
        name: {"value": launch.get(name), "source": contract}
        for name in ("start", "final_step", "temporary_root", "config")
    }
    number = int(launch["instance"].rpartition("-")[2])
    origin, job = launch.get("relaunch_of", ""), f"job-{launch['instance']}"
    return [
        Launching(
            at=line["at"],
            instance=launch["instance"],
            number=number,
            plan=plan,
            plan_digest="sha256:p1a4",
            why="as planned",
            contract_file=contract,
            relaunch_of=origin,
        ),
        Launched(
            at=line["at"],
            instance=launch["instance"],
            number=number,
            job=job,
            plan_digest="sha256:p1a4",
            output_root=launch["root"],
            commit="c0ffee",
            entry={},
            relaunch_of=origin,
        ),
    ]


def order(line: dict[str, Any]) -> list[Event]:
    """A person's order; that of a stop is carried out, as `herorun stop` does."""
    stored_order = decode(Ordered, {"at": line["at"], **line["ordered"]})
    stops = [
        write_key(Verb.STOP, name) for name in stored_order.about if stored_order.word is Word.STOP
    ]
    stop_events = [Done(at=stored_order.at, key=key, attempt=1, result="stopped") for key in stops]
    return [stored_order, *stop_events]


# --- ports ----------------------------------------------------------------------------------------


class Scheduler:
    """The newest word on each instance, and its log as a file, as a scheduler on this machine has
    it.
    """

    cluster_wide = True

    def __init__(self, incident: Incident, clock: Clock, folder: Path) -> None:
        self.incident, self.clock, self.folder = incident, clock, folder

    def find(self, instance: str, intended_at: datetime) -> Search:
        jobs = self._jobs()
        if instance not in jobs:
            return Absent()
        job = jobs[instance]
        return Unknown(job) if isinstance(job, str) else Found(job)

    def live_jobs(self, slug: str) -> tuple[Job, ...]:
        return tuple(
            job for job in self._jobs().values() if isinstance(job, Job) and not job.state.is_final
        )

    def _jobs(self) -> dict[str, Job | str]:
        """By instance; where nobody can tell, why."""
        jobs: dict[str, Job | str] = {}
        for line in self.incident.until(self.clock.now, "job"):
            fields = line["job"]
            name = fields["instance"]
            jobs[name] = fields.get("unsure") or decode(Job, {"id": f"job-{name}", **fields})
        return jobs

    def log(self, instance: str) -> Path:
        """A file with the time of its newest line."""
        path = self.folder / f"{instance}.log"
        if written_lines := self._log_lines(instance):
            path.touch()
            stamp = written_lines[-1]["at"].timestamp()
            os.utime(path, (stamp, stamp))
        return path

    def tail(self, instance: str, lines: int) -> str:
        written_lines = self._log_lines(instance)
        if not written_lines:
            raise FileNotFoundError(f"{instance}.log")
        text = [f"{line['log']}\n" for line in written_lines for _ in range(line.get("times", 1))]
        return "".join(text[-lines:])

    def _log_lines(self, instance: str) -> list[dict[str, Any]]:
        return [
            line
            for line in self.incident.until(self.clock.now, "log")
            if line["instance"] == instance
        ]


class Tracker:
    """Rows, each from its own time on."""

    def __init__(self, incident: Incident, clock: Clock) -> None:
        self.incident, self.clock = incident, clock

    def read(self, cursor: str) -> Rows:
        rows = [row for row in self.incident.rows if row.at and row.at <= self.clock.now]
        if not rows:
            raise FileNotFoundError("metrics.jsonl")
        new = rows[int(cursor or 0) :][:500]
        return Rows(
            rows=tuple(new), cursor=str(int(cursor or 0) + len(new)), changed_at=rows[-1].at
        )


class KnowingTracker(Tracker):
    """One that knows its runs by id."""

    def identify(self) -> TrackerIdentity:
        lines = self.incident.until(self.clock.now, "tracker")
        fields = {"state": TrackerState.ABSENT, **(lines[-1]["tracker"] if lines else {})}
        return decode(TrackerIdentity, fields)


def tracker_of(incident: Incident, clock: Clock) -> Tracker:
    knows = any("tracker" in line for line in incident.lines)
    return (KnowingTracker if knows else Tracker)(incident, clock)


class Store:
    """Files that `saved`, `begun` and `file` lines left. A `saved` checkpoint is whole, a `begun`
    one lacks its marker.
    """

    def __init__(self, incident: Incident, clock: Clock) -> None:
        self.incident, self.clock = incident, clock

    def _files(self) -> dict[str, tuple[datetime, bytes]]:
        files: dict[str, tuple[datetime, bytes]] = {}
        for line in self.incident.lines:
            if line["at"] > self.clock.now:
                continue
            path = str(line.get("saved") or line.get("begun") or "")
            if path:
                files[f"{path}/model/weights"] = line["at"], b"weights"
            if "saved" in line:
                step, saved_at = (
                    int(path.rpartition("-")[2]),
                    line["at"].replace(tzinfo=None).isoformat(),
                )
                marker = {
                    "step": step,
                    "timestamp": saved_at,
                    "is_temporary": line.get("temporary", False),
                }
                files[f"{path}/metadata.json"] = line["at"], json.dumps(marker).encode()
            if "file" in line:
                files[line["file"]] = line["at"], json.dumps(line.get("holds", "")).encode()
            if "deleted" in line:
                files = {k: v for k, v in files.items() if not k.startswith(f"{line['deleted']}/")}
        return files

    def entries(self, path: str) -> tuple[FileEntry, ...]:
        prefix, entries = path.rstrip("/") + "/", {}
        for file, (at, data) in self._files().items():
            if file.startswith(prefix):
                name, below, _ = file.removeprefix(prefix).partition("/")
                entries[name + below] = (
                    FileEntry(f"{name}/") if below else FileEntry(name, at, len(data))
                )
        if not entries:
            raise FileNotFoundError(path)
        return tuple(entries[name] for name in sorted(entries))

    def names(self, path: str) -> tuple[str, ...]:
        return tuple(entry.name for entry in self.entries(path))

    def read(self, path: str) -> bytes:
        return self._file(path)[1]

    def modified(self, path: str) -> datetime | None:
        return self._file(path)[0]

    def rules(self, root: str) -> tuple[LifecycleRule, ...]:
        return ()

    def _file(self, path: str) -> tuple[datetime, bytes]:
        files = self._files()
        if path not in files:
            raise FileNotFoundError(path)
        return files[path]


class Broken:
    """A back end that answers nothing while a `lost` line says so, and else what the real one
    says.
    """

    def __init__(self, real: Any, name: str, incident: Incident, clock: Clock) -> None:
        self._real, self._name, self._incident, self._clock = real, name, incident, clock

    def __getattr__(self, name: str) -> Any:
        # one that it does not have stays one that it does not have
        member = getattr(self._real, name)
        losses = self._incident.until(self._clock.now, "lost")
        if losses and self._name in losses[-1]["lost"] and callable(member):
            return self._fails(losses[-1]["why"])
        return member

    @staticmethod
    def _fails(why: str) -> Any:
        def fail(*args: Any) -> Any:
            raise OSError(why)

        return fail
