"""What takes a job on Ray away: a lost node, and Ray's memory monitor. On a real cluster of two
nodes.
"""

import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from herorun.core.evidence import Job, JobState
from herorun.core.ports import Found, Place, Submission
from herorun.schedulers import ray
from herorun.system.clock import now
from services.ray_service import Head, own_head, second_node
from services.servers import PYTHON
from wording import mentions

pytestmark = pytest.mark.back_end

PATIENCE = 120.0
QUICKLY = {  # a lost node is noticed within two seconds; the default is half a minute
    "RAY_health_check_initial_delay_ms": "0",
    "RAY_health_check_period_ms": "500",
    "RAY_health_check_timeout_ms": "1000",
    "RAY_health_check_failure_threshold": "2",
    "RAY_memory_monitor_refresh_ms": "0",  # of the head: what looks after memory is the other node
}
ROOM = 1_000_000_000  # bytes that may be taken beyond what is in use, before Ray kills somebody
HUNGRY = (
    "import time; taken = []\nfor _ in range(80): taken.append(bytearray(b'1') * 50_000_000); "
    "time.sleep(0.02)\ntime.sleep(30)"
)
TASK = """\
import ray, time
ray.init(logging_level="error")
@ray.remote(num_cpus=0, resources={"far": 0.1}, max_retries=0)
def train(script):
    exec(script)
"""
ACTOR = """\
import ray, time
ray.init(logging_level="error")
@ray.remote(num_cpus=0, resources={"far": 0.1})
class Worker:
    def train(self, script):
        exec(script)
"""


@dataclass
class Jobs:
    """Jobs of one head. The driver of a gang runs on the head, its worker on the other node."""

    head: Head
    folder: Path

    def adapter(self, **options: object) -> ray.Ray:
        fields = {
            "address": self.head.url,
            "code": "shared",
            "settle": "200ms",
            "grace": "1s",
            **options,
        }
        place = Place("tiny", str(self.folder / "state"), "/out", "/repo")
        return ray.connect(ray.Options.model_validate(fields), place)

    def far(self, number: int, *argv: str) -> None:
        """One whose command itself runs on the other node."""
        self._submit(number, argv, resources={"far": 0.1})

    def gang(self, number: int, kind: str, worker: str) -> None:
        call = "train.remote" if kind == TASK else "Worker.remote().train.remote"
        self._submit(number, (str(PYTHON), "-c", f"{kind}ray.get({call}({worker!r}))"))

    def _submit(self, number: int, argv: tuple[str, ...], **options: object) -> None:
        submission = Submission(f"tiny-{number}", argv, ".", {}, ())
        self.adapter(**options).submit(submission, str(self.folder / "code"), "")

    def until(self, number: int, true: Callable[[Job], object]) -> Job:
        end = time.monotonic() + PATIENCE
        while True:
            search = self.adapter().find(f"tiny-{number}", now() - timedelta(hours=1))
            if isinstance(search, Found) and true(search.job):
                return search.job
            assert time.monotonic() < end, search
            time.sleep(0.1)

    def sign(self, number: int) -> Path:
        """A file that its worker makes when it has begun."""
        return self.folder / f"begun-{number}"

    def wait_for_begin(self, *numbers: int) -> None:
        end = time.monotonic() + PATIENCE
        while not all(self.sign(number).exists() for number in numbers):
            assert time.monotonic() < end, list(self.folder.iterdir())
            time.sleep(0.1)


@pytest.fixture(scope="module")
def jobs(needs_ray: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Jobs]:
    folder = tmp_path_factory.mktemp("losses")
    (folder / "code").mkdir()
    with own_head(Path(tempfile.mkdtemp(prefix="hr-")), env=QUICKLY) as head:
        yield Jobs(head, folder)


@contextmanager
def other_node(jobs: Jobs, **env: str) -> Iterator[int]:
    """The process id of its raylet."""
    with (
        tempfile.TemporaryDirectory(prefix="hr-") as folder,
        second_node(Path(folder), jobs.head, "far", env) as raylet,
    ):
        yield raylet


def has_ended(job: Job) -> bool:
    return job.state.is_final


def test_a_lost_node_is_told_whether_it_had_the_command_or_its_workers(jobs: Jobs) -> None:
    with other_node(jobs, RAY_memory_monitor_refresh_ms="0") as raylet:
        jobs.far(1, "sh", "-c", f"echo > {jobs.sign(1)}; sleep 300")
        jobs.gang(2, TASK, f"import time; open('{jobs.sign(2)}', 'w'); time.sleep(300)")
        jobs.gang(3, ACTOR, f"import time; open('{jobs.sign(3)}', 'w'); time.sleep(300)")
        jobs.wait_for_begin(1, 2, 3)
        os.kill(raylet, signal.SIGKILL)
        untils = [jobs.until(number, has_ended) for number in (1, 2, 3)]
    assert [job.state for job in untils] == [JobState.NODE_FAILED] * 3, untils
    assert [job.exit_code for job in untils] == [None, 1, 1]
    assert len({job.failed_on for job in untils}) == 1 and len(untils[0].failed_on) == 1
    assert all(job.has_crashed for job in untils)
    assert mentions(untils[0].reason, "node", "died")
    assert mentions(untils[1].reason, "task", "lost")


def test_what_rays_memory_monitor_killed_is_out_of_memory(jobs: Jobs) -> None:
    limit = {
        "RAY_memory_monitor_refresh_ms": "100",
        "RAY_memory_usage_threshold": f"{_a_little_more():.4f}",
    }
    with other_node(jobs, **limit):
        jobs.gang(4, TASK, HUNGRY)
        by_task = jobs.until(4, has_ended)
        jobs.gang(5, ACTOR, HUNGRY)
        by_actor = jobs.until(5, has_ended)
        jobs.far(6, str(PYTHON), "-c", HUNGRY)
        by_command = jobs.until(6, has_ended)
    killed_jobs = [by_task, by_actor, by_command]
    assert [job.state for job in killed_jobs] == [JobState.OUT_OF_MEMORY] * 3, killed_jobs
    assert [job.exit_code for job in killed_jobs] == [1, 1, None]
    assert mentions(by_task.reason, "killed", "task")
    assert mentions(by_command.reason, "running", "memory")


def _a_little_more() -> float:
    """The part of this machine's memory that is in use, and some room."""
    words = (line.split() for line in Path("/proc/meminfo").read_text().splitlines())
    numbers = {name: int(size) * 1024 for name, size, *_ in words}
    used_memory = numbers["MemTotal:"] - numbers["MemAvailable:"]
    return min((used_memory + ROOM) / numbers["MemTotal:"], 0.95)
