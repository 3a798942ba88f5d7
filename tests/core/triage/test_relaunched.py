"""A bug is relaunched on no faint evidence: some classes cost no budget, and ask nobody."""

import pytest

from core.triage.judged import judge_text

STEPS = "".join(f"step {step}: loss 2.1\n" for step in range(1, 61))
HEAD = 'Traceback (most recent call last):\n  File "/u/train.py", line 3, in main\n    x\n'
BUG = f"{HEAD}KeyError: 'x'\n"
FROM = "\nThe above exception was the direct cause of the following exception:\n\n"
DURING = "\nDuring handling of the above exception, another exception occurred:\n\n"
POOL = "HTTPSConnectionPool(host='hub.example.org', port=443): "
RETRIES = "Max retries exceeded with url: /x (Caused by "
READ = f"requests.exceptions.ReadTimeout: {POOL}Read timed out. (read timeout=10)\n"
CODE_503 = (
    "requests.exceptions.HTTPError: 503 Server Error: Busy for url: https://hub.example.org/x\n"
)


@pytest.mark.parametrize(
    "line",
    [
        "Spot interruption detected: False",
        "spot interruption detected=False",
        "Installed handler: on spot interruption received, save and exit",
        "not yet spot interruption detected",
        "If a spot interruption signal received we checkpoint",
        "Spot interruption payload received: None",
        "Spot interruption payload received: {}",
        "Registered the spot interruption notice handler",
        "Checking for a spot interruption notice every 5 s",
        "Spot interruption warning handler: enabled",
        "spot interruption notice: None",
        "spot interruption warning: False",
        "No spot interruption notice received",
        "On a spot interruption notice: save and exit",
        "spot_interruption_notice: {'poll_seconds': 5}",
        "Spot instance interruption handler installed",
        "Spot instance termination checks every 5 s",
        "No spot instance interruption so far",
        "spot interruption notice: enabled",
        "Spot interruption notice: listener started",
        "Spot interruption warning: polling every 5s",
        "spot interruption notice: not received",
        "spot interruption notice: unavailable (404)",
        "spot interruption notice: N/A",
        "spot interruption notice: http://192.0.2.1/latest/meta-data/spot/instance-action",
        "spot interruption notice received: False",
        "spot interruption notice received count: 0",
        "Not received a spot interruption notice",
        "Spot instance interruption: no",
        "spot instance termination time: None",
        "spot instance interruption callback registered",
        "config: spot instance interruption: {'enabled': true}",
    ],
)
def test_a_state_or_a_handler_is_no_preemption(line: str) -> None:
    judgement = judge_text(f"{line}\n{STEPS}{BUG}", 1)
    assert (judgement.failure, judgement.line) == ("code-bug-small", 65)


@pytest.mark.parametrize(
    "line",
    [
        "AWS spot interruption notice: instance will be terminated in 2 minutes",
        "Spot interruption notice received, saving",
        "received an EC2 spot instance interruption warning",
        'spot interruption notice: {"action": "terminate"}',
        "Monitor: spot interruption notice received",
        "watcher.py:12 Spot interruption warning received",
        "checkpoint watcher: spot interruption notice detected",
        "spot instance interruption notice was issued",
        "the spot instance was reclaimed",
    ],
)
def test_an_announced_interruption_is_a_preemption(line: str) -> None:
    assert judge_text(f"{STEPS}{line}\n", 143).failure == "preemption"


@pytest.mark.parametrize(
    "limit",
    [
        "eval: time limit reached (300 s), stopping evaluation early",
        "Rendezvous time limit reached, stopping agent",
        "Time limit reached. Elapsed time is 1 day, 0:00:03. Signaling Trainer to stop.",
    ],
)
@pytest.mark.parametrize(
    ("end", "code", "failure", "person"),
    [
        ("Fatal Python error: Segmentation fault", 139, "code-bug-complex", True),
        ("Killed", 137, "unknown", True),
        ("Watchdog caught collective operation timeout: WorkNCCL", 134, "network-collective", True),
    ],
)
def test_a_limit_that_a_program_sets_itself_hides_no_crash(
    limit: str, end: str, code: int, failure: str, person: bool
) -> None:
    judgement = judge_text(f"{STEPS}{limit}\n{end}\n", code)
    assert (judgement.failure, judgement.person) == (failure, person)


@pytest.mark.parametrize("service", [READ, CODE_503, HEAD + READ, HEAD + CODE_503])
@pytest.mark.parametrize("between", ["", "step 5: loss 2.0\n"])
def test_a_service_that_did_not_answer_hides_no_later_bug(service: str, between: str) -> None:
    assert judge_text(service + between + BUG, 1).failure == "code-bug-small"
    assert judge_text(f"{service}{between}Segmentation fault\n", 139).failure == "code-bug-complex"
    assert judge_text(service + between, 137).person


@pytest.mark.parametrize("effect", ["RuntimeError: no data", CODE_503.strip()])
def test_what_was_raised_from_a_service_that_did_not_answer_is_its_failure(effect: str) -> None:
    log = f"{HEAD}{CODE_503}{FROM}{HEAD}{effect}\n"
    assert judge_text(log, 1).failure == "network-collective"


@pytest.mark.parametrize(
    ("first", "failure"),
    [
        ("TimeoutError: The read operation timed out", "network-collective"),
        ("socket.timeout: timed out", "network-collective"),
        ("TimeoutError: barrier of rank 3", "code-bug-complex"),
        ("KeyError: 'x'", "code-bug-small"),
    ],
)
@pytest.mark.parametrize("link", [FROM, DURING])
def test_only_a_time_out_becomes_that_of_a_service(link: str, first: str, failure: str) -> None:
    assert judge_text(f"{HEAD}{first}\n{link}{HEAD}{READ}", 1).failure == failure


@pytest.mark.parametrize(
    "line",
    [
        (
            f"requests.exceptions.ConnectionError: {POOL}{RETRIES}"
            "NewConnectionError('<c>: Failed to establish a new connection: [Errno 111] Connection "
            "refused'))"
        ),
        (
            f"requests.exceptions.RetryError: {POOL}{RETRIES}"
            "ResponseError('too many 503 error responses'))"
        ),
        (
            f"requests.exceptions.ConnectTimeout: {POOL}{RETRIES}"
            "ConnectTimeoutError(<c>, 'It timed out. (connect timeout=5)'))"
        ),
        (
            "aiohttp.client_exceptions.ClientConnectorError: Cannot connect to host hub.org:443 "
            "ssl:default [Connect call failed ('93.184.216.34', 443)]"
        ),
        "urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>",
    ],
)
def test_a_service_may_not_answer(line: str) -> None:
    assert judge_text(f"{HEAD}{line}\n", 1).failure == "network-collective"


@pytest.mark.parametrize(
    "line",
    [
        "socket.gaierror: [Errno -2] Name or service not known",
        (
            f"requests.exceptions.ConnectionError: {POOL}{RETRIES}"
            "NameResolutionError('([Errno -2] Name or service not known)'))"
        ),
        "requests.exceptions.HTTPError: 500 Server Error: x for url: https://hub.example.org/x",
        "requests.exceptions.HTTPError: 501 Server Error: x for url: https://hub.example.org/x",
        "requests.exceptions.HTTPError: 503 Server Error: x for url: http://node1:8000/reward",
        "requests.exceptions.HTTPError: 503 Server Error: x for url: http://10.0.0.7:8000/reward",
        (
            "requests.exceptions.ReadTimeout: HTTPConnectionPool(host='node1', port=80): Read "
            "timed out. (read timeout=10)"
        ),
        (
            f"requests.exceptions.RetryError: {POOL}{RETRIES}"
            "ResponseError('too many 429 error responses'))"
        ),
    ],
)
def test_a_wrong_name_or_the_jobs_own_server_is_asked_about(line: str) -> None:
    judgement = judge_text(f"{HEAD}{line}\n", 1)
    assert (judgement.failure, judgement.person) == ("code-bug-complex", True)


@pytest.mark.parametrize("head", [HEAD, ""])
@pytest.mark.parametrize(
    "effect",
    [
        "RuntimeError: Execution timeout exceeded",
        "RuntimeError: job step exceeded its wall time limit: walltime exceeded",
        "RuntimeError: barrier timed out",
        "RuntimeError: worker was preempted",
        "RuntimeError: due to node failure",
        "RuntimeError: no CUDA-capable device is detected",
        CODE_503.strip(),
    ],
)
def test_no_wrapper_turns_a_bug_into_what_is_relaunched(head: str, effect: str) -> None:
    judgement = judge_text(f"{head}KeyError: 'x'\n{FROM}{head}{effect}\n", 1)
    assert judgement.failure == "code-bug-small"


PREEMPTED_LINE = "RuntimeError: worker was preempted"
WRAPPED_ERROR = f"{BUG}{FROM}{HEAD}{PREEMPTED_LINE}\n"
TWICE_WRAPPED = f"{BUG}{FROM}{HEAD}RuntimeError: stage failed\n{FROM}{HEAD}{PREEMPTED_LINE}\n"
MISSING = f"{HEAD}FileNotFoundError: [Errno 2] No such file or directory: '/d/x'\n"


def _of_rank(rank: int, log: str) -> str:
    return "".join(f"[rank{rank}]: {line}\n" for line in log.splitlines())


def _mix_ranks(log: str) -> str:
    """Two ranks without labels, line by line."""
    return "".join(f"{line}\n{line}\n" for line in log.splitlines())


@pytest.mark.parametrize("effect", [PREEMPTED_LINE, "RuntimeError: due to node failure"])
@pytest.mark.parametrize(
    ("log", "line"),
    [
        (WRAPPED_ERROR + WRAPPED_ERROR, 4),
        (_of_rank(0, WRAPPED_ERROR) + _of_rank(1, WRAPPED_ERROR), 4),
        (TWICE_WRAPPED, 4),
        (_of_rank(0, TWICE_WRAPPED) + _of_rank(1, TWICE_WRAPPED), 4),
        (f"{BUG}{DURING}{HEAD}{PREEMPTED_LINE}\n", 4),
        (f"{WRAPPED_ERROR}ERROR {PREEMPTED_LINE}\n", 4),
        (f"{WRAPPED_ERROR}ERROR train: worker was preempted\n", 4),
        (f"ERROR train: worker was preempted\n{WRAPPED_ERROR}", 5),
        (f"{WRAPPED_ERROR}{PREEMPTED_LINE}\n", 4),
        (WRAPPED_ERROR + STEPS + TWICE_WRAPPED, 75),
        ("".join(_of_rank(rank, WRAPPED_ERROR) for rank in range(300)), 4),
    ],
)
def test_a_bug_stays_one_however_often_its_wrapper_is_printed(
    log: str, line: int, effect: str
) -> None:
    message = effect.partition(": ")[2]
    judgement = judge_text(log.replace("worker was preempted", message), 1)
    assert (judgement.failure, judgement.line) == ("code-bug-small", line)


def test_a_failure_that_a_row_knows_is_not_relaunched_for_its_wrapper() -> None:
    assert judge_text(f"{MISSING}{FROM}{HEAD}{PREEMPTED_LINE}\n", 1).failure == "data"


def test_two_ranks_whose_lines_are_mixed_are_no_preemption() -> None:
    assert judge_text(_mix_ranks(WRAPPED_ERROR), 1).failure == "code-bug-small"


@pytest.mark.parametrize(
    "log",
    [
        f"{HEAD}{PREEMPTED_LINE}\nERROR {PREEMPTED_LINE}\n",
        f"slurmstepd: error: *** JOB 7 CANCELLED DUE TO PREEMPTION ***\n{WRAPPED_ERROR}",
        f"{WRAPPED_ERROR}slurmstepd: error: *** JOB 7 CANCELLED DUE TO PREEMPTION ***\n",
        f"{WRAPPED_ERROR}{STEPS}ERROR worker was preempted\n",
    ],
)
def test_a_preemption_with_evidence_of_its_own_counts(log: str) -> None:
    assert judge_text(log, 143).failure == "preemption"


@pytest.mark.parametrize(
    ("effect", "failure"),
    [
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB", "oom-accelerator"),
        ("OSError: [Errno 28] No space left on device", "disk-full"),
    ],
)
def test_a_wrapper_may_name_what_is_asked_about(effect: str, failure: str) -> None:
    assert judge_text(f"{BUG}{FROM}{HEAD}{effect}\n", 1).failure == failure


@pytest.mark.parametrize("effect", ["RuntimeError: worker was preempted", BUG.strip()])
def test_what_the_code_around_a_preemption_raises_hides_it_not(effect: str) -> None:
    log = f"{HEAD}RuntimeError: worker was preempted\n{FROM}{HEAD}{effect}\n"
    assert judge_text(log, 1).failure == "preemption"


CANCELLED_LINE = "slurmstepd: error: *** STEP 7.1 ON n1 CANCELLED AT 2026-01-02T03:04:05 ***\n"
FAILED_LINE = "srun: error: n1: task 0: Exited with exit code 1\n"


@pytest.mark.parametrize(
    ("ending", "failure"),
    [
        ("srun: launch/slurm: _step_signal: Terminating StepId=7.1\n", "unknown"),
        ("srun: Terminating job step 7.1\n", "unknown"),
        ("srun: launch/slurm: _step_signal: Terminating StepId=7.0\n", "not-a-failure"),
        ("Loading the model\n", "not-a-failure"),
        (STEPS, "not-a-failure"),
    ],
)
def test_srun_names_the_step_that_it_cancels(ending: str, failure: str) -> None:
    """An earlier step that failed is not why a person cancels a later one."""
    assert judge_text(FAILED_LINE + ending + CANCELLED_LINE, 15).failure == failure
