"""How launchers and handlers print the end of a process, and lines that look alike."""

import pytest

from core.triage.judged import judge_text

STEPS = "".join(f"step {step}: loss 2.1\n" for step in range(1, 61))
DEEPSPEED_LINE = (
    "[2026-01-02 03:04:05,678] [ERROR] [launch.py:434:sigkill_handler] ['python', 'x.py']"
)
OOM = "CUDA out of memory. Tried to allocate 422.00 MiB (GPU 0; 15.78 GiB total capacity)"
SKIPS = "WARNING CUDA OOM Error during batch execution, skipping batch."


@pytest.mark.parametrize(
    ("line", "failure", "person"),
    [
        (f"{DEEPSPEED_LINE} exits with return code = 1", "unknown", True),
        (f"{DEEPSPEED_LINE} exits with return code = -9", "unknown", True),
        (f"{DEEPSPEED_LINE} exits with return code = -7", "unknown", True),
        (f"{DEEPSPEED_LINE} exits with return code = -11", "code-bug-complex", True),
        (f"{DEEPSPEED_LINE} exits with return code = -6", "code-bug-complex", True),
        ("[INFO] [launch.py:428:sigkill_handler] Killing subprocess 6293", "unknown", True),
        ("  exitcode  : 1 (pid: 1755255)", "unknown", True),
        ("  exitcode  : -9 (pid: 1755255)", "unknown", True),
        ("[__main__][ERROR] - Error executing job with overrides: ['lr=1']", "unknown", True),
        ("╭──────── Traceback (most recent call last) ────────╮", "unknown", True),
        ("Command terminated by signal 11", "code-bug-complex", True),
        ("n1:1:2 [0] NCCL INFO transport/net.cc:357 -> 3", "unknown", True),
        (
            (
                '"message": "The following quota metrics exceed quota limits: '
                'aiplatform.example.org/custom_model_training_nvidia_l4_gpus",'
            ),
            "capacity",
            False,
        ),
        (
            (
                "Pod Allocate failed due to requested number of devices unavailable for "
                "nvidia.com/gpu. Requested: 1, Available: 0, which is unexpected"
            ),
            "capacity",
            False,
        ),
        ("ERROR Your GPU ran out of memory with max_duration 200", "oom-accelerator", False),
    ],
)
def test_a_line_says_how_a_process_ended(line: str, failure: str, person: bool) -> None:
    for code in (None, 1):
        judgement = judge_text(f"{STEPS}{line}\n", code)
        assert (judgement.failure, judgement.line) == (failure, 61)
        assert judgement.person is person


@pytest.mark.parametrize(
    "line",
    [
        f"{DEEPSPEED_LINE} exits with return code = 0",
        "[INFO] [launch.py:347:main] Process 6293 exits successfully.",
        "  exitcode  : 0 (pid: 1755255)",
        "handler for signal 11 installed",
        "n1:1:2 [0] NCCL INFO transport/net.cc:357 -> 0",
        "n1:1:2 [0] NCCL INFO transport/net.cc:357 -> 7",
        "n1:1:2 [0] NCCL INFO Channel 05 : 3 -> 2 via P2P",
        "The quota metrics exceed quota limits: none",
        "GPU ran out of memory, retrying with half the batch",
        "GPU ran out of memory: skipping this sample",
        (
            "WARNING [common.py:143] flash_attn rotary import failed; falling back to native "
            "rotary implementation. Error: No module named 'flash_attn.ops'"
        ),
    ],
)
def test_a_line_that_looks_alike_is_benign(line: str) -> None:
    assert judge_text(f"{STEPS}{line}\n").failure == "benign"


@pytest.mark.parametrize(
    ("line", "failure"),
    [
        ("python: No module named 'flash_attn.ops'", "code-bug-small"),
        ("ModuleNotFoundError: falling back to x: No module named 'y'", "code-bug-small"),
        ("CUDA error: no CUDA-capable device is detected, falling back to CPU", "bad-accelerator"),
        ("No space left on device; falling back to /tmp", "disk-full"),
    ],
)
def test_what_is_gone_is_no_optional_package(line: str, failure: str) -> None:
    assert judge_text(f"{STEPS}{line}\n").failure == failure


HEAD = 'Traceback (most recent call last):\n  File "/u/train.py", line 3, in main\n    x\n'


@pytest.mark.parametrize(
    "line",
    [
        "The following quota metrics exceed quota limits: compute.example.org/gpus",
        '"message": "The following quota metrics exceed quota limits: compute.example.org/gpus",',
        "warn if quota metrics exceed quota limits: max_cpus=8",
        (
            "Pod Allocate failed due to requested number of devices unavailable for "
            "nvidia.com/gpu. Requested: 1, Available: 0"
        ),
    ],
)
@pytest.mark.parametrize("bug", [f"{HEAD}KeyError: 'x'\n", f"{HEAD}RuntimeError: no data\n"])
def test_a_job_that_is_not_admitted_hides_no_traceback(bug: str, line: str) -> None:
    for log in (f"{bug}{line}\n", f"{line}\n{bug}"):
        assert judge_text(log, 1).failure in ("code-bug-small", "code-bug-complex")


@pytest.mark.parametrize(
    ("line", "failure"),
    [
        ("CUDA out of memory, skipped the batch 100 times, giving up", "oom-accelerator"),
        ("CUDA out of memory, skipped the batch; RuntimeError: NaN loss", "oom-accelerator"),
        ("CUDA out of memory, skipping batch failed", "oom-accelerator"),
        (
            "x: import (uncorrectable ECC error encountered) failed; falls back to y",
            "bad-accelerator",
        ),
        (
            "Import of dataset failed: No space left on device, falling back to /tmp",
            "disk-full",
        ),
    ],
)
def test_what_a_program_did_not_get_over_is_not_benign(line: str, failure: str) -> None:
    assert judge_text(f"{STEPS}{line}\n", 1).failure == failure


def test_only_a_package_that_is_named_is_optional() -> None:
    line = "Import of weights failed - falling back to scratch initialisation"
    assert judge_text(f"{STEPS}{line}\n").signature == ""


@pytest.mark.parametrize(
    "log",
    [
        f"DEBUG {OOM}\nDEBUG Traceback\n{SKIPS}\nBatch loss: 0.01\n",
        f"DEBUG {OOM}, skipping batch\nBatch loss: 0.01\nBatch loss: 0.02\n",
    ],
)
def test_a_batch_that_is_skipped_ended_nothing(log: str) -> None:
    assert judge_text(log).failure in ("benign", "not-a-failure")
    assert judge_text(log, 1).failure == "unknown"
    assert judge_text(log, 1).person


@pytest.mark.parametrize(
    "log",
    [
        f"{SKIPS}\nDEBUG {OOM}\n",
        f"DEBUG {OOM}\nBatch loss: 0.01\na\nb\nc\n{SKIPS}\n",
        f"DEBUG {OOM}\nOn an OOM error in a batch, skipping batch is enabled\n",
        f"DEBUG {OOM}\nNot skipping batch: OOM error in the optimizer\n",
        (
            'Traceback (most recent call last):\n  File "/u/train.py", line 3, in main\n'
            f"torch.OutOfMemoryError: {OOM}\n[rank1]: {SKIPS}\n"
        ),
    ],
)
def test_another_error_than_that_of_the_batch_counts(log: str) -> None:
    assert judge_text(log).failure == "oom-accelerator"


@pytest.mark.parametrize(
    "line",
    [
        "[__main__][ERROR] - Error executing job with overrides: []",
        f"{DEEPSPEED_LINE} exits with return code = 1",
    ],
)
def test_the_bug_that_a_launcher_reports_is_the_root(line: str) -> None:
    bug = 'Traceback (most recent call last):\n  File "/u/train.py", line 3, in f\nKeyError: 1\n'
    for log in (f"{line}\n{bug}", f"{bug}{line}\n"):
        assert judge_text(log, 1).failure == "code-bug-small"


TORCHRUN = """\
W0102 03:04:05.067000 7 torch/distributed/elastic/multiprocessing/api.py:1028] Sending process 8 \
closing signal SIGTERM
E0102 03:04:05.191000 7 torch/distributed/elastic/multiprocessing/api.py:1002] failed \
(exitcode: {code}) local_rank: 1 (pid: 9) of binary: /usr/bin/python3
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
Failures:
  exitcode  : -15 (pid: 8)  (SIGTERM)
  traceback : Signal 15 (SIGTERM) received by PID 8
Root Cause (first observed failure):
  exitcode  : {code} (pid: 9)  ({name})
  traceback : Signal {number} ({name}) received by PID 9
"""


@pytest.mark.parametrize(
    ("number", "name", "signature"),
    [
        (9, "SIGKILL", "killed"),
        (7, "SIGBUS", "ended-by-signal"),
        (15, "SIGTERM", "ended-by-signal"),
        (11, "SIGSEGV", "crash"),
    ],
)
def test_the_ranks_that_torchrun_closes_do_not_hide_the_one_that_failed(
    number: int, name: str, signature: str
) -> None:
    log = STEPS + TORCHRUN.format(code=-number, number=number, name=name)
    judgement = judge_text(log, 1)
    assert (judgement.signature, judgement.line) == (signature, 62)
