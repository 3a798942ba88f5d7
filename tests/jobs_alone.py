"""Real jobs that nobody planned: supervised processes of a folder, started by a script as a person
would.
"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from commands.answers import Answer
from herorun import cli
from herorun.core.evidence import Job
from herorun.core.ports import Place, Submission
from herorun.schedulers import local
from stories import eventually

PREEMPTED_JOB = (
    "echo step 7/20; echo 'slurmstepd: error: *** JOB 1 CANCELLED DUE TO PREEMPTION ***'; exit 1"
)
BUG = (
    'printf \'Traceback (most recent call last):\\n  File "train.py", line 3, in <module>\\n    '
    "go()\\nNameError: name x is not defined\\n'; exit 1"
)
GOES = "echo step 9/20; until [ -e go ]; do sleep 0.05; done"
AGAIN = """\
import sys
sys.path[:0] = {path!r}
from pathlib import Path
from jobs_alone import Alone
alone = Alone(Path({folder!r}))
job = alone.start(sys.argv[1])
print("Job submitted:", alone.place(job))
"""


@dataclass(frozen=True)
class Alone:
    """Each command ends by itself, or waits for the file `go`."""

    folder: Path

    def start(self, command: str) -> Job:
        """The next instance of `loose`."""
        number = len(self.all) + 1
        admission = self.folder / "admission.json"
        admission.write_text("{}")
        submission = Submission(f"loose-{number}", ("sh", "-c", command), ".", {}, ())
        return self.adapter.submit(submission, str(self.folder), str(admission))

    @property
    def adapter(self) -> local.Local:
        place = Place("loose", str(self.folder), str(self.folder), str(self.folder))
        return local.connect(local.Options(), place)

    @property
    def all(self) -> list[str]:
        jobs = self.folder / "jobs"
        return (
            sorted(path.name for path in jobs.iterdir() if path.is_dir()) if jobs.exists() else []
        )

    def place(self, job: Job | str) -> str:
        return str(self.folder / "jobs" / (job if isinstance(job, str) else job.instance))

    def again(self, command: str) -> str:
        """A command that submits the next one and says its id."""
        script = self.folder / "again.py"
        folder = str(Path(__file__).parent)
        script.write_text(
            AGAIN.format(path=[folder, str(Path(folder).parent / "src")], folder=str(self.folder))
        )
        return f"{sys.executable} {script} {json.dumps(command)}"

    def end(self) -> None:
        """Nothing of it runs afterwards: their folder is about to go, and with it what they wait
        for.
        """
        (self.folder / "go").touch()
        for name in self.all:
            self.adapter.stop(name, "the test")
        eventually(lambda: not self.adapter.live_jobs("loose"))


def babysit(alone: Alone, capsys: pytest.CaptureFixture[str], *argv: str) -> Answer:
    return ask_babysit(alone, capsys, "babysit", *argv)


def ask_babysit(alone: Alone, capsys: pytest.CaptureFixture[str], *argv: str) -> Answer:
    capsys.readouterr()
    code = cli.run(["-C", str(alone.folder), *argv])
    output = capsys.readouterr()
    assert "Traceback" not in output.err
    return Answer(code, output.out, output.err)


def state(alone: Alone) -> Any:
    (path,) = (alone.folder / "scratch").iterdir()
    return json.loads(path.read_text())
