"""What a harder set of logs showed to be missing, and what looks like it and is not."""

import pytest

from core.triage.judged import judge_text, judged_training

# Written for the tests, in the form that the tools print.
FAILED_CASES = [
    ("numeric", "03:04:05: train iter: 100 loss_net: nan norm: nan"),
    ("numeric", "epoch 3 loss_cls: 0.1, loss_bbox: inf"),
    ("numeric", "| WARNING: overflow detected, setting loss scale to: 0.0001220703125"),
    (
        "oom-accelerator",
        "THCudaCheck FAIL file=/a/THC/generic/THCStorage.cu line=58 error=2 : out of memory",
    ),
    (
        "timeout",
        "submitit WARNING (2026-01-02) - Caught signal SIGUSR1 on n7: this job is timed-out.",
    ),
    (
        "timeout",
        "[submitit][INFO] - Job has timed out. Ran 60 minutes out of requested 60 minutes.",
    ),
    (
        "code-bug-small",
        "python: can't open file '/u/train.py': [Errno 2] No such file or directory",
    ),
    ("code-bug-small", "Error merging 'config' with schema\nKey 'name' not in 'Trainer'"),
    ("code-bug-small", "Key 'optimiser' is not in struct\n    full_key: train.optimiser"),
    ("code-bug-small", "In 'config': Could not find 'model/large'"),
    ("code-bug-complex", "terminate called after throwing an instance of 'c10::Error'"),
    ("unknown", "terminate called without an active exception"),
    ("network-collective", "node2: Net : Call to recv from 10.0.0.7<41234> failed : Broken pipe"),
    ("disk-full", "RuntimeError: write(): fd 29 failed with Input/output error"),
    (
        "data",
        "pyarrow.lib.ArrowIOError: Expected to be able to read 196 bytes for message body, got 9",
    ),
    (
        "data",
        "RuntimeError: stack expects each tensor to be equal size, but got [3, 8] at entry 0",
    ),
]
TRAINS = [
    "epoch 3 loss: 0.2, loss_mask: nan",
    "Namespace(lr=0.1, loss_cap=inf, loss_clip=inf, loss_aux_weights=inf, loss_clip_value=inf)",
    "INFO best loss_val=inf, will save when lower",
    "min loss_val=inf",
    "step 1 train_loss=2.0 loss_scale=inf",
    '{"loss_min": Infinity, "loss_max": -Infinity}',
    "loss_fn=nan-safe cross entropy, loss_mode=nan-safe",
    "| WARNING: overflow detected, setting loss scale to: 0.001953125",
    "Net : Call to recv returned Connection refused, retrying",
    "submitit INFO - Job has not timed out. Ran 1 minutes out of requested 20 minutes.",
]


@pytest.mark.parametrize(("failure", "log"), FAILED_CASES)
def test_a_failure_has_its_class(failure: str, log: str) -> None:
    assert judge_text(log).failure == failure


@pytest.mark.parametrize(
    ("log", "failure"),
    [
        ("loss_limit=inf\nRuntimeError: NCCL error: unhandled system error", "network-collective"),
        ("train loss_ema=inf at start\n{}", "code-bug-small"),
        ("evaluation job has timed out; continuing\nRuntimeError: bad sizes", "code-bug-complex"),
    ],
)
def test_what_sounds_like_one_hides_no_failure(log: str, failure: str) -> None:
    bug = 'Traceback (most recent call last):\n  File "/u/a.py", line 5, in f\nKeyError: 1\n'
    assert judge_text(log.format(bug)).failure == failure


@pytest.mark.parametrize("log", TRAINS)
def test_what_looks_like_one_is_none(log: str) -> None:
    assert judged_training(log).failure == "benign"


@pytest.mark.parametrize(
    ("file", "exception", "failure"),
    [
        ("PIL/PngImagePlugin.py", "struct.error: unpack requires a buffer of 4 bytes", "data"),
        ("PIL/ImageFile.py", "SyntaxError: broken PNG file", "code-bug-small"),
        ("PIL/ImageFile.py", "ValueError: bad tile", "data"),
        ("PIL/Image.py", "ValueError: bad mode", "code-bug-complex"),
        ("numpy/core/io.py", "struct.error: unpack requires a buffer", "code-bug-complex"),
        ("PIL/ImageFile.py", "AttributeError: no attribute 'x'", "code-bug-small"),
    ],
)
def test_what_pillow_cannot_read_is_data(file: str, exception: str, failure: str) -> None:
    frames = (
        'Traceback (most recent call last):\n  File "/u/train.py", line 5, in main\n    f()\n'
        '  File "/u/data.py", line 9, in f\n    load()\n'
        f'  File "/opt/lib/python3.11/site-packages/{file}", line 3, in load\n    g()\n'
    )
    assert judge_text(f"{frames}{exception}\n").failure == failure


def test_what_pillow_cannot_write_is_no_data() -> None:
    frames = (
        'Traceback (most recent call last):\n  File "/u/plot.py", line 5, in main\n    f()\n'
        '  File "/u/train.py", line 9, in f\n    image.save("a.jpg")\n'
        '  File "/opt/lib/python3.11/site-packages/PIL/Image.py", line 3, in save\n'
        '  File "/opt/lib/python3.11/site-packages/PIL/JpegImagePlugin.py", line 3, in _save\n'
    )
    error = "OSError: cannot write mode RGBA as JPEG"
    assert judge_text(f"{frames}{error}\n").failure == "code-bug-complex"


HANDLER = """--- Logging error ---
Traceback (most recent call last):
  File "/opt/lib/python3.11/logging/__init__.py", line 1113, in emit
    stream.write(msg + self.terminator)
{}
Call stack:
  File "/u/train.py", line 7, in <module>
    log.info("step")
"""


def test_what_a_log_handler_cannot_write_ends_nothing() -> None:
    broken_log = HANDLER.format("UnicodeEncodeError: 'charmap' codec can't encode character")
    assert judged_training(broken_log).failure == "benign"
    full = HANDLER.format("OSError: [Errno 28] No space left on device")
    assert judged_training(full).failure == "disk-full"


BUG = 'Traceback (most recent call last):\n  File "/u/a.py", line 5, in f\nKeyError: 1'


@pytest.mark.parametrize(
    ("error", "failure"),
    [("RuntimeError: the real one", "code-bug-complex"), (BUG, "code-bug-small")],
)
def test_a_call_stack_hides_no_exception(error: str, failure: str) -> None:
    handler = HANDLER.format("UnicodeEncodeError: 'charmap' codec can't encode character")
    frames = handler[handler.index("Call stack:") :]
    others = "the batch is small\n" * 50
    for before in (
        frames,
        handler,
        f"{handler}Message: 'step'\nArguments: ()\n",
        f"{handler}{handler}",
        handler.replace(frames, f"{others}{frames}"),
        handler.replace(frames, "Call stack:\n"),
    ):
        verdict = judge_text(f"step 1 loss: 2.0\n{before}{error}\n")
        assert (verdict.failure, verdict.excerpt) == (failure, error.splitlines()[-1])


@pytest.mark.parametrize(
    "message",
    ["UnicodeEncodeError: 'charmap' codec can't", "UnicodeEncodeError: a\nmessage\nof lines"],
)
def test_the_frames_of_a_call_stack_are_no_torn_traceback(message: str) -> None:
    handler = HANDLER.format(message)
    for log in (handler, handler * 3, f"step 1 loss: 2.0\n{handler}"):
        assert judge_text(f"step 1 loss: 2.0\nstep 2 loss: 1.9\n{log}").failure == "benign"
        for block in (1, 7, 64):
            assert judge_text(f"step 2 loss: 1.9\n{log}", block=block).failure == "benign"


@pytest.mark.parametrize(
    "label",
    [
        "[2026-01-02 07:00:00,123] torch._dynamo.convert_frame: [WARNING] ",
        "W0304 10:11:12.123456 14048 torch/_dynamo/convert_frame.py:1016] ",
    ],
)
def test_what_torch_compile_does_without_ends_nothing(label: str) -> None:
    lines = ("raised:", "FileNotFoundError: [Errno 2] No such file or directory: 'ldconfig'")
    assert judged_training("\n".join(label + line for line in lines)).failure == "benign"
    other = label.replace("_dynamo", "_inductor")
    assert judge_text("\n".join(other + line for line in lines)).failure == "data"
