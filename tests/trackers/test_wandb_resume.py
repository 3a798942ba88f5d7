"""A resume on W&B, with its real client: the steps that the run has already are dropped, and the
record tells the rest.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from builders import answer
from herorun.checks.health.learning_rate_jump import learning_rate_jump
from herorun.checks.health.resume_mismatch import resume_mismatch
from herorun.checks.health.wrong_resume import wrong_resume
from herorun.core.detectors.instances import boundaries_of
from herorun.core.detectors.names import Names
from herorun.core.detectors.pipeline import fold_rows, summarise
from herorun.core.detectors.state import MetricsState
from herorun.core.evidence import History, Instance, Metrics, Nothing, PriorLaunch
from herorun.core.finding import Outcome
from herorun.core.triage.incremental import OwnLog, follow
from herorun.signatures import load_signature_set
from herorun.sources.job_log import job_log_of
from herorun.trackers.wandb import Options, Wandb
from services.wandb_server import KEY
from services.wandb_service import Reader, WandbService
from wording import mentions

pytestmark = pytest.mark.thorough
NAMES = Names()
ResumedRun: TypeAlias = tuple[Metrics, History, str]
START = "/data/tiny/step-120"
PLAN = PriorLaunch("tiny-1", {"start": {"path": START, "step": 120, "kind": "full-state"}})
WRITER = """
import sys, wandb
first, last, rate, factor = (float(word) for word in sys.argv[1:])
run = wandb.init(entity="ent", project="proj", id="tiny", name="Tiny", resume="allow")
for step in range(int(first), int(last)):
    run.log({"train/loss": factor * (2.0 + 0.002 * (step % 3)), "lr": rate}, step=step)
run.finish()
"""


def write(
    wandb: WandbService,
    folder: Path,
    first: int,
    last: int,
    rate: float = 1e-4,
    factor: float = 1.0,
) -> str:
    """What one job logs, and what its client says in the job's log."""
    env = {
        **os.environ,
        "WANDB_BASE_URL": wandb.url,
        "WANDB_DIR": str(folder),
        "WANDB_CONSOLE": "off",
    }
    env = {**env, "WANDB_ERROR_REPORTING": "false", "PYTHONUNBUFFERED": "1"}
    argv = [sys.executable, "-c", WRITER, str(first), str(last), str(rate), str(factor)]
    process = subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, timeout=120)
    assert process.returncode == 0, process.stderr
    return process.stdout + process.stderr


def instance(number: int, at: datetime, start: int) -> Instance:
    return Instance(
        name=f"tiny-{number}",
        number=number,
        job="job",
        plan_digest="sha256:0",
        output_root="/data/tiny",
        started=at,
        commit="c0ffee",
        intended=at,
        start=start,
    )


@pytest.fixture(scope="module")
def first(
    wandb_server: WandbService, tmp_path_factory: pytest.TempPathFactory
) -> tuple[datetime, dict[str, Any]]:
    """When a job of 150 steps began, and what W&B holds of it."""
    begin = datetime.now(UTC)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WANDB_API_KEY", KEY)
        wandb_server.put({})
        write(wandb_server, tmp_path_factory.mktemp("first"), 0, 150)
    return begin, wandb_server.runs()


@pytest.fixture
def resume_run(
    wandb: WandbService,
    wandb_reader: Reader,
    tmp_path: Path,
    first: tuple[datetime, dict[str, Any]],
) -> Callable[..., ResumedRun]:
    """150 steps, then a resume from step 120 up to step 300."""
    begin, runs = first
    wandb.put(runs)
    return partial(resume, wandb, wandb_reader, tmp_path, begin)


def resume(
    wandb: WandbService, reader: Reader, folder: Path, begin: datetime, **second: float
) -> ResumedRun:
    again = datetime.now(UTC)
    log = write(
        wandb, folder, int(second.pop("first", 120)), int(second.pop("last", 300)), **second
    )
    older, newer = instance(0, begin - timedelta(minutes=1), 0), instance(1, again, 120)
    history = History(initialised=True, instances=(older, newer))
    options = Options(entity="ent", project="proj", id="tiny", name="Tiny", base_url=wandb.url)
    rows = Wandb(options, reader).read("").rows
    steps = [row.step for row in rows]
    assert len(steps) == len(set(steps))  # the client dropped what it had: no step is there twice
    state = fold_rows(
        MetricsState(), rows, NAMES, seen_at=datetime.now(UTC), boundaries=boundaries_of(history)
    )
    metrics = summarise(state, NAMES)
    assert metrics is not None
    return metrics, history, log


def test_a_resume_with_16_times_the_learning_rate(resume_run: Callable[..., ResumedRun]) -> None:
    metrics, history, _ = resume_run(rate=16e-4, last=160)
    verdict = answer(learning_rate_jump, metrics, history)

    assert metrics.first_step == 151 and metrics.instance == "tiny-1"
    assert verdict.outcome is Outcome.FAIL
    assert mentions(verdict.message, "learning", "0.0001", "0.0016", "150")


def test_a_level_of_one_and_a_half_per_cent(resume_run: Callable[..., ResumedRun]) -> None:
    metrics, history, _ = resume_run(factor=1.015)

    assert answer(resume_mismatch, metrics, history).outcome is Outcome.FAIL
    assert answer(learning_rate_jump, metrics, history).outcome is Outcome.PASS


def test_a_sound_resume_raises_no_alert(resume_run: Callable[..., ResumedRun]) -> None:
    metrics, history, log = resume_run()
    job_log = job_log_of(
        load_signature_set(), follow(load_signature_set(), OwnLog(instance="tiny-1"), log.encode())
    )

    assert answer(resume_mismatch, metrics, history).outcome is Outcome.PASS
    assert answer(learning_rate_jump, metrics, history).outcome is Outcome.PASS
    assert answer(wrong_resume, PLAN, metrics, history, job_log).outcome is not Outcome.FAIL


def test_a_job_that_begins_from_scratch_is_recognised_by_what_the_client_drops(
    resume_run: Callable[..., ResumedRun],
) -> None:
    """No row of it reaches the tracker, whatever it costs."""
    metrics, history, log = resume_run(first=0, last=100)
    job_log = job_log_of(
        load_signature_set(), follow(load_signature_set(), OwnLog(instance="tiny-1"), log.encode())
    )

    assert metrics.instance == "tiny-0"
    assert job_log.dropped is not None and (job_log.dropped.first, job_log.dropped.newest) == (
        0,
        99,
    )
    verdict = answer(wrong_resume, PLAN, {Metrics: Nothing()}, history, job_log)
    assert verdict.outcome is Outcome.FAIL and mentions(verdict.message, "99", "dropped")
