"""Lines from public threads, cut short, and what people found to be the cause."""

# recorded lines

import pytest

from core.triage.judged import judge_text, judged_training

LOG_LINES = {
    "an allocation that may fail": (
        "benign",
        (
            "W bfc_allocator.cc:219] Allocator (GPU_0_bfc) ran out of memory trying to allocate "
            "3.87GiB. The caller indicates that this is not a failure, but may mean that there "
            "could be performance gains if more memory were available.\nstep 500: loss 2.1"
        ),
    ),
    "NCCL cannot connect to a peer": (
        "network-collective",
        "socketPollConnect: connect to 10.0.0.7<41234> returned Connection refused",
    ),
    "NCCL tries to connect again": (
        "benign",
        (
            "node1:11:42 [0] NCCL INFO socketPollConnect: connect to 10.0.0.7<41234> returned "
            "Connection refused, retrying\nstep 500: loss 2.1"
        ),
    ),
    "a loader's worker ended, by an older PyTorch": (
        "unknown",
        (
            "RuntimeError: DataLoader worker (pid 80064) exited unexpectedly with exit code 1. "
            "Details are lost due to multiprocessing."
        ),
    ),
    "a connection that multiprocessing had closed": ("unknown", "OSError: handle is closed"),
    "a handle of another kind": ("code-bug-complex", "OSError: handle is closed twice, reopen it"),
    "Kubernetes loses a node": (
        "node-failure",
        (
            "I0102 03:04:05.678901       1 node_lifecycle_controller.go:885] Node gpu-7 is "
            "unresponsive as of 2026-01-02 03:04:05 +0000 UTC. Adding it to the Taint queue."
        ),
    ),
    "EC2 has no instance for Slurm's cloud node": (
        "capacity",
        (
            "update_node: node gpu-dy-1 reason set to: (Code:UnfulfillableCapacity)Failure when "
            "resuming nodes"
        ),
    ),
    "a cloud announces the end of a spot instance": (
        "preemption",
        "GCP Metadata Service says termination is imminent",
    ),
    "EC2 announces the end of a spot instance": (
        "preemption",
        'Spot interruption payload received: {"action":"terminate","time":"2026-01-02T03:04:05Z"}',
    ),
    "a store answers with an error of its own": (
        "network-collective",
        "requests.exceptions.HTTPError: 503 Server Error: Service Unavailable for url: https://s3.org/x",
    ),
    "a name cannot be resolved": (
        "network-collective",
        "socket.gaierror: [Errno -3] Temporary failure in name resolution",
    ),
    "a server on the same host is not there": (
        "code-bug-complex",
        (
            "requests.exceptions.ConnectionError: HTTPConnectionPool(host='localhost'): Max "
            "retries exceeded with url: /v1"
        ),
    ),
    "a store does not answer, and is asked again": (
        "benign",
        (
            "'(ReadTimeoutError(\"HTTPSConnectionPool(host='hub', port=443): Read timed out.\"))' "
            "thrown while requesting GET https://hub/x\nRetrying in 1s [Retry 1/5]."
        ),
    ),
    "no spot instance ends": ("benign", "No spot interruption detected\nstep 500: loss 2.1"),
    "an InfiniBand subnet manager asks the port to register": (
        "benign",
        (
            "node1:11:42 [0] transport/net_ib.cc:93 NCCL WARN NET/IB : Got async event : client "
            "reregistration\nstep 500: loss 2.1"
        ),
    ),
    "an InfiniBand port is down": (
        "network-collective",
        "node1:11:42 [0] transport/net_ib.cc:93 NCCL WARN NET/IB : Got async event : port error",
    ),
    "a trainer stops at its own limit": (
        "timeout",
        "Time limit reached. Elapsed time is 3:59:59. Signaling Trainer to stop.",
    ),
    "a trainer stops after the minutes that it was given": (
        "timeout",
        "[stopping][INFO] - Time limit of 90m reached. Stopping training.",
    ),
    "a solver reaches its limit": ("benign", "Time limit reached\nstep 500: loss 2.1"),
    "a TPU's driver gives up": (
        "bad-accelerator",
        (
            "E0102 03:04:05.678901 17 synchronous_driver.cc:820] [/dev/accel0 tpu7:pe1:0] !!!! "
            "FATAL ERROR !!!! for [/dev/accel0 tpu7:pe1:0] , fatal_error: true"
        ),
    ),
    "a driver that is older than the kernels": (
        "code-bug-complex",
        (
            "E pjrt_client.cc:2086] Execution of replica 0 failed: INTERNAL: CustomCall failed: "
            "cudaGetLastError() failed: the provided PTX was compiled with an unsupported "
            "toolchain."
        ),
    ),
    "a rank with a number is no count": ("oom-accelerator", "rank 0 failed: CUDA out of memory"),
    "the workers of an augmenter died": (
        "unknown",
        (
            "RuntimeError: One or more background workers are no longer alive. Exiting. Please "
            "check the print statements above for the actual error message"
        ),
    ),
    "srun cancels a step whose task failed": (
        "unknown",
        (
            "srun: error: n1: task 5: Exited with exit code 1\n"
            "srun: launch/slurm: _step_signal: Terminating StepId=7.0\n"
            "slurmstepd: error: *** STEP 7.0 ON n1 CANCELLED AT 2026-01-02T03:04:05 ***"
        ),
    ),
    "a person cancels a job": (
        "not-a-failure",
        (
            "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.\n"
            "slurmstepd: error: *** STEP 7.0 ON n1 CANCELLED AT 2026-01-02T03:04:05 ***\n"
            "srun: error: n1: task 5: Terminated"
        ),
    ),
    "a save fails": ("unknown", "WARNING: failed to save the checkpoint\nTraining finished."),
    "libjpeg decodes the rest of a damaged image": (
        "benign",
        (
            "Corrupt JPEG data: bad Huffman code\n"
            "Corrupt JPEG data: 258 extraneous bytes before marker 0xd9\n"
            " 0%| | 0/157 [00:00<?, ?it/s]Premature end of JPEG file\n"
        ),
    ),
    "an exception for a damaged image": (
        "data",
        "OSError: Corrupt JPEG data: premature end of data segment",
    ),
    "an exception for an image that is cut": ("data", "OSError: Premature end of JPEG file"),
    "libjpeg warns, and another process ends on the same line": (
        "oom-accelerator",
        (
            "Corrupt JPEG data: 12 extraneous bytes before marker 0xd9torch.OutOfMemoryError: "
            "CUDA out of memory. Tried to allocate 2.00 GiB"
        ),
    ),
    "libjpeg warns, and Slurm reports on the same line": (
        "oom-host",
        (
            "Corrupt JPEG data: bad Huffman codeslurmstepd: error: Detected 1 oom_kill event in "
            "StepId=1.batch"
        ),
    ),
    "an exception that quotes libjpeg in parentheses": (
        "data",
        "OSError: broken data stream when reading image file (Corrupt JPEG data: bad Huffman code)",
    ),
    "an image of which TensorFlow decodes nothing": (
        "data",
        "E tensorflow/core/lib/jpeg/jpeg_mem.cc:323] Premature end of JPEG data. Stopped at 12/99",
    ),
    "Ray names causes that it did not see, in newer words": (
        "unknown",
        (
            "(raylet) A worker died or was killed while executing a task by an unexpected system "
            "error. Some common causes include: (1) the process was killed by the OOM killer due "
            "to high memory usage, (2) ray stop --force was called, or (3) the worker crashed "
            "unexpectedly due to SIGSEGV or another unexpected error."
        ),
    ),
    "Slurm takes another temporary folder": (
        "benign",
        (
            "slurmstepd: error: Unable to create TMPDIR [/scratch/7]: Permission denied\n"
            "slurmstepd: error: Setting TMPDIR to /tmp\nstep 500: loss 2.1"
        ),
    ),
    "a retry that succeeded further down wins": (
        "not-a-failure",
        (
            "google.api_core.exceptions.Forbidden: 403 GET storage.objects.get denied\n"
            "retrying in 5 s (attempt 1)\nstep 7\ndownload succeeded after 2 retries"
        ),
    ),
    "what nobody tried again stays the failure": (
        "network-collective",
        (
            "ConnectionResetError: [Errno 104] Connection reset by peer\n"
            "upload succeeded after 2 attempts"
        ),
    ),
    "a retry that did not succeed": (
        "network-collective",
        "ConnectionResetError: [Errno 104] Connection reset by peer\nretrying in 5 s (attempt 1)",
    ),
    "no retry undoes a preemption": (
        "preemption",
        (
            "slurmstepd: error: *** JOB 7 CANCELLED AT 2026-01-01T00:00:00 DUE TO PREEMPTION ***\n"
            "retrying in 5 s (attempt 1)\nupload succeeded after 2 attempts"
        ),
    ),
    "epochs that begin are progress": (
        "not-a-failure",
        "RuntimeError: NCCL error: unhandled system error\n"
        + "".join(f"Epoch {n}: loss 2.{n}\n" for n in range(3, 7)),
    ),
    "one epoch that goes on is none": (
        "network-collective",
        "RuntimeError: NCCL error: unhandled system error\n" + "Epoch 3: loss 2.1\n" * 8,
    ),
    "Slurm counts a lost node": (
        "node-failure",
        "slurmstepd: error: Detected 1 node fail event(s)",
    ),
    "a node does not answer": ("node-failure", "srun: error: Node gpu-07 not responding"),
    "a kernel dies": ("node-failure", "gpu-07 kernel: Kernel panic - not syncing: Fatal"),
    "Kubernetes shuts a node down": (
        "node-failure",
        "Pod was terminated in response to imminent node shutdown.",
    ),
    "a throttled host": ("host-contention", "cpu.stat: nr_throttled 5231"),
    "a host that throttled nothing": ("benign", "cpu.stat: nr_throttled 0"),
    "a bug is no crowded host": (
        "code-bug-small",
        (
            "DataLoader will create 64 worker processes in total.\n"
            "Traceback (most recent call last):\n"
            '  File "/home/ada/train.py", line 3, in <module>\n    model.fitt()\n'
            "AttributeError: 'Model' object has no attribute 'fitt'"
        ),
    ),
    "NCCL parts at the end of a run that ended well": (
        "benign",
        (
            "n1:5:6 [2] proxy.cc:1521 NCCL WARN [Proxy Service 58] Failed to execute operation "
            "Close "
            "from rank 62, retcode 3\n"
            "n1:5:6 [3] proxy.cc:1497 NCCL WARN [Service thread] Could not receive type from "
            "localRank "
            "6, res=3, closed=0\n"
            "n1:5:6 [1] misc/socket.cc:483 NCCL WARN [Service thread] Accept failed Success\n"
            "[1,16]<stdout>:w2:21:585 [0] recv_close:3201 NCCL WARN NET/OFI Attempt to call "
            "recv_close "
            "with outstanding requests!"
        ),
    ),
    "Ray lists what may have been": (
        "unknown",
        (
            "(raylet) A worker died or was killed while executing a task. Worker exit detail: End "
            "of "
            "file. There are some potential root causes. (1) The process is killed by SIGKILL by "
            "OOM "
            "killer. (3) The worker is crashed unexpectedly due to SIGSEGV or other errors."
        ),
    ),
    "a sentence that guesses is no preemption": (
        "benign",
        "The worker failed, got preempted, or crashed: see its log.",
    ),
    "the port of a launcher": (
        "host-contention",
        (
            "RuntimeError: The server socket has failed to listen on any local network address. "
            "The "
            "server socket has failed to bind to [::]:44796 (errno: 98 - Address already in use)."
        ),
    ),
    "the same, in newer words": (
        "host-contention",
        (
            "RuntimeError: The server socket has failed to listen on any local network address. "
            "port: "
            "29500, useIpv6: 0, code: -98, name: EADDRINUSE, message: address already in use."
        ),
    ),
    "a server socket without a reason": (
        "network-collective",
        (
            "[E socket.cpp:462] [c10d] The server socket has failed to listen on any local network "
            "address."
        ),
    ),
    "no more threads": (
        "host-contention",
        (
            "Traceback (most recent call last):\n"
            '  File "train.py", line 512, in train\n    env.step(actions)\n'
            "RuntimeError: Resource temporarily unavailable\n"
            "During handling of the above exception, another exception occurred:\n"
            "Traceback (most recent call last):\n"
            '  File "train.py", line 981, in <module>\n    assert done\n'
            "AssertionError"
        ),
    ),
    "a collective's time-out": (
        "network-collective",
        (
            "[rank11]:[E ProcessGroupNCCL.cpp:1537] [PG 1 Rank 11] Timeout at NCCL work: 15734, "
            "last "
            "enqueued NCCL work: 15735, last completed NCCL work: 15733."
        ),
    ),
    "a trainer that gives up": ("numeric", "Model collapsed with loss=95997.6875"),
    "a bare exception, and what stands below it": (
        "code-bug-small",
        (
            "RuntimeError:\n        An attempt has been made to start a new process before the\n"
            "        current process has finished its bootstrapping phase."
        ),
    ),
    "a bare exception": ("code-bug-complex", "RuntimeError:\n    of words that no row knows"),
    "a program that dash does not find": (
        "unknown",
        "/var/spool/slurmd/job00001/slurm_script: 9: exec: python3: not found",
    ),
    "one that bash does not find": ("unknown", "/bin/sh: line 1: exec: python3: not found"),
    "a script that is not there": (
        "unknown",
        "bash: train.sbatch: No such file or directory",
    ),
    "a script of another system": (
        "unknown",
        "train.sh: line 3: ./run: cannot execute: required file not found",
    ),
    "a program that a step of Slurm does not find": (
        "unknown",
        (
            "slurmstepd-n1: error: execve(): python3: No such file or directory\n"
            "srun: error: n1: task 0: Exited with exit code 2"
        ),
    ),
    "a file that a script can do without": (
        "benign",
        "/usr/bin/bash: line 2: /etc/dgx-release: No such file or directory",
    ),
    "a program that a script can do without": (
        "oom-accelerator",
        (
            "sh: 1: lspci: not found\n"
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB."
        ),
    ),
    "a program that a script looks for, and then no error": (
        "benign",
        "sh: 1: gcc: not found\nstep 1 loss 2.0\nTraining finished",
    ),
    "a probe in a container, and then an error": (
        "network-collective",
        (
            'OCI runtime exec failed: exec failed: exec: "nvidia-smi": executable file not found '
            "in $PATH: unknown\nstep 1 loss 2.0\nstep 2 loss 1.9\n"
            "RuntimeError: NCCL error: remote process exited or there was a network error"
        ),
    ),
    "a program of another architecture": (
        "unknown",
        "slurmstepd: error: execve(): /work/train.py: Exec format error",
    ),
    "a program that env does not find": (
        "unknown",
        "/usr/bin/env: ‘python’: No such file or directory",
    ),
    "a program that no container has": (
        "unknown",
        (
            'OCI runtime create failed: runc create failed: exec: "python3": executable file not '
            "found in $PATH: unknown"
        ),
    ),
    "a shell's variable": ("code-bug-small", "run.sh: line 12: NODE_RANK: unbound variable"),
    "a signal of a person": (
        "not-a-failure",
        "[INFO] [launch.py:328:sigkill_handler] Main process received SIGINT, exiting",
    ),
    "an actor that could not be reached yields to the cause": (
        "oom-accelerator",
        (
            "ray.exceptions.ActorUnavailableError: The actor is temporarily unavailable\n"
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB."
        ),
    ),
    "and explains nothing alone": (
        "unknown",
        "ray.exceptions.ActorUnavailableError: The actor is temporarily unavailable",
    ),
}


@pytest.mark.parametrize("what", LOG_LINES)
def test_the_cause_is_what_people_found(what):
    failure, log = LOG_LINES[what]

    assert (judged_training if failure == "benign" else judge_text)(log).failure == failure


PREFIXES = (
    "2026-03-04 10:11:12,123 - trainer - INFO - ",
    "2026-03-04 10:11:12.123 | ERROR    | train.loop:run:42 - ",
    "E0304 10:11:12.123456 140486 trainer.cc:12] ",
    "Aug 17 18:42:18 node7 train[8052]: ",
    "(EngineCore pid=18) ERROR 03-29 12:59:53 [core.py:1099] ",
    "12: [rank3]: ",
)


@pytest.mark.parametrize("prefix", PREFIXES)
def test_what_a_logger_prints_before_each_line_hides_no_traceback(prefix):
    traceback = (
        "Traceback (most recent call last):",
        '  File "/app/train.py", line 12, in main',
        "    cfg['lr']",
        "KeyError: 'lr'",
    )

    assert judge_text("\n".join(prefix + line for line in traceback)).failure == "code-bug-small"
