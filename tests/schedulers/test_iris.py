"""Iris, by a stand-in for its command line, of each of its three generations."""

import json
import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from os import kill, utime
from pathlib import Path

import pytest

from herorun.core.errors import CouldNotLook, WrongUse
from herorun.core.evidence import JobState
from herorun.core.ports import Absent, Found, Place, Unknown
from herorun.schedulers import iris
from herorun.schedulers._iris import client as iris_client
from ports.scheduler_suite import SECRET, WEIRD, Rig, SchedulerSuite, SharesLooks, long_ago
from wording import mentions

STAND_IN = Path(__file__).parents[1] / "services" / "iris_stand_in.py"


@dataclass(frozen=True)
class Cluster:
    """A folder with a program `iris` in it."""

    folder: Path

    def write(self, name: str, value: object) -> None:
        (self.folder / name).write_text(json.dumps(value))

    @property
    def program(self) -> str:
        return str(self.folder / "iris")

    def questions(self, words: str = "") -> list[str]:
        return [line for line in (self.folder / "asked").read_text().splitlines() if words in line]

    def adapter(self, state: Path, **options: object) -> iris.Iris:
        fields = {
            "cluster": "marin",
            "user": "ada",
            "program": [self.program],
            "code": "shared",
            **options,
        }
        return iris.connect(
            iris.Options.model_validate(fields), Place("tiny", str(state), "/out", "/repo")
        )

    def row(self, name: str, word: str, **value: object) -> dict[str, object]:
        at = str(int((datetime.now(UTC) - timedelta(minutes=5)).timestamp() * 1000))
        value = {"submitted_at": {"epoch_ms": at}, **value}
        return {"job_id": f"/ada/{name}", "state": f"JOB_STATE_{word}", **value}


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
        patience=60.0,
    )


class IrisSuite(SchedulerSuite, SharesLooks):
    def test_a_missing_secret_is_named_before_anything_starts(
        self, rig: Rig, cluster: Cluster, tmp_path, monkeypatch
    ) -> None:
        """No secret travels to a cluster, so what nobody vouches for is missing, set here or
        not.
        """
        alone = replace(rig, connect=lambda: cluster.adapter(tmp_path / "state"))
        super().test_a_missing_secret_is_named_before_anything_starts(alone, monkeypatch)

    def test_nothing_is_split_quoted_or_expanded_on_the_way(self, rig: Rig) -> None:
        """Iris keeps lines: the suite's own test ends its output without one."""
        (rig.code / WEIRD).mkdir()
        argv = ("sh", "-c", 'printf "%s|" "$1" "$ODD" "$PWD"; echo', "sh", WEIRD)
        submission = rig.job("", argv=argv, cwd=WEIRD)
        rig.run(replace(submission, env={**submission.env, "ODD": WEIRD}))
        assert rig.tail("tiny-1") == f"{WEIRD}|{WEIRD}|{rig.code.resolve() / WEIRD}|\n"


@pytest.mark.thorough
class TestGenerationC(IrisSuite):
    def test_times_have_a_zone_and_are_in_order(self, rig: Rig) -> None:
        """Tables tell only when it was submitted."""
        before = datetime.now(UTC) - timedelta(seconds=1)
        job = rig.run(rig.job("exit 0"))
        assert before <= job.submitted <= datetime.now(UTC)
        assert (job.started, job.ended) == (None, None)


@pytest.mark.thorough
class TestGenerationA(IrisSuite):
    @pytest.fixture
    def generation(self) -> str:
        return "A"

    def test_times_have_a_zone_and_are_in_order(self, rig: Rig) -> None:
        before = datetime.now(UTC) - timedelta(seconds=1)
        job = rig.run(rig.job("exit 0"))
        assert before <= job.submitted <= job.started <= job.ended <= datetime.now(UTC)


# --- what only Iris does --------------------------------------------------------------------------


@pytest.mark.thorough
def test_the_code_and_the_admission_travel_in_the_bundle(
    rig: Rig, cluster: Cluster, tmp_path: Path
) -> None:
    """And nothing of it stays behind."""
    (rig.code / "hello").write_text("hello")
    (tmp_path / "admission.json").write_text('{"plan": "sha256:1"}\n')
    state = tmp_path / "state"
    far = replace(
        rig,
        connect=lambda: cluster.adapter(state, code="bundle"),
        admission=str(tmp_path / "admission.json"),
    )
    far.run(
        far.job('cat "$HERORUN_ADMISSION" "$HERORUN_CODE/hello"; test "$PWD" = "$HERORUN_CODE"')
    )
    assert far.tail("tiny-1") == '{"plan": "sha256:1"}\nhello\n'
    assert not list((state / "iris").glob("bundle-*"))


def test_nothing_is_submitted_while_another_instance_may_live(rig: Rig, cluster: Cluster) -> None:
    """A job that another cluster has not taken yet still starts one day."""
    cluster.write(
        "others.json", [cluster.row("tiny-1", "PENDING", pending_reason="Pending on peer x")]
    )
    with pytest.raises(WrongUse, match="/ada/tiny-1 is pending"):
        rig.submit(rig.job("true", number=2))
    cluster.write("others.json", [cluster.row("tiny-1", "ZOMBIE")])
    with pytest.raises(WrongUse, match="/ada/tiny-1 is unknown"):
        rig.submit(rig.job("true", number=2))
    assert not (cluster.folder / "jobs").exists()


@pytest.mark.thorough
def test_a_name_that_was_used_is_never_used_again(rig: Rig, cluster: Cluster) -> None:
    """Iris would replace the ended job, which it has forgotten here."""
    rig.run(rig.job("exit 0"))
    for spec in cluster.folder.glob("jobs/*/log"):
        spec.unlink()
    answer = rig.connect().find("tiny-1", long_ago())
    assert isinstance(answer, Unknown) and answer.forgotten
    with pytest.raises(CouldNotLook, match=r"submitted.*here"):
        rig.submit(rig.job("exit 0"))
    assert len(cluster.questions("job run --no-wait")) == 1


def test_what_iris_may_have_forgotten_is_not_absent(rig: Rig) -> None:
    answer = rig.connect().find("tiny-1", datetime.now(UTC) - timedelta(days=2))
    assert isinstance(answer, Unknown) and answer.forgotten and "forgotten" in answer.why


@pytest.mark.thorough
def test_a_submission_whose_answer_was_lost_is_looked_for(rig: Rig, cluster: Cluster) -> None:
    cluster.write("lost.json", True)
    job = rig.submit(rig.job("sleep 30"))
    assert (job.id, job.state.live) == ("/ada/tiny-1", True)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"code": 2, "err": "Error: --tpu requires --enable-extra-resources."}, WrongUse),
        ({"code": 1, "err": "x"}, CouldNotLook),
    ],
)
def test_a_refusal_is_for_good_and_anything_else_in_doubt(
    rig: Rig, cluster: Cluster, fields: dict[str, object], error: type[Exception]
) -> None:
    cluster.write("fails.json", {"job run": fields})
    with pytest.raises(error, match="tiny-1") as text:
        rig.submit(rig.job("true"))
    assert "\n" not in str(text.value)
    assert rig.connect().find("tiny-1", long_ago()) == Absent()


@pytest.mark.parametrize(
    "fields",
    [
        {"code": 1, "err": "ConnectError: unavailable"},
        {"out": ""},
        {"out": "Loading config\n"},
        {"code": 2, "err": "Error: No such option"},
    ],
)
def test_a_query_that_failed_is_never_an_absence(
    rig: Rig, cluster: Cluster, fields: dict[str, object]
) -> None:
    cluster.write("fails.json", {"job list": fields})
    assert isinstance(rig.connect().find("tiny-1", long_ago()), Unknown)
    with pytest.raises(CouldNotLook):
        rig.submit(rig.job("true"))
    assert not cluster.questions("job run")


def test_one_list_answers_for_many(rig: Rig, cluster: Cluster) -> None:
    names = [f"tiny-{number}" for number in range(1, 301)]
    cluster.write("others.json", [cluster.row(name, "SUCCEEDED") for name in names])
    answers = rig.connect().find_all(dict.fromkeys(names, long_ago()))
    assert {answer.job.state for answer in answers.values() if isinstance(answer, Found)} == {
        JobState.SUCCEEDED
    }
    assert len(answers) == 300 and len(cluster.questions("job list --prefix")) == 1


def test_diagnostics_whose_names_begin_alike_are_not_the_runs(rig: Rig, cluster: Cluster) -> None:
    alike = ("tiny-1-diag", "tiny-probe", "tiny-1/train", "tiny2-1")
    cluster.write("others.json", [cluster.row(name, "RUNNING") for name in alike])
    assert rig.connect().live_jobs("tiny") == ()
    assert [job.instance for job in rig.connect().other_jobs("tiny")] == [
        "tiny-1-diag",
        "tiny-probe",
    ]


def test_what_iris_would_forward_by_itself_stays_here(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", SECRET)
    monkeypatch.setenv("IRIS_USER", "grace")
    assert not {"HF_TOKEN", "IRIS_USER"} & iris_client.environment().keys()


@pytest.mark.thorough
def test_the_request_is_shown_as_it_is_sent(rig: Rig, cluster: Cluster) -> None:
    text = rig.connect().request(
        rig.job("true", secrets=("TRAINING_TOKEN",)), str(rig.code), rig.admission
    )
    assert mentions(text, "TRAINING_TOKEN", "cluster")
    rig.run(rig.job("true"))
    (command,) = cluster.questions("job run --no-wait")
    assert command.partition(" -- ")[0] in text


@pytest.mark.thorough
def test_a_job_that_has_run_for_days_can_be_stopped(rig: Rig, cluster: Cluster) -> None:
    """For longer than Iris surely remembers one that has ended (`forgets`)."""
    rig.submit(rig.job("sleep 30"))
    (spec,) = cluster.folder.glob("jobs/*tiny-1/spec.json")
    start = (datetime.now(UTC) - timedelta(days=9)).timestamp()
    utime(spec, (start, start))
    rig.connect().stop("tiny-1", "ada@box")
    assert cluster.questions("job cancel")


class TestGenerationB:
    @pytest.fixture
    def generation(self) -> str:
        return "B"

    def test_a_job_is_submitted_found_stopped_and_told_by_its_own_words(
        self, rig: Rig, cluster: Cluster
    ) -> None:
        assert rig.run(rig.job("exit 3")).exit_code == 3
        rig.submit(rig.job("sleep 30", number=2))
        rig.connect().stop("tiny-2", "ada@box")
        job = rig.wait_for_end("tiny-2")
        assert (job.state, job.stopped_by) == (JobState.CANCELLED, "ada@box")
        assert cluster.questions("job summary") and cluster.questions("job stop")
