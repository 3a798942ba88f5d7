"""A store or a file system that fails or throttles: no node is to blame, and no permission."""

import pytest

from core.triage.judged import judge_text, judged_training
from herorun.core.adhoc_jobs.cause import JobCause

FRAME = 'Traceback (most recent call last):\n  File "/u/train.py", line 5, in save\n    f()\n'

# Written for the tests, in the form that the tools print.
STORAGE_FAILURES = [
    "OSError: [Errno 116] Stale file handle",
    "cp: cannot stat '/data/step-4': Stale NFS file handle",
    "OSError: [Errno 5] Input/output error: '/data/shard-3.bin'",
    "OSError: [Errno 107] Transport endpoint is not connected: '/mnt/fuse/a'",
    "RuntimeError: flock: Transport endpoint is not connected",
    "OSError: [Errno 108] Cannot send after transport endpoint shutdown: '/lustre/a'",
    "OSError: [Errno 121] Remote I/O error",
    "OSError: [Errno 30] Read-only file system: '/data/step-40'",
    "a.errors_impl.FailedPreconditionError: /data/graph.pbtxt; Read-only file system",
    "urllib.error.HTTPError: HTTP Error 503: Slow Down",
    '    "reason": "rateLimitExceeded",',
    "google.api_core.exceptions.TooManyRequests: 429 POST https://storage.googleapis.com/upload",
    (
        "botocore.exceptions.ClientError: An error occurred (SlowDown) when calling the PutObject "
        "operation (reached max retries: 4): Please reduce your request rate."
    ),
    (
        "requests.exceptions.HTTPError: 429 Client Error: Too Many Requests for url: "
        "https://huggingface.co/api/datasets/a"
    ),
]


# wandb/wandb:wandb/sdk/wandb_init.py
INIT_TIMEOUT = (
    "Run initialization has timed out after 90.0 sec. Please try increasing the timeout with the "
    "`init_timeout` setting: `wandb.init(settings=wandb.Settings(init_timeout=120))`."
)
CAUSE = "\nThe above exception was the direct cause of the following exception:\n\n"
INIT_LOG = f"""\
wandb: Network error (ConnectTimeout), entering retry loop.
wandb: ERROR {INIT_TIMEOUT}
Traceback (most recent call last):
  File "/env/lib/python3.10/site-packages/wandb/sdk/mailbox/response_handle.py", line 105, in wait
    await asyncio.wait_for(evt.wait(), timeout=timeout)
  File "/usr/lib/python3.10/asyncio/tasks.py", line 460, in wait_for
    raise exceptions.TimeoutError() from exc
asyncio.exceptions.TimeoutError
{CAUSE}Traceback (most recent call last):
  File "/env/lib/python3.10/site-packages/wandb/sdk/wandb_init.py", line 968, in init
    result = wait_with_progress(
TimeoutError
{CAUSE}Traceback (most recent call last):
  File "/code/train.py", line 77, in main
    wandb.init(project="hero")
  File "/env/lib/python3.10/site-packages/wandb/sdk/wandb_init.py", line 977, in init
    raise CommError(
wandb.errors.errors.CommError: {INIT_TIMEOUT}
"""


@pytest.mark.parametrize("rank", ["", "[rank0]: "])
def test_a_tracker_that_does_not_answer_at_the_start_is_no_bug(rank: str) -> None:
    log = "".join(f"{rank}{line}" for line in INIT_LOG.splitlines(keepends=True))
    assert judge_text(log, 1).failure == "network-collective"
    steps = "".join(f"step {step}: loss 2.{step}\n" for step in range(1, 60))
    bug = "Traceback (most recent call last):\n  File \"/code/a.py\", line 3, in f\nKeyError: 'x'\n"
    assert judge_text(f"{log}{steps}{bug}", 1).failure == "code-bug-small"


@pytest.mark.parametrize("line", STORAGE_FAILURES)
def test_storage_that_fails_or_throttles_has_its_class(line: str) -> None:
    assert judge_text(f"step 4: loss 2.0\n{line}\n", 1).failure == "storage"


@pytest.mark.parametrize(
    ("line", "failure"),
    [
        ("srun: error: slurm_receive_msg: Transport endpoint is not connected", "node-failure"),
        ("connect: No route to host", "node-failure"),
        ("OSError: [Errno 28] No space left on device", "disk-full"),
        ("OSError: [Errno 122] Disk quota exceeded", "disk-full"),
        ("PermissionError: [Errno 13] Permission denied: '/data'", "storage-auth"),
        ("urllib.error.HTTPError: HTTP Error 503: Service Unavailable", "network-collective"),
        (
            (
                "google.api_core.exceptions.ServiceUnavailable: 503 GET "
                "https://storage.googleapis.com/storage/v1/b/lab: Backend Error"
            ),
            "network-collective",
        ),
        (
            "google.api_core.exceptions.GatewayTimeout: 504 POST https://a.org/x",
            "network-collective",
        ),
        (
            "google.api_core.exceptions.DeadlineExceeded: 504 Deadline Exceeded",
            "network-collective",
        ),
        (
            (
                "google.api_core.exceptions.RetryError: Timeout of 120.0s exceeded, last "
                "exception: 503 GET https://storage.googleapis.com/storage/v1/b/lab: Backend Error"
            ),
            "network-collective",
        ),
        ("lab.api_core.exceptions.ServiceUnavailable: 503 replica", "unknown"),
        ("gcsfs.retry.HttpError: , 503", "network-collective"),
        ("gcsfs.retry.HttpError: Backend Error, 502", "network-collective"),
        ("ray.exceptions.ServiceUnavailable: 503 replica", "unknown"),
        (f"wandb.errors.errors.CommError: {INIT_TIMEOUT}", "network-collective"),
        (f"wandb.errors.CommError: {INIT_TIMEOUT}", "network-collective"),
        (
            "wandb.errors.CommError: Error communicating with wandb process, exiting...",
            "network-collective",
        ),
        (
            "wandb.errors.UsageError: Error communicating with wandb process",
            "network-collective",
        ),
        (
            "wandb.errors.errors.CommError: Error uploading run: returned error 502: {}",
            "network-collective",
        ),
        (
            "wandb.errors.errors.CommError: Error uploading run: returned error 404: {}",
            "code-bug-complex",
        ),
        ("wandb.errors.errors.CommError: project not found", "code-bug-complex"),
        # a server of the job's own, and a request that the store refuses
        (
            "google.api_core.exceptions.ServiceUnavailable: 503 GET http://10.0.0.7:8000/reward",
            "unknown",
        ),
        ("gcsfs.retry.HttpError: Invalid bucket name: 'a b', 400", "code-bug-complex"),
    ],
)
def test_what_has_another_class_keeps_it(line: str, failure: str) -> None:
    assert judge_text(f"step 4: loss 2.0\n{line}\n", 1).failure == failure


@pytest.mark.parametrize(
    "line",
    [
        "training set: slow down the schedule after step 40",
        "WARNING An error occurred (SlowDown) when calling the PutObject operation, retrying in 2s",
        "the workers slowdown factor is 1.0",
    ],
)
def test_what_is_tried_again_or_only_sounds_alike_is_none(line: str) -> None:
    assert judged_training(line).failure == "benign"


def test_the_programs_wrapper_around_a_throttled_request_is_no_bug() -> None:
    cause = "google.api_core.exceptions.TooManyRequests: 429 POST https://storage.googleapis.com/u"
    wrapped_error = (
        "\nThe above exception was the direct cause of the following exception:\n\n"
        f"{FRAME}RuntimeError: the upload failed\n"
    )
    assert judge_text(f"{FRAME}{cause}\n{wrapped_error}", 1).failure == "storage"


def test_a_bug_after_a_throttled_request_is_a_bug() -> None:
    throttled_log = (
        "google.api_core.exceptions.TooManyRequests: 429 POST https://a.googleapis.com/u"
    )
    assert (
        judge_text(f"{throttled_log}\nstep 5\n{FRAME}KeyError: 'x'\n", 1).failure
        == "code-bug-small"
    )


HANDLED_ERROR = """--- Logging error ---
Traceback (most recent call last):
  File "/opt/lib/python3.11/logging/__init__.py", line 1087, in emit
    {}()
{}
"""


def test_the_file_that_a_log_handler_loses_is_its_own() -> None:
    text = HANDLED_ERROR.format("self.flush", "OSError: [Errno 116] Stale file handle")
    assert judged_training(text).failure == "benign"
    elsewhere = text.replace("logging/__init__.py", "site-packages/sink/s3.py")
    assert judged_training(elsewhere).failure == "storage"


def test_nothing_in_the_code_is_to_be_changed() -> None:
    assert JobCause(failure="storage").effort == ""


def test_a_read_only_file_system_may_need_a_person() -> None:
    judgement = judge_text("OSError: [Errno 30] Read-only file system: '/data'")
    assert (judgement.failure, judgement.person) == ("storage", True)
