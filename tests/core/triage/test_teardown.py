"""A crash once the training is done, and errors that stand for others."""

import pytest

from core.triage.judged import judge_text

DONE_LINE = "solver.cpp:322] Optimization Done.\n"
CRASH = "*** SIGSEGV (@0x0) received by PID 7 (TID 0x7f) from PID 0; stack trace: ***\n"
INSIDE = "    @     0x7fba3df6bcb0 (unknown)\n    @     0x41ae8c main\n"
STEP = "solver.cpp:237] Iteration 20, loss = 0.3\n"  # of the next training in the same job
DESTRUCTOR = "    @     0x7fba3fef8a87 caffe::Blob<>::~Blob()\n"


@pytest.mark.parametrize(
    "frame",
    [
        DESTRUCTOR,
        "/lib/libc.so.6(__cxa_finalize+0x99) [0x7f]\n",
        "    @     0x7fba3df70259 __run_exit_handlers\n",
        "    @     0x55d5 Py_FinalizeEx\n",
    ],
)
def test_a_crash_in_a_destructor_ends_no_training_that_is_done(frame: str) -> None:
    judgement = judge_text(
        f"{DONE_LINE}*** Aborted at 14985 (unix time) ***\n{CRASH}{INSIDE}{frame}"
    )
    assert (judgement.failure, judgement.signature) == ("benign", "crash-in-destructor")


@pytest.mark.parametrize(
    "log",
    [
        f"{CRASH}{INSIDE}{DESTRUCTOR}",
        f"step 7: loss 2.0\n{CRASH}{DESTRUCTOR}",
        f"{DONE_LINE}{CRASH}{INSIDE}",
        f"{CRASH}{DONE_LINE}{DESTRUCTOR}",
        f"{DONE_LINE}{CRASH}{INSIDE * 30}{DESTRUCTOR}",
        f"{DONE_LINE}{STEP * 50}{CRASH}{DESTRUCTOR}",
    ],
)
def test_any_other_crash_is_one(log: str) -> None:
    assert judge_text(log).failure == "code-bug-complex"


def test_a_crash_in_a_destructor_hides_no_other_failure() -> None:
    full = "OSError: [Errno 28] No space left on device\n"
    assert judge_text(f"{DONE_LINE}{full}{CRASH}{DESTRUCTOR}").failure == "disk-full"
    assert judge_text(f"{DONE_LINE}{CRASH}{DESTRUCTOR}", 139).failure == "code-bug-complex"


TRACEBACK = 'Traceback (most recent call last):\n  File "/u/a.py", line 5, in f\n'


@pytest.mark.parametrize(
    ("detail", "failure"),
    [
        ("  (0) Not found:  data/7.jpg; No such file or directory", "data"),
        ("  (0) Resource exhausted: OOM when allocating tensor with shape[9]", "oom-accelerator"),
        ("  (0) Invalid argument: the ids are of no shape", "code-bug-complex"),
    ],
)
def test_tensorflow_lists_the_causes_below(detail: str, failure: str) -> None:
    head = "tensorflow.python.framework.errors_impl.AError: 2 root error(s) found.\n"
    assert judge_text(f"{TRACEBACK}{head}{detail}\n\t [[{{{{node Read}}}}]]\n").failure == failure


def test_what_ray_raises_follows_from_the_node_that_died() -> None:
    death_line = (
        "The node with client ID 00ff has been marked dead because the monitor missed it.\n"
    )
    line = "ray.worker.RayGetError: Could not get objectid ObjectID(01). It was created by f\n"
    assert judge_text(f"{death_line}{TRACEBACK}{line}").failure == "node-failure"
    assert judge_text(f"{TRACEBACK}{line}").failure == "unknown"
