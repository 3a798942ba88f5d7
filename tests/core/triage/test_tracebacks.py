"""Tracebacks: whose they are, where they point, which of a chain ended the job."""

import pytest

from core.triage.judged import judge_text, judged_training
from herorun.core.triage.tracebacks import Frame, frame_of

SITE = "/opt/conda/lib/python3.11/site-packages/torch/nn/module.py"


def test_the_innermost_frame_of_the_user_is_named() -> None:
    judgement = judge_text(
        'Traceback (most recent call last):\n  File "/u/train.py", line 5, in <module>\n    '
        "main()\n"
        f'  File "/u/train.py", line 3, in main\n    f()\n  File "{SITE}", line 10, in f\n    '
        "raise KeyError(key)\nKeyError: 1"
    )
    assert (judgement.failure, str(judgement.where), judgement.line) == (
        "code-bug-small",
        "/u/train.py:3",
        8,
    )


@pytest.mark.parametrize(
    "prefix",
    ["[rank3]: ", "[rank3]:", "(Worker pid=12, ip=10.0.0.1) ", "2026-01-01 00:00:01,123 ", "3: ", "stderr: ", "[1,0]<stderr>:",  # noqa: E501  # one entry of a table, or one recorded value
     "task=/u/j/0 | ", "[00:00:01] task=/u/j/0 | ", "2026-01-01T00:00:01.000000001Z stderr F ", "node17: ",  # noqa: E501  # one entry of a table, or one recorded value
     "2023-04-29 06:01:12.977 [177/train/578 (pid 28936)] [09c561ee-a44c-4795-967c-7183a83b3160] "],
)  # fmt: skip
def test_a_launchers_prefix_hides_nothing(prefix: str) -> None:
    lines = [
        "Traceback (most recent call last):",
        '  File "/u/a.py", line 7, in f',
        "    x = d['k']",
        "KeyError: 'k'",
    ]
    judgement = judge_text("\n".join(prefix + line for line in lines))
    assert (judgement.failure, str(judgement.where)) == ("code-bug-small", "/u/a.py:7")


def test_ranks_that_speak_at_once_are_kept_apart() -> None:
    def rank(n: int) -> list[str]:
        own = [
            "Traceback (most recent call last):",
            f'  File "/u/r{n}.py", line {n}, in f',
            "    boom()",
            f"NameError: n{n}",
        ]
        return [f"[rank{n}]: {line}" for line in own]

    mixed_lines = [line for pair in zip(rank(1), rank(2), strict=True) for line in pair]
    assert str(judge_text("\n".join(mixed_lines)).where) == "/u/r1.py:1"


def test_lines_of_others_inside_a_traceback_do_not_end_it() -> None:
    judgement = judge_text(
        'Traceback (most recent call last):\nEpoch: 3\n  File "/u/a.py", line 7, in f\nwandb: '
        "syncing\n    x\nNameError: x"
    )
    assert (judgement.failure, str(judgement.where)) == ("code-bug-small", "/u/a.py:7")


FIRST = 'Traceback (most recent call last):\n  File "/u/a.py", line 1, in f\n    x\nKeyError: 1\n\n'
SECOND = 'Traceback (most recent call last):\n  File "/u/a.py", line 2, in g\n    y\nNameError: y'


def test_of_a_direct_cause_the_cause_is_the_root() -> None:
    log = f"{FIRST}The above exception was the direct cause of the following exception:\n\n{SECOND}"
    assert str(judge_text(log).where) == "/u/a.py:1"


def test_what_was_being_handled_is_not_the_root() -> None:
    log = f"{FIRST}During handling of the above exception, another exception occurred:\n\n{SECOND}"
    assert str(judge_text(log).where) == "/u/a.py:2"


def test_frames_in_several_files_make_it_complex() -> None:
    frames = "".join(f'  File "/u/{name}.py", line 1, in f\n    x\n' for name in "ab")
    assert (
        judge_text(f"Traceback (most recent call last):\n{frames}ValueError: 3").failure
        == "code-bug-complex"
    )
    one = '  File "/u/a.py", line 1, in f\n    x\n'
    assert (
        judge_text(f"Traceback (most recent call last):\n{one}ValueError: 3").failure
        == "code-bug-small"
    )


def test_a_frame_names_the_place_of_a_known_failure() -> None:
    judgement = judge_text(
        'Traceback (most recent call last):\n  File "/u/a.py", line 9, in step\n    '
        "loss.backward()\n"
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB"
    )
    assert (judgement.failure, str(judgement.where)) == ("oom-accelerator", "/u/a.py:9")


def test_a_torn_traceback_is_unknown_and_says_where() -> None:
    judgement = judge_text(
        'Traceback (most recent call last):\n  File "/u/a.py", line 9, in step\n    x'
    )
    assert (judgement.failure, str(judgement.where)) == ("unknown", "/u/a.py:9")


def test_a_header_that_nothing_follows_is_forgotten() -> None:
    log = "Traceback (most recent call last):\n" + "step 1\n" * 100 + "CUDA out of memory"
    assert judge_text(log).failure == "oom-accelerator"


IGNORED_TRACEBACK = [
    "Exception ignored in: <function Feed.__del__ at 0x7f21>",
    "Traceback (most recent call last):",
    '  File "/u/feed.py", line 41, in __del__',
    "    self.pipe.close()",
    "OSError: [Errno 9] Bad file descriptor",
]
REAL = [
    "Traceback (most recent call last):",
    '  File "/u/train.py", line 12, in <module>',
    "    step(batch)",
    "KeyError: 'labels'",
]
CLEAN_UP = [
    "Traceback (most recent call last):",
    '  File "/opt/lib/python3.8/site-packages/wandb/sdk/wandb_run.py", line 7, in _atexit_cleanup',
    '  File "/u/log.py", line 9, in write',
    "OSError: [Errno 9] Bad file descriptor",
]


@pytest.mark.parametrize(
    "lines",
    [
        IGNORED_TRACEBACK,
        [IGNORED_TRACEBACK[0], IGNORED_TRACEBACK[-1]],
        IGNORED_TRACEBACK[:3],
        ["  7%|7   | 7/99 [00:01<00:09,  2.1it/s]" + IGNORED_TRACEBACK[0], *IGNORED_TRACEBACK[1:]],
        [
            IGNORED_TRACEBACK[0],
            IGNORED_TRACEBACK[1],
            IGNORED_TRACEBACK[0],
            IGNORED_TRACEBACK[2],
            *IGNORED_TRACEBACK[1:],
            *IGNORED_TRACEBACK[2:],
        ],
        [
            f"[2024-01-01 07:00:00,123] torch._dynamo.convert_frame: [WARNING] {line}"
            for line in [
                "WON'T CONVERT forward /u/net.py line 12 ",
                "due to: ",
                *IGNORED_TRACEBACK[1:3],
                "torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:",
                "FileNotFoundError: [Errno 2] No such file or directory: 'ldconfig'",
            ]
        ],
        [line for line in IGNORED_TRACEBACK for _ in range(2)],
        [f"[rank{rank}]: {line}" for line in IGNORED_TRACEBACK for rank in range(3)],
        ["wandb: ERROR Problem finishing run", *CLEAN_UP],
        ["Error in atexit._run_exitfuncs:", *IGNORED_TRACEBACK[1:]],
        [
            *IGNORED_TRACEBACK,
            "During handling of the above exception, another exception occurred:",
            *REAL,
        ],
        [
            "Traceback (most recent call last):",
            '  File "/opt/lib/python3.11/multiprocessing/queues.py", line 258, in _feed',
            '  File "/opt/lib/python3.11/multiprocessing/connection.py", line 366, in _close',
            "OSError: [Errno 9] Bad file descriptor",
        ],
    ],
)
def test_an_ignored_exception_is_no_failure(lines: list[str]) -> None:
    assert judged_training("\n".join(lines)).failure == "benign"


@pytest.mark.parametrize(
    "lines",
    [
        [*IGNORED_TRACEBACK, *REAL],
        [*REAL, *IGNORED_TRACEBACK],
        [*REAL, *CLEAN_UP],
        ["wandb: ERROR Problem finishing run", *REAL],
        [*IGNORED_TRACEBACK[:3], *REAL],
        [*REAL[:3], *IGNORED_TRACEBACK, REAL[3]],
        [*REAL[:3], *IGNORED_TRACEBACK[:4], "epoch 3 of 9", REAL[3]],
        [IGNORED_TRACEBACK[0], "saved the vocabulary", *REAL],
        [*IGNORED_TRACEBACK[:4], "epoch 3 of 9", REAL[3]],
        [f"[rank{rank}]: {line}" for line in [*IGNORED_TRACEBACK, *REAL] for rank in range(3)],
        [
            f"[rank0]: {line}"
            for line in [
                IGNORED_TRACEBACK[0],
                "ResourceWarning: unclosed <socket.socket fd=5>",
                *REAL,
            ]
        ],
        [f"[rank0]: {line}" for line in [IGNORED_TRACEBACK[0], "SystemExit: 1", "step 3", *REAL]],
        [
            f"{label} {line}"
            for pair in zip([*IGNORED_TRACEBACK, ""], [*REAL, "", ""], strict=True)
            for label, line in zip(("[rank1]:", "[rank2]:"), pair, strict=True)
            if line
        ],
    ],
)
def test_an_ignored_exception_hides_no_other(lines: list[str]) -> None:
    assert judge_text("\n".join(lines)).failure == "code-bug-small"


@pytest.mark.parametrize(
    ("end", "failure"),
    [
        ("OSError: [Errno 28] No space left on device", "disk-full"),
        ("RuntimeError: DataLoader worker (pid 71) is killed by signal: Killed.", "oom-host"),
        ("RuntimeError: DataLoader worker (pid 71) is killed by signal: Aborted.", "unknown"),
        ("RuntimeError: CUDA error: device-side assert triggered", "data"),
        ("RuntimeError: CUDA error: uncorrectable ECC error encountered", "bad-accelerator"),
        ("OSError: [Errno 116] Stale file handle", "storage"),
        ("torch.distributed.DistStoreError: socket timeout", "network-collective"),
    ],
)
def test_what_an_ignored_exception_reports_may_still_be_the_cause(end: str, failure: str) -> None:
    assert judge_text("\n".join([*IGNORED_TRACEBACK[:-1], end])).failure == failure


@pytest.mark.parametrize("announcement", [IGNORED_TRACEBACK[0], "Error in atexit._run_exitfuncs:"])
@pytest.mark.parametrize("error", ["RuntimeError: pool is closed", "FileNotFoundError: x.pt"])
def test_a_save_that_fails_at_the_end_is_not_benign(announcement: str, error: str) -> None:
    lines = [announcement, REAL[0], '  File "/u/io.py", line 9, in _save_state', error]
    assert judge_text("\n".join(lines)).failure == "unknown"


@pytest.mark.parametrize(
    ("frame", "failure"),
    [
        ("/opt/lib/python3.11/multiprocessing/connection.py", "unknown"),
        ("/u/feed.py", "code-bug-complex"),
    ],
)
def test_a_pipe_that_ended_is_another_processs_end(frame: str, failure: str) -> None:
    lines = [REAL[0], f'  File "{frame}", line 383, in _recv', "    raise EOFError", "EOFError"]
    judgement = judge_text("\n".join(lines))
    assert (judgement.failure, judgement.person) == (failure, True)


def test_what_ended_the_other_process_explains_a_pipe_that_ended() -> None:
    frame = '  File "/opt/lib/python3.11/multiprocessing/connection.py", line 383, in _recv'
    end = "slurmstepd: error: Detected 1 oom_kill event in StepId=7.0."
    judgement = judge_text("\n".join([REAL[0], frame, "EOFError", end]))
    assert (judgement.failure, judgement.line, judgement.person) == ("oom-host", 4, False)


@pytest.mark.parametrize(
    ("frame", "failure"),
    [
        ('"C:\\Python311\\Lib\\multiprocessing\\spawn.py", line 115, in _main', "unknown"),
        ('"/opt/lib/python3.11/multiprocessing/spawn.py", line 126, in _main', "unknown"),
        ('"/opt/lib/python3.11/multiprocessing/spawn.py", line 9, in get_executable', "data"),
        ('"/u/spawn.py", line 126, in _main', "data"),
    ],
)
def test_what_a_parent_could_not_send_is_no_damaged_file(frame: str, failure: str) -> None:
    lines = [REAL[0], f"  File {frame}", "EOFError: Ran out of input"]
    assert judge_text("\n".join(lines)).failure == failure


@pytest.mark.parametrize(
    ("end", "failure"),
    [
        ("RuntimeError: cannot schedule new futures after interpreter shutdown", "unknown"),
        ("RuntimeError: can't create new thread at interpreter shutdown", "unknown"),
        ("RuntimeError: cannot schedule new futures after shutdown", "code-bug-complex"),
    ],
)
def test_a_thread_that_outlives_the_program_did_not_end_it(end: str, failure: str) -> None:
    frames = ['  File "/u/a.py", line 7, in f', '  File "/u/b.py", line 7, in f']
    assert (
        judge_text("\n".join(["Exception in thread Feed:", REAL[0], *frames, end])).failure
        == failure
    )


@pytest.mark.parametrize(
    ("cause", "effect", "failure", "line"),
    [
        ("struct.error: 4 bytes", "OSError: image file is truncated", "data", 9),
        ("struct.error: 4 bytes", "ValueError: bad step", "code-bug-complex", 4),
        ("OSError: image file is truncated", "KeyError: 'step'", "data", 4),
        ("RuntimeError: CUDA out of memory", "OSError: is truncated", "oom-accelerator", 4),
    ],
)
def test_what_an_exception_was_raised_from(
    cause: str, effect: str, failure: str, line: int
) -> None:
    """The one that a row knows explains the other."""
    frames = ['  File "/u/a.py", line 7, in f', '  File "/u/b.py", line 7, in f']
    link = "The above exception was the direct cause of the following exception:"
    judgement = judge_text("\n".join([REAL[0], *frames, cause, link, REAL[0], *frames, effect]))
    assert (judgement.failure, judgement.line) == (failure, line)


def test_a_line_between_two_exceptions_does_not_part_them() -> None:
    link = "During handling of the above exception, another exception occurred:"
    lines = [*REAL, link, "ValueError: of another process", *REAL[:3], "AttributeError: x"]
    assert judge_text("\n".join(lines)).line == 10


def test_a_thread_that_died_is_not_ignored() -> None:
    lines = ["Exception ignored in thread started by: <function feed at 0x7f21>", *REAL]
    assert judge_text("\n".join(lines)).failure == "code-bug-small"


def test_a_rank_whose_announcement_led_to_nothing_is_read_on() -> None:
    error = "RuntimeError: CUDA error: device-side assert triggered"
    lines = [IGNORED_TRACEBACK[0], "ResourceWarning: unclosed <socket.socket fd=5>", error]
    log = "\n".join(f"[rank0]: {line}" for line in lines)
    assert judge_text(log).failure == "data"


@pytest.mark.parametrize("program", [REAL[1:3], []])
def test_a_connection_that_the_program_closes_twice_is_its_bug(program: list[str]) -> None:
    """Also where the program itself is an installed package."""
    lines = [
        REAL[0],
        *program,
        '  File "/opt/lib/python3.11/site-packages/trainer/main.py", line 8, in main',
        '  File "/opt/lib/python3.11/multiprocessing/connection.py", line 182, in close',
        "OSError: [Errno 9] Bad file descriptor",
    ]
    assert judge_text("\n".join(lines)).failure == "code-bug-complex"


def test_a_frame_has_its_file_line_and_function() -> None:
    assert frame_of('  File "/u/train.py", line 3, in main') == Frame("/u/train.py", 3, "main")
    assert frame_of('  File "/u/train.py", line 3') == Frame("/u/train.py", 3, "")
    assert frame_of("main()") is None
