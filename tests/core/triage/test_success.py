"""What a log shows of a success, and which errors nobody explains."""

import pytest

from core.triage.judged import judge_text, judged_training

STEPS = "".join(f"[rank{step % 2}] step {step}/1000 loss 2.0\n" for step in range(1, 61))
KEY = """Traceback (most recent call last):
  File "/home/u/train.py", line 51, in main
    model = config['model']
KeyError: 'model'"""

WARNING_LINE = "a.py:1: UserWarning: the batch is small"
BEFORE = ("", f"{WARNING_LINE}\n", f"{WARNING_LINE}\n" * 500)


@pytest.mark.parametrize(
    "end",
    [
        "{'loss': 2.04, 'epoch': 0.1}",
        " 12%|#   | 251/2724 [9:17:06<91:10:29, 132.73s/it]",
        "train_loss = 2.04\ntrain_loss = 2.03",
        "step 0: loss 2.04, grad_norm: 1.2",
        "epoch: 0, train_loss: 2.04",
        "mAP: 0.3\nmAP: 0.4",
        "Training complete!",
        "Training completed. Do not forget to share your model",
        "Training done in 1104.74 seconds.",
        "[TRAIN] [Rank 0] [INFO] [train.py:535] Training finished, exiting ...",
        "300 epochs completed in 1.5 hours.",
        "[launch.py:351] exits with return code = 0",
        "Training finished in 3 h",
        "[INFO] [launch.py:347:main] Process 6293 exits successfully.",
        "`Trainer.fit` stopped: `max_epochs=3` reached.",
        "{'train_runtime': 120.5, 'train_samples_per_second': 3.1}",
        "4711  train  gpu  COMPLETED  0:0",
    ],
)
def test_only_what_shows_a_success_is_benign(end: str) -> None:
    for before in BEFORE:
        assert judge_text(f"{before}{end}\n").failure == "benign"


def test_another_end_is_benign_by_its_exit_code_alone() -> None:
    for before in BEFORE:
        assert judge_text(f"{before}Loading the model\n").failure == "unknown"
        assert judge_text(f"{before}Loading the model\n", 0).failure == "benign"


@pytest.mark.parametrize(
    "line",
    [
        "Training finished: False",
        "training done with error",
        "job completed 3 of 40 tasks",
        "DeepSpeed exits with return code = 1",
        "4711  train  gpu  FAILED  1:0",
        "the loss is high",
        "Loading checkpoint shards:  50%|##   | 3/7 [00:04<00:04,  1.1s/it]",
        "Map (num_proc=8):  12%|#   | 251/2724 [00:06<01:10, 132.7 examples/s]",
        "  0%|    | 0/2724 [00:00<?, ?it/s]",
        "lr: 0.0003",
        "train_loss = 2.04",
        "grad_acc: 8",
        "gradient_acc = 8",
        "device_map: 0\ndevice_map: 1",
        "z_loss: 0.0001",
        "target_accuracy: 0.759\ntarget_accuracy: 0.8",
        "router_aux_loss: 0.001",
        "max_loss: 10",
        "bbox_loss=5.0",
        "Namespace(lr=0.1, ctc_loss=1, bbox_loss=5.0)",
        "best_acc = 0",
        "epoch: 0",
        "Epoch 1/90",
        "step 0",
        "Training complete: 12 of 100000 steps, giving up",
        "Training finished after 12 s, giving up",
        "Training done after exception",
        "Training finished (crashed)",
        "Training finished: aborted",
        "Training finished with status 1",
        "Training finished with exit code 1",
        "training is complete nonsense",
        "Warmup training finished",
        "dataset upload job completed successfully",
        "checkpoint upload status: completed",
        '{"event": "probe", "key": "status", "value": "success"}',
        "0 epochs completed in 0.000 hours.",
        "4711.extern  extern  COMPLETED  0:0",
        "wandb: Waiting for W&B process to finish... (failed 1).\nwandb: Run history:",
    ],
)
def test_what_shows_no_success_is_not_benign(line: str) -> None:
    assert judge_text(line).failure == "unknown"


def test_a_step_of_an_older_attempt_or_of_long_ago_shows_no_success() -> None:
    restart_log = f"{STEPS}=== attempt 2 ===\n{WARNING_LINE}\n"
    assert (judge_text(restart_log).failure, judge_text(f"{restart_log}step 1\n").failure) == (
        "unknown",
        "benign",
    )
    assert judge_text(f"{STEPS}{'quiet line' * 9}\n" + "no news\n" * 2000).failure == "unknown"


ERRORS = (
    "[2025-10-31 05:07:11,062][__main__][ERROR] - the launcher gave up",
    "ERROR:root:the shards do not suffice",
    "2025-10-31 05:07:11,062 - trainer - CRITICAL - the shards do not suffice",
    "Error: the stream is broken",
    "the collector failed on rank 3",
    "│ ❱ 580 │   raise subprocess.CalledProcessError(returncode=1)",
    "----> 1 launch_training(args)",
)


@pytest.mark.parametrize("error", ERRORS)
def test_an_error_that_no_row_knows_is_unknown_and_shown(error: str) -> None:
    log = f"{STEPS}{error}\nstep 61 loss 2.0\n"
    for code in (None, 1):
        judgement = judge_text(log, code)
        assert (judgement.failure, judgement.line) == ("unknown", 61)
        assert judgement.signature == "unexplained-error"
    assert judge_text(log, 0).failure == "not-a-failure"
    assert judge_text(f"{KEY}\n{log[len(STEPS) :]}").failure == "code-bug-small"
    assert judge_text(f"{error}\n{STEPS}").failure == "benign"
    assert judge_text(f"{error}\nTraining finished.\n").failure == "benign"
    assert judge_text(f"Training finished.\n{error}\n").failure == "unknown"


@pytest.mark.parametrize(
    "end",
    [
        "[INFO] [launch.py:347:main] Process 6293 exits successfully.",
        "4712  train  gpu  COMPLETED  0:0",
        "wandb: Run history:",
    ],
)
def test_the_end_of_one_process_explains_no_error(end: str) -> None:
    for error in ERRORS:
        assert judge_text(f"{STEPS}{error}\n{end}\n").failure == "unknown"


def test_of_a_failed_job_in_accounting_no_row_shows_a_success() -> None:
    rows = "4711  train  gpu  FAILED  1:0\n4711.batch  batch  FAILED  1:0\n"
    assert judge_text(f"{rows}4711.extern  extern  COMPLETED  0:0\n").failure == "unknown"
    assert judge_text(f"{rows}4712  train  gpu  COMPLETED  0:0\n").failure == "unknown"


def test_an_unexplained_error_has_no_fingerprint() -> None:
    for error in ERRORS:
        for code in (None, 1, 137):
            assert not judge_text(f"{STEPS}{error}\n", code).fingerprint
    assert judge_text(f"{STEPS}{KEY}\n", 1).fingerprint


@pytest.mark.parametrize(
    "line",
    [
        "the prefetcher crashed=True",
        "terminated: True, truncated: False",
        "aborted=3",
        "number of failed samples: 7",
        "crashed: 0, aborted: 2",
        "failed at step: 0",
        "crashed on rank: 0",
        "The process was terminated with exit code 1",
        "libfoo: error: warning: cannot load the driver",
        "cannot warn the users",
    ],
)
def test_what_may_be_an_error_is_a_doubt(line: str) -> None:
    assert judged_training(line).failure == "unknown"


@pytest.mark.parametrize(
    "line",
    [
        "[2025-10-31 05:07:11,062][__main__][WARNING] - the cache failed",
        "libibverbs: Warning: couldn't load driver 'libbnxt_re-rdmav34.so'",
        "wandb: WARNING unable to render progress bar",
        "terminated: False, truncated: False",
        "crashed=False",
        "aborted=0",
        "No errors, aborted: 0",
        "number of failed samples: 0",
        "The process was terminated with exit code 0",
        "[2025-10-31 05:07:11,062][__main__][INFO] - the cache failed",
        "[W socket.cpp:401] cannot reach the store yet",
        "mean_squared_error: 0.025",
        "Error: 0.025",
        "failed to import apex, using torch layernorm instead",
        "shard lookup failed: ignoring it",
        "Network error resolved after 0:00:12, resuming",
        "failed: 0",
        "no test failed=0",
        "it never failed",
    ],
)
def test_what_is_no_error_or_is_handled_is_no_doubt(line: str) -> None:
    assert judged_training(line).failure in ("benign", "not-a-failure")


@pytest.mark.parametrize(
    ("line", "failure"),
    [
        ("RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB", "oom-accelerator"),
        ("torch.OutOfMemoryError: Allocation on device 0 (out of memory)", "oom-accelerator"),
        ("RuntimeError: the queue is out of memory slots of the NPU", "code-bug-complex"),
        ("HCCL function error: hcclAllReduce, error code is 9", "network-collective"),
        ("HCCL function error: hcclAllReduce, error code is 1", "unknown"),
        ("NPU function error: aclrtSynchronize, error code is 507048", "network-collective"),
        ("NPU function error: aclrtSynchronize, error code is 507011", "unknown"),
        ("EI0002: The wait execution of the Notify register times out.", "network-collective"),
        ("omegaconf.errors.InterpolationKeyError: 'x' not found", "code-bug-small"),
        ("yaml.scanner.ScannerError: mapping values are not allowed here", "code-bug-small"),
        ("RuntimeError: Engine core initialization failed. See root cause above.", "unknown"),
        ("vllm.EngineDeadError: EngineCore encountered an issue.", "unknown"),
    ],
)
def test_a_type_or_a_message_has_its_class(line: str, failure: str) -> None:
    assert judge_text(line).failure == failure


@pytest.mark.parametrize(
    "line",
    [
        "NPU: out of memory handler installed",
        "hpu: raise on out of memory = false",
        "hpu: raise on out of memory",
        "cudaMalloc: retry on out of memory enabled",
        "HCCL error reporting is enabled",
        "HCCL error handling: off",
        "Got completion from peer 3 with status OK",
        "Got completion from peer 3 with status=IBV_WC_SUCCESS(0)",
        "malloc(): using jemalloc",
    ],
)
def test_a_setting_is_no_failure(line: str) -> None:
    assert judge_text(f"{line}\n{KEY}\n").failure == "code-bug-small"
    assert judge_text(line, 1).failure == "unknown"


@pytest.mark.parametrize(
    ("line", "failure"),
    [
        ("ggml: allocating 1.00 MiB: cudaMalloc failed: out of memory", "oom-accelerator"),
        ("HPU is out of memory.", "oom-accelerator"),
        ("HCCL function error: hcclAllReduce, error code is 9", "network-collective"),
        ("NET/IB : Got completion from peer 10.0.0.1<3637> with error 12", "network-collective"),
        ("Got completion from peer 3 with status=5", "network-collective"),
        ("socketProgress: Connection closed by remote peer", "network-collective"),
        ("malloc(): invalid size (unsorted)", "code-bug-complex"),
        ("malloc(): corrupted top size", "code-bug-complex"),
        ("malloc(): smallbin double linked list corrupted", "code-bug-complex"),
    ],
)
def test_the_failure_itself_keeps_its_class(line: str, failure: str) -> None:
    assert judge_text(line, 1).failure == failure


def test_the_bug_of_a_spawned_process_is_the_root() -> None:
    wrapper = (
        'Traceback (most recent call last):\n  File "/u/launch.py", line 3, in <module>\n'
        "    mp.spawn(run)\ntorch.multiprocessing.spawn.ProcessRaisedException:\n\n"
        "-- Process 0 terminated with the following error:\n"
    )
    judgement = judge_text(f"{wrapper}{KEY}\n", 1)
    assert (judgement.failure, str(judgement.where)) == ("code-bug-small", "/home/u/train.py:51")
    assert judge_text(wrapper, 1).failure == "unknown"
