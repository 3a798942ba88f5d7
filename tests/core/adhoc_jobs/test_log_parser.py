"""What a job's own words tell: progress, tracker runs, the id of what was submitted."""

import time
from collections.abc import Callable

import pytest

from herorun.core.adhoc_jobs.log_parser import (
    progress_in,
    submitted_in,
    trained_in,
)
from herorun.core.triage.tracker_lines import run_id, tracker_runs
from herorun.job_kinds import job_kind


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("step 4600/5155 loss 2.3", "~4600/5155"),
        ("iteration     4600/    5155 | consumed samples", "~4600/5155"),
        ("train: 89%|████| 4600/5155 [1:02:03<10:00, 1.2it/s]", "~4600/5155"),
        ("global_step=4600 loss=2.1", "~4600/unknown"),
        ("Progress on:train 4.60kit/5.16kit rate:1.2it/s", "~4600/unknown"),
        ("step 12/20\nstep 13/20\nsaving", "~13/20"),
        ("10%|█| 1/9 [..\r20%|██| 2/9 [..", "~2/9"),
        ("step 1,200 of 5,155", "~1200/5155"),
        ("step 4600, it/s 1.2", "~4600/unknown"),
        ("step 4\n\x1b[1m\x1b[32mstep 5/9\x1b[0m loss 2.3", "~5/9"),
        ("step 12/" + "9" * 40, "~12/unknown"),
    ],
)
def test_progress_is_exact_or_its_end_is_unknown(text: str, result: str) -> None:
    assert str(progress_in(text)) == result


@pytest.mark.parametrize(
    "text",
    [
        "",
        "eval step 3/10",
        "Loading checkpoint shards: 50%|█| 1/2 [00:01",
        "step time 512 ms",
        "loss 2.3 at 10/12/26",
        "step " + "9" * 5_000,
        "| " + "9" * 400 + "k/5M",
        "| 5/" + "9" * 5_000 + " [",
    ],
)
def test_what_is_no_training_step_is_no_progress(text: str) -> None:
    assert progress_in(text) is None


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("step 4600/5155 loss 2.3", "~4600/5155"),
        ("train: 89%|████| 4600/5155 [1:02:03<10:00, 1.2it/s]", "~4600/5155"),
        ("global_step=4600 loss=2.1", "~4600/unknown"),
        ("Progress on:train 4.60kit/5.16kit rate:1.2it/s", "~4600/unknown"),
        ("2026-01-01T10:00:00Z INFO [rank0] step: 7", "~7/unknown"),
        (
            "step 12 loss 2.3\nResuming training from step 1500\nSaving checkpoint at step 90",
            "~12/unknown",
        ),
    ],
)
def test_a_step_that_a_trainer_tells_as_finished(text: str, result: str) -> None:
    assert str(trained_in(text)) == result


@pytest.mark.parametrize(
    "text",
    [
        "INFO Resuming training from step 1500",
        "Continuing training from global step 1500",
        "successfully loaded checkpoint from /data/tiny [ t 1/1 ] at iteration 1500",
        "restoring from this run's directory latest step 1500",
        "Training starts at step 1501",
        "Saving checkpoint at step 1500 to gs://b/run/step-1500",
        "Total optimization steps = 50,000",
        "Compiling train step 1501",
        "preparing the data of step 1501",
    ],
)
def test_a_step_that_is_loaded_saved_or_to_come_is_not_trained(text: str) -> None:
    assert trained_in(text) is None


@pytest.mark.parametrize(
    "piece",
    ["step:" + " " * 500, "https://a/", "http://", "9/", "- "],
)
@pytest.mark.parametrize("read", [progress_in, trained_in, tracker_runs])
def test_a_line_of_megabytes_holds_no_tick_up(read: Callable[[str], object], piece: str) -> None:
    began = time.process_time()
    read(piece * (2_000_000 // len(piece)))
    assert time.process_time() - began < 2.0


def test_links_of_tracker_runs_come_once_and_a_bare_id_where_there_is_no_link() -> None:
    text = (
        "wandb: 🚀 View run tiny at: https://wandb.ai/a/b/runs/ab12cd34\n"
        "wandb: 🚀 View run tiny at: https://wandb.ai/a/b/runs/ab12cd34\n"
        "wandb: logs at /runs/ab12cd34 and runs/zz99\n"
    )
    assert tracker_runs(text) == ("https://wandb.ai/a/b/runs/ab12cd34", "zz99")


@pytest.mark.parametrize(
    ("kind", "text", "job"),
    [
        ("iris", "I0302 Job submitted: /dlwh/tiny-2\n", "/dlwh/tiny-2"),
        ("iris", "/dlwh/tiny-2\n", "/dlwh/tiny-2"),
        ("slurm", "sbatch: lua\nSubmitted batch job 4712\n", "4712"),
        ("slurm", "4712;cluster\n", "4712"),
        ("ray", "Job 'raysubmit_ab12' submitted successfully\n", "raysubmit_ab12"),
        (
            "ray",
            "Submitted job ray-run-held-sweep-20260131-051716\n",
            "ray-run-held-sweep-20260131-051716",
        ),
        ("nel", "Invocation ID: 15be12f8\n", "15be12f8"),
        ("local", "started\n4242\n", "4242"),
        ("slurm", "sbatch: error: Batch job submission failed\n", ""),
        ("iris", "connected to /dev/null somewhere\n", ""),
    ],
)
def test_the_new_id_is_read_from_what_the_command_says(kind: str, text: str, job: str) -> None:
    assert submitted_in(job_kind(kind).printed, text) == job


@pytest.mark.parametrize(
    ("line", "identity"),
    [
        ("🏃 View run calm-kit-7 at: http://127.0.0.1:5000/#/experiments/1/runs/0a1b2c", "0a1b2c"),
        ("wandb: 🚀 View run at https://wandb.ai/lab/exp/runs/ab12cd34", "ab12cd34"),
    ],
)
def test_the_link_of_every_trackers_run_ends_with_its_id(line: str, identity: str) -> None:
    (link,) = tracker_runs(line)
    assert line.endswith(link)
    assert run_id(link) == identity
