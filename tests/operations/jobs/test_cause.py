"""Why a job without a contract failed: the root in its own log, everywhere that it is told."""

import json
import re
from pathlib import Path

import pytest

from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.operations.babysit.outcome import tick_exit_code
from herorun.operations.babysit.tick import poll, run_tick
from herorun.operations.jobs.folders import jobs_home
from herorun.operations.jobs.run import open_job
from jobs_alone import GOES, Alone, babysit, state
from stories import eventually, note

HBM = (
    "XlaRuntimeError: RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used 33.9G of "
    "31.2G hbm. Exceeded hbm capacity by 2.7G."
)
SHARD = "EOFError: Compressed file ended before the end-of-stream marker was reached"
TRACE = 'Traceback (most recent call last):\n  File "/w/data.py", line 12, in read\n    go()\n'


def _fail_job(alone: Alone, text: str) -> str:
    (alone.folder / "said").write_text(text)
    job = alone.start(f"echo step 7/20; cat {alone.folder / 'said'}; exit 1")
    eventually(lambda: (search := alone.adapter.find(job.instance, note("x").at)) and search.job)
    eventually(lambda: not alone.adapter.live_jobs("loose"))
    return alone.place(job)


@pytest.mark.parametrize(
    ("text", "failure", "output"),
    [
        (f"{TRACE}{HBM}\n", "hbm-exhaustion", "hbm"),
        (f"reading shard 00017 of the data\n{TRACE}{SHARD}\n", "data", "Compressed file ended"),
    ],
)
def test_exhausted_hbm_and_a_broken_shard_are_called_so_on_the_screen_the_page_and_in_json(
    alone: Alone, capsys: pytest.CaptureFixture[str], text: str, failure: str, output: str
) -> None:
    words = ("--job", _fail_job(alone, text), "--scheduler", "local", "--once")
    command = ("--resubmit", alone.again(GOES))
    cause = json.loads(babysit(alone, capsys, *words, *command, "--json").out)["cause"]
    assert (cause["failure"], cause["effort"]) == (failure, "complex")
    assert output in cause["excerpt"] and cause["advice"]
    assert f"cause    {failure}" in babysit(alone, capsys, *words).out
    page = re.sub("<!--.*?-->", "", next(jobs_home().glob("*/issue.md")).read_text())
    assert failure in page and "code-bug" not in page
    assert failure in state(alone)["last_signal"]
    assert alone.all == ["loose-1"]  # neither is cured by the same command


def test_an_old_failure_in_an_appended_log_is_over_once_steps_follow_it(
    alone: Alone, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    log = tmp_path / "appended.log"
    steps = "".join(f"step {n}/90 loss 2\n" for n in range(8, 50))
    log.write_text(f"step 7/90 loss 2\n{TRACE}{HBM}\n")
    job = alone.place(alone.start(f"printf '{steps}' >> {log}; {GOES}"))
    eventually(lambda: "step 49" in log.read_text())
    words = ("--job", job, "--scheduler", "local", "--log", str(log), "--once")
    answer = babysit(alone, capsys, *words)
    assert answer.code == 0 and "healthy" in answer.out, answer
    assert "hbm" not in (answer.out + answer.err).lower()

    with log.open("a") as file:
        file.write(f"{TRACE}{HBM}\n")
    again = babysit(alone, capsys, *words)
    assert "hbm" in (again.out + again.err).lower()  # a failure that no step follows


def test_the_tick_of_a_run_is_that_of_a_job_without_a_contract(alone: Alone) -> None:
    job = _fail_job(alone, f"{TRACE}{HBM}\n")
    run = open_job(JobSpec.of({"job": job, "kind": "local", "cwd": str(alone.folder)}))
    run.record_first()
    outcome = run_tick(run)
    assert outcome.cause is not None and outcome.cause.failure == "hbm-exhaustion"
    assert any(each.action.key.endswith("/cause") for each in outcome.performed)
    assert outcome.is_complete and tick_exit_code(outcome) == 1
    assert poll(run).cause == outcome.cause and not run_tick(run).performed
