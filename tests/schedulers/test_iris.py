"""Iris, by a stand-in for its command line, of each of its three generations."""

import json
import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from os import kill
from pathlib import Path

import pytest

from herorun.core.ports import Place
from herorun.schedulers import iris
from ports.scheduler_suite import SECRET, WEIRD, Rig, SchedulerSuite

STAND_IN = Path(__file__).parents[1] / "services" / "iris_stand_in.py"


@dataclass(frozen=True)
class Cluster:
    """A folder with a program `iris` in it."""

    folder: Path

    def write(self, name: str, told: object) -> None:
        (self.folder / name).write_text(json.dumps(told))

    @property
    def program(self) -> str:
        return str(self.folder / "iris")

    def asked(self, words: str = "") -> list[str]:
        return [line for line in (self.folder / "asked").read_text().splitlines() if words in line]

    def adapter(self, state: Path, **options: object) -> iris.Iris:
        told = {"cluster": "marin", "user": "ada", "program": [self.program], "code": "shared", **options}
        return iris.connect(iris.Options.model_validate(told), Place("tiny", str(state), "/out", "/repo"))

    def row(self, name: str, word: str, **told: object) -> dict[str, object]:
        at = str(int((datetime.now(UTC) - timedelta(minutes=5)).timestamp() * 1000))
        told = {"submitted_at": {"epoch_ms": at}, **told}
        return {"job_id": f"/ada/{name}", "state": f"JOB_STATE_{word}", **told}


@pytest.fixture
def generation() -> str:
    return "C"


@pytest.fixture
def cluster(tmp_path: Path, generation: str) -> Iterator[Cluster]:
    folder = tmp_path / "cluster"
    folder.mkdir()
    words = [sys.executable, "-I", "-S", str(STAND_IN), generation, str(folder)]
    (folder / "iris").write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    (folder / "iris").chmod(0o755)
    yield Cluster(folder)
    for pid in folder.glob("jobs/*/pid"):
        if not (pid.parent / "exit").exists():
            with suppress(ProcessLookupError):
                kill(int(pid.read_text()), signal.SIGKILL)


@pytest.fixture
def rig(cluster: Cluster, tmp_path: Path) -> Rig:
    code, state = tmp_path / "code", tmp_path / "state"
    code.mkdir()
    cluster.write("environment.json", {"TRAINING_TOKEN": SECRET})
    deaf = tmp_path / "deaf"
    deaf.write_text("#!/bin/sh\nexec sleep 30\n")
    deaf.chmod(0o755)

    def traces() -> Iterator[bytes]:
        yield from (path.read_bytes() for path in state.rglob("*") if path.is_file())
        yield from (path.read_bytes() for path in cluster.folder.glob("jobs/*/log"))
        for spec in cluster.folder.glob("jobs/*/spec.json"):
            yield json.dumps(json.loads(spec.read_text())["words"]).encode()

    return Rig(
        connect=lambda: cluster.adapter(state, secrets="on-cluster"),
        blind=lambda: cluster.adapter(state, program=[str(deaf)], timeout="500ms"),
        traces=traces,
        code=code,
        patience=30.0,
    )


class IrisSuite(SchedulerSuite):
    def test_a_missing_secret_is_named_before_anything_starts(
        self, rig: Rig, cluster: Cluster, tmp_path, monkeypatch
    ) -> None:
        """No secret travels to a cluster, so what nobody vouches for is missing, set here or not."""
        alone = replace(rig, connect=lambda: cluster.adapter(tmp_path / "state"))
        super().test_a_missing_secret_is_named_before_anything_starts(alone, monkeypatch)

    def test_nothing_is_split_quoted_or_expanded_on_the_way(self, rig: Rig) -> None:
        """Iris keeps lines: the suite's own test ends its output without one."""
        (rig.code / WEIRD).mkdir()
        argv = ("sh", "-c", 'printf "%s|" "$1" "$ODD" "$PWD"; echo', "sh", WEIRD)
        submission = rig.job("", argv=argv, cwd=WEIRD)
        rig.run(replace(submission, env={**submission.env, "ODD": WEIRD}))
        assert rig.tail("tiny-1") == f"{WEIRD}|{WEIRD}|{rig.code.resolve() / WEIRD}|\n"


class TestGenerationC(IrisSuite):
    def test_times_have_a_zone_and_are_in_order(self, rig: Rig) -> None:
        """Tables tell only when it was submitted."""
        before = datetime.now(UTC) - timedelta(seconds=1)
        job = rig.run(rig.job("exit 0"))
        assert before <= job.submitted <= datetime.now(UTC)
        assert (job.started, job.ended) == (None, None)


class TestGenerationA(IrisSuite):
    @pytest.fixture
    def generation(self) -> str:
        return "A"

    def test_times_have_a_zone_and_are_in_order(self, rig: Rig) -> None:
        before = datetime.now(UTC) - timedelta(seconds=1)
        job = rig.run(rig.job("exit 0"))
        assert before <= job.submitted <= job.started <= job.ended <= datetime.now(UTC)
