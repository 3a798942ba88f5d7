"""A machine on which the commands of a page are typed: the real ones, in a scratch folder."""

import contextlib
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from herorun import cli
from herorun.schedulers._instance import StartedProcess, decode_record
from herorun.system.files import is_locked
from herorun.system.process_registry import registered_watchers, retire
from pages.blocks import Typed
from stories import eventually, forget

ENV = {
    "GIT_AUTHOR_NAME": "Dri",
    "GIT_AUTHOR_EMAIL": "dri@example.org",
    "GIT_COMMITTER_NAME": "Dri",
    "GIT_COMMITTER_EMAIL": "dri@example.org",
    "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
    "COLUMNS": "200",
}


@dataclass(frozen=True)
class PostedComment:
    """How one command ended. The scratch folder reads `/home/you`, and its `data` reads `/data`."""

    command: Typed
    code: int
    out: str
    err: str


@dataclass
class World:
    home: Path
    here: Path
    posted_comments: list[PostedComment] = field(default_factory=list)

    def real(self, text: str) -> str:
        """What a page writes as `/data/...` and `/home/you/...`, where it lies here."""
        text = re.sub(r"(?<![\w/.])/data/", f"{self.home}/data/", text)
        return re.sub(r"(?<![\w/.])/home/you(?=/)", str(self.home), text)

    def screen_text(self, text: str) -> str:
        return text.replace(f"{self.home}/data/", "/data/").replace(str(self.home), "/home/you")

    def write(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            path = self.here / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.real(text))

    def type(self, command: Typed) -> PostedComment:
        """As somebody would who follows the page from its beginning."""
        line = self.real(command.line)
        if line.startswith("cd "):
            self.here /= line.removeprefix("cd ")
            code, out, err = 0, "", ""
        elif line.startswith("herorun ") and not re.search(
            r"[|><&;~]", re.sub(r"'[^']*'", "", line)
        ):
            code, out, err = self._herorun(shlex.split(line)[1:])
        else:
            process = subprocess.run(
                ["sh", "-c", line], cwd=self.here, capture_output=True, text=True, timeout=60
            )
            code, out, err = process.returncode, process.stdout, process.stderr
        self.posted_comments.append(
            PostedComment(command, code, self.screen_text(out), self.screen_text(err))
        )
        return self.posted_comments[-1]

    def _herorun(self, argv: list[str]) -> tuple[int, str, str]:
        """In this process, which remembers nothing of an earlier call."""
        forget()
        out, err = io.StringIO(), io.StringIO()
        with (
            contextlib.chdir(self.here),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            code = cli.run(argv)
        return code, out.getvalue(), err.getvalue()

    # --- the jobs ---------------------------------------------------------------------------------

    def wait_for_end(self, instance: str) -> None:
        """Wait until nothing of the instance runs any more."""
        slug = instance.rpartition("-")[0]
        jobs = self.here / ".herorun" / slug / "jobs"
        eventually(lambda: (jobs / instance).exists() and not is_locked(jobs / f"{instance}.lock"))

    def end(self) -> None:
        """End what was started here, each by its own record."""
        for each in registered_watchers().values():
            if each and retire(each):
                eventually(lambda each=each: not each.lives)
        for lock in self.home.glob("*/.git/herorun/*.babysitter.lock"):
            if is_locked(lock):
                _end_babysitter(lock)
        for top in self.home.glob("*/.herorun"):
            for path in top.glob("*/jobs/*/started.json"):
                start_record = decode_record(StartedProcess, path.read_bytes())
                if start_record.lives:
                    os.killpg(start_record.pid, signal.SIGKILL)
            for lock in top.glob("*/jobs/*.lock"):
                eventually(lambda lock=lock: not is_locked(lock))


def _end_babysitter(lock: Path) -> None:
    """By its heartbeat, once it has one: an earlier one may be of a single tick in this process."""
    heart = lock.parents[2] / ".herorun" / lock.name.partition(".")[0] / "heartbeat.json"

    def beats() -> int:
        pid = int(json.loads(heart.read_text())["pid"]) if heart.exists() else 0
        return pid if pid != os.getpid() else 0

    eventually(beats)
    os.kill(beats(), signal.SIGKILL)
    eventually(lambda: not is_locked(lock))
