"""Logs that were written before any row was read, as jobs of many kinds fail and as healthy ones
alarm.
"""

BLIND: dict[str, list[str]] = {
    "oom-host": [
        (
            "(raylet, ip=10.4.0.17) [2025-04-02 11:02:58,412 E 2213 2213] (raylet) "
            "node_manager.cc:3064: 1 Workers (tasks / actors) killed due to memory pressure "
            "(OOM), 0 Workers crashed due to other reasons at node (ID: 8ad31b2f, IP: 10.4.0.17) "
            "over the last time period.\nray.exceptions.OutOfMemoryError: Task was killed due to "
            "the node running low on memory.\nMemory on the node (IP: 10.4.0.17, ID: 8ad31b2f) "
            "where the task (task ID: 32d950ec0ccf9d2affff, name=tokenize_shard, pid=5121) was "
            "running was 358.12GB / 376.00GB (0.952447), which exceeds the memory usage threshold "
            "of 0.95."
        ),
        (
            "ERROR: Unexpected bus error encountered in worker. This might be caused by "
            "insufficient shared memory (shm).\nTraceback (most recent call last):\n  File "
            '"/usr/lib/python3.10/multiprocessing/queues.py", line 113, in get\n    if not '
            "self._poll(timeout):\nRuntimeError: DataLoader worker (pid 2391) is killed by "
            "signal: Bus error. It is possible that dataloader's workers are out of shared "
            "memory. Please try to raise your shared memory limit."
        ),
        (
            "TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.\nExited with exit "
            "code 137."
        ),
        (
            "JobID           JobName      State ExitCode     MaxRSS\n------------ ---------- "
            "---------- -------- ----------\n8812.0         train     OUT_OF_ME+    0:125  "
            "2011233412K"
        ),
    ],
    "oom-accelerator": [
        (
            '[rank5]: Traceback (most recent call last):\n[rank5]:   File "/repo/train.py", line '
            '402, in <module>\n[rank5]:     trainer.fit()\n[rank5]:   File "/repo/model/attn.py", '
            "line 77, in forward\n[rank5]:     scores = torch.matmul(q, k.transpose(-2, -1))\n"
            "[rank5]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 8.00 GiB. GPU "
            "5 has a total capacity of 79.10 GiB of which 3.21 GiB is free. Including non-PyTorch "
            "memory, this process has 75.88 GiB memory in use.\n[rank0]:[E402 11:14:41 "
            "ProcessGroupNCCL.cpp:629] [Rank 0] Watchdog caught collective operation timeout: "
            "WorkNCCL(SeqNum=99121, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) "
            "ran for 600031 milliseconds before timing out."
        ),
        (
            "ERROR 04-02 11:00:00 engine.py:366] No available memory for the cache blocks. Try "
            "increasing `gpu_memory_utilization` when initializing the engine.\nValueError: No "
            "available memory for the cache blocks. Try increasing `gpu_memory_utilization` when "
            "initializing the engine."
        ),
        (
            "[rank0]:[E402 11:14:41 ProcessGroupNCCL.cpp:629] [Rank 0] Watchdog caught collective "
            "operation timeout: WorkNCCL(SeqNum=99121, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, "
            "Timeout(ms)=600000) ran for 600031 milliseconds before timing out.\n[rank0]: "
            "RuntimeError: NCCL communicator was aborted on rank 0.\n[rank6]: "
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.12 GiB. GPU 6 has a "
            "total capacity of 79.10 GiB of which 512.00 MiB is free."
        ),
    ],
    "hbm-exhaustion": [
        (
            "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Error loading program: Attempting to "
            "reserve 11.02G at the bottom of memory. That was not possible. There are 8.77G free, "
            "0B reserved, and 8.77G reservable. If fragmentation is eliminated, the maximum "
            "reservable bytes would be 8.77G, so compaction will enable this reservation.: HBM of "
            "TPU_3"
        ),
        (
            "(train_lm pid=811, ip=10.130.1.9) E0402 11:00:10.123 tpu_compile_op.cc:432] "
            "Compilation failure: Aborting compilation early because it's unlikely to have enough "
            "device memory. Requires 17.21G, has 14.72G available. If more detailed logging is "
            "desired, set --xla_tpu_impure_oom_fast_exit_threshold=-1\n(train_lm pid=811, "
            "ip=10.130.1.9) jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Compilation "
            "failure: Aborting compilation early because it's unlikely to have enough device "
            "memory."
        ),
    ],
    "bad-accelerator": [
        (
            "[1204411.551200] NVRM: Xid (PCI:0000:5d:00): 79, pid='<unknown>', name=<unknown>, "
            "GPU has fallen off the bus.\n[1204411.551209] NVRM: GPU 0000:5d:00.0: GPU has fallen "
            "off the bus.\nRuntimeError: CUDA error: unknown error\nCUDA kernel errors might be "
            "asynchronously reported at some other API call, so the stacktrace below might be "
            "incorrect."
        ),
        (
            "[55123.12] NVRM: Xid (PCI:0000:c8:00): 74, pid=122121, name=python, NVLink: fatal "
            "error detected on link 4(0x10000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)\n"
            "node-17:122121:123991 [4] transport/p2p.cc:275 NCCL WARN Cuda failure 'an illegal "
            "instruction was encountered'"
        ),
        (
            "(TrainWorker pid=2213, ip=10.130.0.44) RuntimeError: Unable to initialize backend "
            "'tpu': INTERNAL: Failed to initialize TPU system: No accelerator found. (set "
            "JAX_PLATFORMS='' to automatically choose an available backend)\n(TrainWorker "
            "pid=2213, ip=10.130.0.44) ray.exceptions.RayTaskError(RuntimeError): "
            "ray::TrainWorker.run()"
        ),
        (
            "[91231.1] amdgpu 0000:c3:00.0: amdgpu: uncorrectable hardware errors detected in UMC "
            "block\n[91231.2] amdgpu 0000:c3:00.0: amdgpu: GPU reset begin!\nMemory access fault "
            "by GPU node-5 (Agent handle: 0x55d) on address 0x7f00. Reason: Unknown."
        ),
    ],
    "network-collective": [
        (
            "gpu-b-091:2213:3310 [3] transport/net_ib.cc:1295 NCCL WARN NET/IB: Got completion "
            "from peer 10.2.3.4<51123> with status=IBV_WC_RETRY_EXC_ERR(12) "
            "opcode=IBV_WC_RDMA_WRITE(1) reqSize=0 vendor_err=129 req_type=Send localGid fe80::1 "
            "remoteGids fe80::2 hca mlx5_3\n[rank24]: torch.distributed.DistBackendError: NCCL "
            "error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:2251, remote process "
            "exited or there was a network error, NCCL version 2.21.5\n[rank24]: ncclRemoteError: "
            "A call failed possibly due to a network error or a remote process exiting "
            "prematurely."
        ),
        (
            "[rank16]:[F402 14:01:01 ProcessGroupNCCL.cpp:1432] [PG 0 (default_pg) Rank 16] [PG 0 "
            "(default_pg) Rank 16] ProcessGroupNCCL's watchdog got stuck for 480 seconds without "
            "making progress in monitoring enqueued collectives. This typically indicates a "
            "NCCL/CUDA API hang blocking the watchdog, and could be triggered by another thread "
            "holding the GIL inside a CUDA api, or other deadlock-prone behaviors."
        ),
        (
            "[1712051012.1] [gpu-9:2213 :0]  ib_mlx5_log.c:177  UCX  ERROR Transport retry count "
            "exceeded on mlx5_0:1/RoCE (synd 0x15 vend 0x81 hw_synd 0/0)"
        ),
    ],
    "node-failure": [
        (
            "E0402 11:30:00.110022 2213 coordination_service_agent.cc:701] Polled an error from "
            "coordination service (this can be an error from this or another task): UNAVAILABLE: "
            "The following tasks are unhealthy (stopped sending heartbeats):\n"
            "/job:jax_worker/replica:0/task:13\nThe tasks have crashed. Check the task logs for "
            "an earlier error, or scheduler events (e.g. preemption, eviction) to debug further.\n"
            "F0402 11:30:00.110100 2213 client.h:80] Terminating process because the JAX "
            "distributed service detected fatal errors."
        ),
        (
            'Traceback (most recent call last):\n  File "/repo/launch_train.py", line 71, in '
            "<module>\n    results = ray.get(futures)\nray.exceptions.OwnerDiedError: Failed to "
            "retrieve object 00ffffffffffffffffffffffffffffffffffffff0100000001e1f505. To see "
            "information about where this ObjectRef was created in Python, set the environment "
            "variable RAY_record_ref_creation_sites=1 during `ray start` and `ray.init()`.\n\nThe "
            "object's owner has exited. This is the Python worker that first created the "
            "ObjectRef via `.remote()` or `ray.put()`. Check cluster logs "
            "(`/tmp/ray/session_latest/logs/*01000000ffffffffffffffffffffffffffffffffffffffffffffffff*` at IP address 10.4.0.31) for more information about the Python worker failure."  # noqa: E501  # one entry of a table, or one recorded value
        ),
    ],
    "disk-full": [
        (
            "[2025-04-02 11:02:20,044][INFO][ckpt] saving step-41232\nTraceback (most recent call "
            'last):\n  File "/opt/venv/lib/python3.11/site-packages/torch/serialization.py", line '
            "494, in __exit__\n    self.file_like.write_end_of_file()\nRuntimeError: [enforce "
            "fail at inline_container.cc:659] . unexpected pos 2816 vs 2704"
        ),
        (
            "  Warning  Evicted  2m  kubelet  The node was low on resource: ephemeral-storage. "
            "Threshold quantity: 10Gi, available: 2Gi. Container trainer was using 880Gi, request "
            "is 0."
        ),
        (
            "OSError: Can't write data (file write failed: time = Wed Apr  2 11:00:00 2025, "
            "filename = 'x.h5', file descriptor = 23, errno = 28, error message = 'No space left "
            "on device', buf = 0x55, total write size = 4096)\nRuntimeError: Can't decrement id "
            "ref count\n[rank0]:[E402 11:14:41 ProcessGroupNCCL.cpp:629] [Rank 0] Watchdog caught "
            "collective operation timeout"
        ),
    ],
    "storage-auth": [
        (
            "PermissionError: The provided token has expired.\nbotocore.exceptions.ClientError: "
            "An error occurred (ExpiredToken) when calling the UploadPart operation: The provided "
            "token has expired."
        ),
    ],
    "capacity": [
        (
            "botocore.exceptions.ClientError: An error occurred (InsufficientInstanceCapacity) "
            "when calling the RunInstances operation (reached max retries: 4): We currently do "
            "not have sufficient p5.48xlarge capacity in the Availability Zone you requested "
            "(us-east-1a)."
        ),
        (
            "  Warning  FailedScheduling  33s (x212 over 3h)  default-scheduler  0/64 nodes are "
            "available: 64 Insufficient nvidia.com/gpu. preemption: 0/64 nodes are available: 64 "
            "No preemption victims found for incoming pod."
        ),
    ],
    "host-contention": [
        (
            "OpenBLAS blas_thread_init: pthread_create failed for thread 127 of 256: Resource "
            "temporarily unavailable\nOpenBLAS blas_thread_init: RLIMIT_NPROC 4096 current, 4096 "
            "max\nOpenBLAS blas_thread_init: ensure that your address space and process count "
            "limits are big enough (ulimit -a)\nRuntimeError: can't start new thread"
        ),
    ],
    "code-bug-small": [
        (
            'Traceback (most recent call last):\n  File "/repo/train.py", line 218, in <module>\n '
            '   main()\n  File "/repo/train.py", line 203, in main\n    scheduler = '
            'build_schedule(cfg)\n  File "/repo/sched.py", line 41, in build_schedule\n    return '
            "warmpu_cosine(cfg.lr, cfg.steps)\nNameError: name 'warmpu_cosine' is not defined. "
            "Did you mean: 'warmup_cosine'?"
        ),
        (
            "Could not override 'optmi.lr'.\nTo append to your config use +optmi.lr=3e-4\nKey "
            "'optmi' is not in struct\n    full_key: optmi\n    object_type=dict\n\nSet the "
            "environment variable HYDRA_FULL_ERROR=1 for a complete stack trace."
        ),
    ],
    "numeric": [
        (
            "[rank17]: AssertionError: Rank 17: found NaN in local forward loss calculation. "
            "Device: 1, node: n19"
        ),
        (
            "RuntimeError: The total norm of order 2.0 for gradients from `parameters` is "
            "non-finite, so it cannot be clipped. To disable this error and scale the gradients "
            "by the non-finite norm anyway, set `error_if_nonfinite=False`"
        ),
    ],
    "not-a-failure": [
        "[I 2025-04-02 12:00:01,044] Trial 17 pruned. Trial was pruned at epoch 3.",
    ],
    "benign": [
        (
            "/opt/venv/lib/python3.11/site-packages/torch/cuda/__init__.py:61: FutureWarning: The "
            "pynvml package is deprecated. Please install nvidia-ml-py instead.\n"
            "WARNING:root:error_correction disabled; failure_prob=0.0; killed_workers=0\n"
            "2025-04-02 09:00:01.110: E "
            "external/local_xla/xla/stream_executor/cuda/cuda_fft.cc:485] Unable to register "
            "cuFFT factory: Attempting to register factory for plugin cuFFT when one has already "
            "been registered\nI0402 tpu: preemption notice poller started; no preemption pending\n"
            "\n\n[INFO][data] skipped 0 corrupt records, 3 retries after timeout\n[INFO][ckpt] "
            "OutOfMemoryError guard enabled (expandable_segments)\n[INFO][eval] error rate "
            "0.0213, nan_count=0"
        ),
        (
            "[2025-04-02 11:02:17,044][WARNING][gcs] transient 503 Service Unavailable on upload "
            "part 3, retry 1/5\n[2025-04-02 11:02:19,044][INFO][gcs] upload part 3 succeeded\n"
            "wandb: Network error (ReadTimeout), entering retry loop.\nwandb: Network error "
            "resolved after 0:00:12.200122, resuming normal operation.\n[2025-04-02 "
            "11:02:22,880][INFO][trainer] step 41233 | loss 2.2111 | grad_norm 0.421 | lr 2.1e-04 "
            "| 1.92 s/it | 512k tok/s"
        ),
        (
            "INFO config: on_oom=skip, nan_check=True, max_failures=3, timeout=1800, "
            'preemptible=false\nINFO loaded dataset: "How to fix CUDA out of memory errors" '
            '(12,331 docs)\nINFO sample generation: "The soldier was Killed in action. '
            'Segmentation fault lines run across ..."\nINFO NCCL_ASYNC_ERROR_HANDLING=1 '
            "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC=1800\nINFO training complete; exit code 0"
        ),
        (
            "INFO Training finished. Final checkpoint saved to gs://b/run/step-41233\n"
            "[rank0]:[W402 11:14:41 ProcessGroupNCCL.cpp:1250] Warning: WARNING: process group "
            "has NOT been destroyed before we destruct ProcessGroupNCCL. On normal program exit, "
            "the application should call destroy_process_group\n"
            "/usr/lib/python3.11/multiprocessing/resource_tracker.py:254: UserWarning: "
            "resource_tracker: There appear to be 12 leaked semaphore objects to clean up at "
            "shutdown\nException ignored in: <function _MultiProcessingDataLoaderIter.__del__ at "
            "0x7f>"
        ),
        (
            "INFO auto batch size: trying 64\nINFO auto batch size: CUDA out of memory at 64, "
            "trying 32\nINFO auto batch size: 32 fits"
        ),
    ],
    "preemption": [
        (
            "slurmstepd: error: *** STEP 221.0 ON n1 CANCELLED AT 2025-04-02T05:00:00 DUE TO JOB "
            "REQUEUE ***\nslurmctld: preempted JobId=221 has been requeued to reclaim resources "
            "for JobId=291"
        ),
    ],
    "code-bug-complex": [
        (
            "thread 'tokio-runtime-worker' panicked at 'index out of bounds: the len is 12 but "
            "the index is 12', src/shuffle.rs:88:21\npyo3_runtime.PanicException: index out of "
            "bounds: the len is 12 but the index is 12"
        ),
    ],
}
