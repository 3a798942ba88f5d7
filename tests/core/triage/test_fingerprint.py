"""The same failure has one name; another failure another."""

import pytest
from hypothesis import given, strategies as st

from core.triage.judged import judge_text
from herorun.core.triage.fingerprint import _steady, steady

SAME = [
    (
        (
            "[rank0]:[E321 02:07:08.4 ProcessGroupNCCL.cpp:607] [Rank 0] Watchdog caught "
            "collective operation timeout: WorkNCCL(SeqNum=1580, OpType=ALLREDUCE, "
            "Timeout(ms)=600000) ran for 600060 milliseconds before timing out."
        ),
        (
            " 6%|█   | 3/50 [6:28:43<94:39]\r[rank14]:[E322 12:07:08.9 ProcessGroupNCCL.cpp:607] "
            "[Rank 14] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=81, "
            "OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600101 milliseconds before timing out."
        ),
    ),
    (
        (
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.70 GiB. GPU 0 has "
            "6.00 GiB, process 12 has 5 MiB"
        ),
        (
            "[rank7]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 496 MiB. GPU "
            "7 has 8.00 GiB, process 4711 has 1.5 GiB"
        ),
    ),
    (
        (
            "slurmstepd: error: *** JOB 494583 ON cn17 CANCELLED AT 2024-04-20T09:09:37 DUE TO "
            "PREEMPTION ***"
        ),
        (
            "slurmstepd: error: *** JOB 7 ON cn2 CANCELLED AT 2026-01-02T00:00:00 DUE TO "
            "PREEMPTION ***"
        ),
    ),
    (
        (
            "FileNotFoundError: [Errno 2] No such file or directory: "
            "'/scratch/run-0a1b2c3d4e5f/attempt-1/shard-00017.tar'"
        ),
        (
            "FileNotFoundError: [Errno 2] No such file or directory: "
            "'/tmp/8f14e45f-ceea-467f-a8b1-5f2a7d3c1e9b/shard-00018.tar'"
        ),
    ),
    (
        (
            "torch.distributed.DistNetworkError: The client socket has timed out after 600000ms "
            "while trying to connect to (10.0.0.1, 29500)."
        ),
        (
            "torch.distributed.DistNetworkError: The client socket has timed out after 1800000ms "
            "while trying to connect to (10.4.17.2, 41235)."
        ),
    ),
    ("RuntimeError: cannot identify image file <_io.BytesIO object at 0x1f>", (
        "RuntimeError: cannot identify image file "
        "<_io.BytesIO object at 0x7fdeadbeef>"
    )),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), SAME)
def test_ranks_attempts_and_nodes_share_it(one: str, other: str) -> None:
    assert judge_text(one).fingerprint == judge_text(other).fingerprint


def trace(line: int, error: str, folder: str = "/u") -> str:
    return (
        f'Traceback (most recent call last):\n  File "{folder}/a.py", line {line}, in f\n    x\n'
        f"{error}"
    )


def test_another_key_place_type_or_message_differs() -> None:
    logs = [
        trace(1, "KeyError: 'a'"),
        trace(1, "KeyError: 'b'"),
        trace(2, "KeyError: 'a'"),
        trace(1, "NameError: 'a'"),
        SAME[0][0],
        SAME[1][0],
    ]
    assert len({judge_text(log).fingerprint for log in logs}) == len(logs)


def test_the_folder_of_the_checkout_does_not_matter() -> None:
    assert (
        judge_text(trace(1, "KeyError: 'a'")).fingerprint
        == judge_text(trace(1, "KeyError: 'a'", "/scratch/7/x")).fingerprint
    )


PARTS = st.sampled_from(
    [
        "0",
        "0x",
        "1",
        "29",
        "3.5e-7",
        "a",
        "f",
        "deadbeef",
        "node",
        "rank",
        "/",
        "-",
        " ",
        ":",
        "GiB",
    ]
)


@given(st.lists(PARTS, max_size=30).map("".join))
def test_no_rule_tells_digits_apart(message: str) -> None:
    assert steady(message) == _steady.__wrapped__(message[:300].lower())
