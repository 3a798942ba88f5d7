"""The root of a failure, and nothing else, is what a log is judged by."""

import pytest

from core.triage.cases import CASES
from core.triage.judged import judge_text, judged_training
from herorun.signatures import load_signature_set

OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"
NCCL = "[Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9, OpType=ALLREDUCE)"
KEY = """Traceback (most recent call last):
  File "/home/u/train.py", line 51, in main
    model = config['model']
KeyError: 'model'"""


def test_a_short_log_has_its_class() -> None:
    judge = {"benign": judged_training}
    assert [(judge.get(kind, judge_text)(log).failure, log) for kind, log in CASES] == [*CASES]


def test_every_class_but_none_is_tried() -> None:
    from herorun.core.triage.classes import FailureClass

    assert {kind for kind, _ in CASES} == {kind.value for kind in FailureClass}


def test_the_stronger_explains_the_earlier() -> None:
    judgement = judge_text(f"{NCCL}\n{OOM}")
    assert (judgement.failure, judgement.line) == ("oom-accelerator", 2)


def test_of_equals_the_earliest_wins() -> None:
    assert (
        judge_text(f"{OOM}\nOSError: [Errno 28] No space left on device").failure
        == "oom-accelerator"
    )


def test_a_cascade_alone_is_unknown() -> None:
    judgement = judge_text(
        "srun: Job step aborted: Waiting up to 47 seconds for job step to finish."
    )
    assert (judgement.failure, judgement.role) == ("unknown", "cascade")


def test_what_may_have_been_is_not_what_was() -> None:
    log = (
        "Failing tasks: actor is already dead. This can happen when the node was preempted (OOM, "
        "disk full)."
    )
    assert judge_text(log).failure == "unknown"


def test_a_person_bug_before_the_time_limit_is_the_root() -> None:
    limit = (
        "slurmstepd: error: *** JOB 1 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO TIME LIMIT ***"
    )
    judgement = judge_text(f"{KEY}\n{NCCL}\n{limit}")
    assert (judgement.failure, str(judgement.where)) == ("code-bug-small", "/home/u/train.py:51")


CANCELLED_LINE = "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-01-01T00:00:00"
INTERRUPTED_LINE = (
    "torch.distributed.elastic.agent.server.api: Received 2 death signal, shutting down"
)


@pytest.mark.parametrize(
    ("log", "failure"),
    [
        (f"{KEY}\nINFO:tensorflow:lame workers found: Manager(/job:worker)", "code-bug-small"),
        (f"INFO:tensorflow:lame workers found: []\n{KEY}", "code-bug-small"),
        (f"srun: error: Job credential revoked\n{CANCELLED_LINE} ***", "not-a-failure"),
        (f"{CANCELLED_LINE} ***\nsrun: error: Job credential expired", "not-a-failure"),
        (f"{INTERRUPTED_LINE}\n{CANCELLED_LINE} DUE TO TIME LIMIT ***", "timeout"),
        (f"wall clock time of step 120 exceeds the moving average\n{KEY}", "code-bug-small"),
        (f"the client socket has timed out\n{CANCELLED_LINE} ***", "not-a-failure"),
    ],
)
def test_a_faint_sign_yields_to_what_is_known(log: str, failure: str) -> None:
    """Some of these classes cost no budget: a bug that counted as one would always be restarted."""
    assert judge_text(log).failure == failure


def test_an_older_attempt_is_no_news() -> None:
    judgement = judge_text(
        f"{OOM}\nWorker group FAILED. 2/3 attempts left; will restart worker group\nstep 1 loss 2.0"
    )
    assert (judgement.failure, judgement.attempt) == ("benign", 2)


@pytest.mark.parametrize(
    "marker",
    [
        'HERORUN_RECEIPT {"instance": "a-1"}',
        "=== attempt 2 ===",
        "[launcher] starting attempt 2/5",
        "Resuming training from step 100",
        "restart_count=1",
    ],
)
def test_a_restart_begins_again(marker: str) -> None:
    assert (
        judge_text(f"{OOM}\n{marker}\nOSError: [Errno 28] No space left on device").failure
        == "disk-full"
    )


def test_a_restart_that_nothing_followed_has_no_story_yet() -> None:
    assert judge_text(f"{OOM}\nrestarting the job\n\n").failure == "oom-accelerator"


@pytest.mark.parametrize("code", [137, -9])
def test_killed_is_the_hosts_memory_only_with_proof(code: int) -> None:
    assert judge_text("step 1\nKilled", code).failure == "unknown"
    proven_verdict = judge_text("step 1\nKilled\nmemory.events: oom_kill 1", code)
    assert proven_verdict.failure == "oom-host" and proven_verdict.advice
    assert judge_text("step 1\npeak memory 128 GiB (99% of limit)", code).failure == "oom-host"
    assert judge_text("step 1\npreemption notice received", code).failure == "preemption"


def test_an_end_that_another_line_explains_has_the_advice_of_both() -> None:
    rows, full = load_signature_set(), "peak memory 128 GiB (99% of limit)"
    killed_advice, memory = rows.signature("killed").advice, rows.signature("peak-memory").advice
    assert judge_text(f"step 1\nKilled\n{full}", 137).advice == f"{killed_advice} {memory}"
    assert judge_text(f"step 1\n{full}", 137).advice == memory


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (78, "refused"),
        (124, "timeout"),
        (139, "code-bug-complex"),
        (-11, "code-bug-complex"),
        (143, "unknown"),
        (1, "unknown"),
    ],
)
def test_an_exit_code_where_the_log_is_silent(code: int, kind: str) -> None:
    assert judge_text("step 1 loss 2.0", code).failure == kind


def test_an_exit_code_of_zero_is_a_claim() -> None:
    assert judge_text(OOM, 0).failure == "not-a-failure"
    assert judge_text("The trial was preempted", 0).failure == "preemption"
    assert judge_text("step 1", 0).failure == "benign"


UNSAVED_LINE = "RuntimeError: Failed to save checkpoint at /x"
STEPS = "".join(f"[rank{step % 2}] step {step}/1000 loss 2.0\n" for step in range(1, 61))


@pytest.mark.parametrize(
    "end",
    [
        UNSAVED_LINE,
        "RuntimeError: cannot schedule new futures after interpreter shutdown",
        "RuntimeError: One or more background workers are no longer alive. Exiting.",
        "srun: error: n1: task 0: Exited with exit code 1",
    ],
)
def test_an_exit_code_of_zero_hides_no_unfinished_work(end: str) -> None:
    judgement = judge_text(f"{STEPS}{end}\n", 0)
    assert (judgement.failure, judgement.line) == ("not-a-failure", 61)
    assert judgement.advice == judge_text(OOM, 0).advice


def test_a_clean_up_that_was_not_called_leaves_an_exit_code_of_zero_alone() -> None:
    warning = "[W] Warning: destroy_process_group() was not called before program exit"
    assert judge_text(f"{STEPS}{warning}\n", 0).failure == "benign"
    assert judge_text(f"{STEPS}{warning}\n{UNSAVED_LINE}\n", 0).line == 62


@pytest.mark.parametrize("code", [None, 0])
def test_a_failed_save_that_the_training_outlived_is_still_named(code: int | None) -> None:
    judgement = judge_text(f"{UNSAVED_LINE}\n{STEPS}", code)
    assert (judgement.failure, judgement.line) == ("not-a-failure", 1)


def test_a_failed_save_of_long_ago_is_not_how_it_ended() -> None:
    end = "srun: error: n1: task 0: Exited with exit code 1"
    late, early = (
        judge_text(f"{UNSAVED_LINE}\n{STEPS}{end}\n", 1),
        judge_text(f"{UNSAVED_LINE}\n{end}\n", 1),
    )
    assert (late.signature, late.line) == ("process-cascade", 62)
    assert (early.signature, early.person) == ("save-failed", True)


def test_an_empty_log_names_buffered_output() -> None:
    judgement = judge_text("\n \n")
    assert (judgement.failure, judgement.line) == ("unknown", None)
    assert "PYTHONUNBUFFERED" in judgement.advice


def test_a_benign_line_is_shown_as_such() -> None:
    judgement = judge_text(
        "step 1\nGradient overflow. Skipping step, loss scaler 0 reducing loss scale to 131072.0"
    )
    assert (judgement.failure, judgement.role, judgement.line) == ("benign", "benign", 2)


CAUGHT_ERROR_LOG = f"{KEY}\nfalling back to the default\n"


def test_what_the_training_continued_after_is_no_failure() -> None:
    judgement = judge_text(CAUGHT_ERROR_LOG + STEPS)
    assert (judgement.failure, judgement.line) == ("not-a-failure", 4)
    assert judge_text(CAUGHT_ERROR_LOG + STEPS, block=50) == judgement


def test_what_came_after_it_is_the_root() -> None:
    assert judge_text(CAUGHT_ERROR_LOG + STEPS + NCCL).failure == "network-collective"
    assert judge_text(NCCL + "\n" + STEPS + CAUGHT_ERROR_LOG).failure == "code-bug-small"


def test_ranks_that_outlive_a_dead_one_are_no_progress() -> None:
    same = "".join(f"[rank{rank}] step 12/1000 loss 2.0\n" for rank in range(100))
    assert judge_text(CAUGHT_ERROR_LOG + same + NCCL).failure == "code-bug-small"


@pytest.mark.parametrize("log", ["received preemption notice\n", "loss: nan\n", OOM + "\n"])
def test_some_roots_stay_whatever_follows(log: str) -> None:
    assert judge_text(log + STEPS).failure == judge_text(log).failure


OWN_LIMIT = "Time limit reached. Elapsed time is 3:59:59. Signaling Trainer to stop."


@pytest.mark.parametrize("end", [OWN_LIMIT, "Trainer: early stopping triggered", INTERRUPTED_LINE])
def test_what_ends_a_run_in_order_is_not_said_to_have_ended_nothing(end: str) -> None:
    judgement = judge_text(f"{STEPS}{end}\n", 0)
    assert (judgement.failure, judgement.line) == ("not-a-failure", 61)
    assert judgement.advice != judge_text(OOM, 0).advice
