"""A small world under faults: real runs, a real `babysit --all` that is started again whenever it
ends, and two clones.

Of herorun only the installed command is used, as a person types it.
"""

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from chaos.bucket import Bucket
from chaos.contract import CONTRACT, IMPATIENT
from services.github import REPO, GitHub
from stories import git

HERORUN = (sys.executable, "-P", "-m", "herorun")
SOURCES = str(Path(__file__).parents[2] / "src")
STEPS = 1_000_000
SET = 3600.0  # seconds that a clock is set: longer than any week, to put each moment right


@dataclass
class World:
    """Runs that are launched and watched, until `close`."""

    home: Path
    slugs: tuple[str, ...]
    step_time: float = 0.05  # seconds
    saved_every: int = 20  # steps
    github: GitHub | None = None  # the issues are there, in place of files
    bucket: Bucket | None = None  # the output root of the last run, in place of a folder
    impatient: bool = False  # a hang of seconds is one, which a busy machine makes by itself
    other_clock: bool = False  # one that `set_clock` moves: for all that is started here
    sitter: subprocess.Popen[bytes] | None = None
    closing: bool = False
    room: threading.Lock = field(default_factory=threading.Lock)  # rows that must be written
    hour: threading.Lock = field(default_factory=threading.Lock)  # of the clock, while it is wrong
    busy: set[str] = field(default_factory=set)  # runs that something is done to
    commands: list[dict[str, Any]] = field(default_factory=list)
    before: dict[str, str] = field(default_factory=dict)

    @property
    def work(self) -> Path:
        return self.home / "work"

    @property
    def other(self) -> Path:
        return self.home / "other"

    @property
    def origin(self) -> Path:
        return self.home / "origin.git"

    @property
    def state(self) -> Path:
        return self.work / ".herorun"

    @property
    def log(self) -> Path:
        return self.home / "babysit.log"

    def begin(self) -> "World":
        """Publish the code, launch every run, and let one process watch them all."""
        for name in ("out", "starts"):
            (self.home / name).mkdir(exist_ok=True)
        git(self.home, "init", "-q", "--bare", "-b", "main", str(self.origin))
        git(self.work, "init", "-q", "-b", "main")
        git(self.work, "remote", "add", "origin", str(self.origin))
        for key, value in (("user.name", "Dri"), ("user.email", "dri@example.org")):
            git(self.work, "config", key, value)
        self._write()
        git(self.work, "add", "-A")
        git(self.work, "commit", "-q", "-m", "the training code")
        git(self.work, "push", "-q", "-u", "origin", "HEAD:main")
        git(self.home, "clone", "-q", str(self.origin), str(self.other))
        shutil.copytree(Path(__file__).parent / "clock", self.home / "clock")
        self.set_clock(0)
        if self.bucket is not None:
            self.bucket.begin()
            threading.Thread(target=self._keep_copied, args=(self.bucket,), daemon=True).start()
        for slug in self.slugs:
            for argv in (("init", slug), ("launch", slug, "--yes", "--no-babysit")):
                assert self.herorun(*argv) == 0, self.commands[-1]
        self.before = self.fingerprint()
        threading.Thread(target=self._keep_up, daemon=True).start()
        return self

    def _write(self) -> None:
        (self.work / "train.py").write_text((Path(__file__).parent / "train.py").read_text())
        (self.work / ".gitignore").write_text("/.herorun/\n")
        (self.work / "runs").mkdir()
        for slug in self.slugs:
            text = CONTRACT.format(
                slug=slug,
                home=self.home,
                root=self._output(slug),
                python=sys.executable,
                every=self.saved_every,
                issue=self._issue,
            )
            text += IMPATIENT if self.impatient else ""
            (self.work / "runs" / f"{slug}.toml").write_text(text)
            tables = {
                "root": str(self.root(slug)),
                "output": self._output(slug),
                "starts": str(self.starts_file(slug)),
                "orders": str(self.orders_file(slug)),
                "id": slug,
            }
            lines = [f"{name} = {json.dumps(value)}" for name, value in tables.items()]
            lines += [
                f"steps = {STEPS}",
                f"every = {self.saved_every}",
                f"step_time = {self.step_time}",
            ]
            (self.work / f"config-{slug}.toml").write_text("\n".join(lines) + "\n")

    def in_bucket(self, slug: str) -> bool:
        return self.bucket is not None and slug == self.slugs[-1]

    def _output(self, slug: str) -> str:
        """The output root, as the contract names it."""
        if self.bucket is not None and self.in_bucket(slug):
            return self.bucket.root(slug)
        return str(self.root(slug))

    def _keep_copied(self, bucket: Bucket) -> None:
        while not self.closing:
            bucket.copy(self.slugs[-1], self.root(self.slugs[-1]))
            time.sleep(0.1)

    @property
    def _issue(self) -> str:
        if self.github is None:
            return '{ kind = "local" }'
        return f'{{ kind = "github", repo = "{REPO}", base_url = "{self.github.url}" }}'

    def set_clock(self, seconds: float) -> None:
        """So far from the real one, for every process of this world at once."""
        aside = self.home / "clock" / "aside"
        aside.write_text(str(seconds))
        aside.rename(aside.with_name("seconds"))

    def _keep_up(self) -> None:
        """As a service manager does."""
        while not self.closing:
            with self.log.open("ab") as log:
                self.sitter = subprocess.Popen(
                    [*HERORUN, "babysit", "--all"],
                    cwd=self.work,
                    env=self._environment,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            self.sitter.wait()
            time.sleep(0.5)

    @property
    def _environment(self) -> dict[str, str]:
        variables = {
            **os.environ,
            "PYTHONPATH": SOURCES,
            "CHAOS_WORLD": str(self.home),
            "NO_COLOR": "1",
        }
        variables |= {"GITHUB_TOKEN": "token-of-dri", "HERORUN_TRUST": "all"}
        if self.bucket is not None:
            variables["STORAGE_EMULATOR_HOST"] = self.bucket.server.url
        variables.pop(
            "PYTHONDONTWRITEBYTECODE", None
        )  # each command would compile all that it imports
        return variables | (
            {"PYTHONPATH": f"{SOURCES}:{self.home / 'clock'}"} if self.other_clock else {}
        )

    def herorun(self, *argv: str, where: Path | None = None) -> int:
        process = subprocess.run(
            [*HERORUN, *argv],
            cwd=where or self.work,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        self.commands.append(
            {"words": argv, "code": process.returncode, "said": process.stdout + process.stderr}
        )
        return process.returncode

    def second_babysitter(self, slug: str, host: str = "") -> subprocess.Popen[bytes]:
        """Of the same user, in another clone; on a host of that name, in a network of its own,
        where one is given.
        """
        elsewhere = (
            ["unshare", "--uts", "--net", "sh", "-c", f'hostname {host}; exec "$@"', "sh"]
            if host
            else []
        )
        return subprocess.Popen(
            [*elsewhere, *HERORUN, "babysit", slug],
            cwd=self.other,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def root(self, slug: str) -> Path:
        return self.home / "out" / slug

    def starts_file(self, slug: str) -> Path:
        return self.home / "starts" / f"{slug}.jsonl"

    def orders_file(self, slug: str) -> Path:
        return self.home / "starts" / f"{slug}.order"

    def ticks(self, slug: str) -> int:
        """How often the run was observed."""
        tip = f"refs/herorun/record/{slug}"
        return git(self.work, "grep", "-h", "", tip, "--", "*.journal/*").count('"kind":"Observed"')

    def newest_saved(self, slug: str) -> int:
        """The step of the checkpoint that was completed last."""
        markers = self.root(slug).glob("step-*/metadata.json")
        return int(max(markers, key=lambda path: path.stat().st_mtime).parent.name[5:])

    def has_told(self, slug: str, checks: str, since: float) -> bool:
        """Whether the issue says that one of these checks has fired since then."""
        marks = re.findall(r"<!-- herorun key=(\S+) -->", self.page(slug))
        keys = [re.match(r"tell/([a-z-]+).*@(.+)/firing", unquote(mark)) for mark in marks]
        firing_times = [(key[1], datetime.fromisoformat(key[2]).timestamp()) for key in keys if key]
        return any(
            re.fullmatch(checks, check) and at - SET * round((at - since) / SET) >= since - 1
            for check, at in firing_times
        )

    def starts(self, slug: str) -> list[dict[str, Any]]:
        """Every job that really began, in order."""
        with suppress(FileNotFoundError):
            return [json.loads(line) for line in self.starts_file(slug).read_text().splitlines()]
        return []

    def page(self, slug: str) -> str:
        """All that was said in the run's issue."""
        if self.github is not None:
            return self.github.read_messages(1 + self.slugs.index(slug))
        return (self.state / slug / "issue.md").read_text()

    def kill_job(self, slug: str) -> str | None:
        """The newest job, killed; None where it had ended already."""
        newest = self.starts(slug)[-1]
        with suppress(ProcessLookupError):
            os.kill(newest["pid"], signal.SIGKILL)
            return str(newest["instance"])
        return None

    def step(self, slug: str) -> int:
        """The highest that was logged."""
        with suppress(FileNotFoundError):
            text = (self.root(slug) / "metrics.jsonl").read_text()
            return max(map(int, re.findall(r'"step": (\d+), "train/loss"', text)), default=0)
        return 0

    def fingerprint(self) -> dict[str, str]:
        """What is the user's in the clone: files, index, HEAD and refs."""
        git_ours = (
            "objects",
            "herorun",
            "refs/herorun",
            "refs/remotes",
            "logs/refs/remotes",
            "packed-refs",
        )
        ours = (".herorun", *(f".git/{name}" for name in git_ours))
        digests = {}
        for path in sorted(self.work.rglob("*")):
            name = str(path.relative_to(self.work))
            if path.is_file() and not name.startswith(ours):
                digests[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        return digests

    def processes(self) -> Iterator[int]:
        """All that this world started and that still runs: its folder stands in each environment, a
        job's too.
        """
        mark = str(self.home).encode()
        for path in Path("/proc").glob("[0-9]*/environ"):
            with suppress(OSError):
                if mark in path.read_bytes():
                    yield int(path.parent.name)

    def end_watch(self) -> None:
        """The babysitter ends, and what waited goes out."""
        self.closing = True
        if self.sitter is not None and self.sitter.poll() is None:
            self.sitter.terminate()
            self.sitter.wait(60)
        for slug in self.slugs:
            self.herorun("babysit", slug, "--once")

    def close(self) -> None:
        self.closing = True
        for pid in list(self.processes()):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
