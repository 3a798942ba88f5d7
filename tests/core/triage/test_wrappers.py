"""What collectors, launchers and people put around a line does not change what it says."""

import json
from collections.abc import Callable

import pytest

from core.triage.judged import judge_text

LOGS = {
    "code-bug-small": (
        "step 7: loss 2.1\n"
        "Traceback (most recent call last):\n"
        '  File "/work/train.py", line 40, in <module>\n'
        "    main()\n"
        '  File "/work/train.py", line 12, in main\n'
        "    print(widht)\n"
        "NameError: name 'widht' is not defined. Did you mean: 'width'?"
    ),
    "oom-accelerator": (
        "Traceback (most recent call last):\n"
        '  File "/work/train.py", line 40, in <module>\n'
        "    loss.backward()\n"
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.70 GiB."
    ),
    "timeout": "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-01-01 DUE TO TIME LIMIT ***",
    "benign": "step 7: loss 2.1\nUserWarning: this will be an error later on\nstep 8: loss 2.0",
}
AT = "2026-01-01T00:00:00.123456789Z"


def envelope(**more: object) -> Callable[[str], str]:
    def wrap(line: str) -> str:
        (key,) = [key for key, value in more.items() if value is None]
        return json.dumps({**more, key: line})

    return wrap


WRAPPERS: dict[str, Callable[[str], str]] = {
    "four blanks": lambda line: f"    {line}",
    "a tab": lambda line: f"\t{line}",
    "a quotation mark": lambda line: f"> {line}",
    "two quotation marks": lambda line: f"> > {line}",
    "colours": lambda line: f"\x1b[31m{line}\x1b[0m",
    "kubectl logs --timestamps": lambda line: f"{AT} {line}",
    "kubectl logs --prefix": lambda line: f"[pod/train-0/main] {line}",
    "docker compose": lambda line: f"trainer-1  | {line}",
    "docker-compose, in colours": lambda line: f"\x1b[36mtrain_worker_1    |\x1b[0m {line}",
    "docker, with a name of its own": lambda line: f"trainer   | {line}",
    "the file of docker": lambda line: json.dumps(
        {"log": f"{line}\n", "stream": "stderr", "time": AT}
    ),
    "a logger of JSON": envelope(level="error", ts=1.5, msg=None),
    "a message alone": envelope(message=None),
    "JSON in the log of a container": lambda line: (
        f"{AT} stderr F {json.dumps({'message': line, 'severity': 'ERROR'})}"
    ),
    "JSON in JSON": lambda line: json.dumps(
        {"log": json.dumps({"message": line, "level": "info"}) + "\n", "stream": "stdout"}
    ),
    "cloud logging": lambda line: json.dumps(
        {"insertId": "1x", "jsonPayload": {"message": line}, "timestamp": AT}
    ),
}


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
@pytest.mark.parametrize("failure", LOGS)
def test_a_wrapper_changes_no_class(failure: str, wrap: Callable[[str], str]) -> None:
    plain = judge_text(LOGS[failure])
    wrapped_verdict = judge_text("\n".join(wrap(line) for line in LOGS[failure].split("\n")))
    assert (str(plain.failure), plain.signature) == (failure, plain.signature)
    assert (wrapped_verdict.failure, wrapped_verdict.signature) == (plain.failure, plain.signature)
    assert wrapped_verdict.fingerprint == plain.fingerprint
    assert wrapped_verdict.where == plain.where


def test_a_whole_traceback_in_one_envelope() -> None:
    line = json.dumps({"level": "ERROR", "message": LOGS["code-bug-small"]})
    verdict = judge_text(f"step 6: loss 2.2\n{line}\n")
    assert (str(verdict.failure), verdict.line) == ("code-bug-small", 2)


def test_two_writers_in_one_stream_of_envelopes() -> None:
    lines = LOGS["code-bug-small"].split("\n")
    rows = [{"message": line, "level": "error", "rank": rank} for line in lines for rank in (0, 1)]
    assert str(judge_text("\n".join(map(json.dumps, rows))).failure) == "code-bug-small"


@pytest.mark.parametrize(
    "line",
    [
        '{"instruction": "Explain", "output": "RuntimeError: CUDA out of memory."}',
        '{"text": "RuntimeError: CUDA out of memory.", "source": "a forum"}',
        '{"role": "user", "content": "CUDA out of memory. Tried to allocate 2 GiB"}',
        '        raise RuntimeError("CUDA out of memory")',
        '>     raise RuntimeError("CUDA out of memory")',
        '{"message": "    raise RuntimeError(\\"CUDA out of memory\\")", "level": "info"}',
        '{"message": "this might be caused by CUDA out of memory", "level": "info"}',
    ],
)
def test_what_is_printed_and_did_not_happen_is_no_failure(line: str) -> None:
    """A sample of a dataset, a source listing, a guess."""
    assert str(judge_text(f"step 7: loss 2.1\n{line}\nstep 8: loss 2.0").failure) == "benign"


def test_steps_in_colours_and_in_envelopes_count() -> None:
    """A training that continues after an exception."""
    for wrap in (WRAPPERS["colours"], WRAPPERS["the file of docker"]):
        steps = "\n".join(wrap(f"Step {step}: loss 2.1") for step in range(30))
        assert str(judge_text(f"{LOGS['code-bug-small']}\n{steps}").failure) == "not-a-failure"
