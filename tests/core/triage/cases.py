"""Short logs and what they mean. One a line, or a few; written for the tests, in the form that the
tools print.
"""

from core.triage.blind import BLIND

TABLE: dict[str, list[str]] = {
    "oom-accelerator": [
        (
            "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU "
            "3 has a total capacity of 79.15 GiB"
        ),
        (
            "RuntimeError: CUDA error: out of memory\nCUDA kernel errors might be asynchronously "
            "reported at some other API call"
        ),
        "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
        (
            "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying "
            "to allocate 8589934592 bytes."
        ),
        (
            "tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating "
            "tensor with shape[64,1024] on /job:localhost/device:GPU:0"
        ),
        (
            "torch.cuda.OutOfMemoryError: HIP out of memory. Tried to allocate 20.00 MiB (GPU 0; "
            "63.98 GiB total capacity)"
        ),
    ],
    "hbm-exhaustion": [
        "E0101 compiler_base.cc:2587 something about the program",
        "  Largest program allocations in hbm:",
        "Program hbm requirement 17.31G:",
        (
            "XlaRuntimeError: RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to "
            "allocate 1.50G. There are 78.17M free."
        ),
    ],
    "oom-host": [
        (
            '  File "/u/train.py", line 88, in epoch\nRuntimeError: DataLoader worker (pid 4242) '
            "is killed by signal: Killed. "
        ),
        (
            "slurmstepd: error: Detected 1 oom_kill event in StepId=4711.0. Some of the step "
            "tasks have been OOM Killed."
        ),
        "Out of memory: Killed process 4242 (python) total-vm:123456kB, anon-rss:99999kB",
        (
            "[ 812.1] "
            "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=job_4711,task=python,pid=4242,uid=1000"
        ),
        "    state: Terminated\n    reason: OOMKilled\n    exit code: 137",
        "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.",
        "MemoryError",
        (
            "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 29.8 GiB for an array "
            "with shape (4000000000,)"
        ),
        (
            "RuntimeError: [enforce fail at alloc_cpu.cpp:75] . DefaultCPUAllocator: can't "
            "allocate memory: you tried to allocate 1 bytes."
        ),
        (
            "RuntimeError: DataLoader worker (pid 77) is killed by signal: Bus error. It is "
            "possible that dataloader's workers are out of shared memory."
        ),
        "OSError: [Errno 12] Cannot allocate memory",
        "13/14 shards peaked near the container memory limit and failed with exit 137",
        "step 11 loss 2.1\nKilled\nmemory.events: low 0 high 0 max 12 oom 1 oom_kill 1",
        "task 7: exit code 137\npeak memory 128.0 GiB (99% of limit)",
    ],
    "node-failure": [
        "srun: error: Task launch for StepId=81.2 failed on node gpu7: Job credential expired",
        "srun: error: Unable to create step for job 81: Error generating job credential",
        (
            "slurmstepd: error: *** JOB 4711 ON cn001 CANCELLED AT 2026-01-01T00:00:00 DUE TO "
            "NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***"
        ),
        "srun: error: Node failure on cn017",
        (
            "ray.exceptions.OwnerDiedError: Failed to retrieve object 00ff. The object's owner "
            "has exited."
        ),
        "state: JOB_STATE_WORKER_FAILED",
        (
            "The node with node id: 00ff and address: 10.0.0.1 has been marked dead because the "
            "detector has missed too many heartbeats from it. This can happen when a raylet "
            "crashes unexpectedly (OOM, preempted node, etc.)"
        ),
        "Warning  NodeNotReady  node controller  Node is not ready",
    ],
    "preemption": [
        "INFO:tensorflow:ShutdownHook: lame workers found: HeartbeatManager(/job:worker/task:3)",
        (
            "slurmstepd: error: *** STEP 4711.0 ON cn001 CANCELLED AT 2026-01-01T00:00:00 DUE TO "
            "PREEMPTION ***"
        ),
        "2026-01-01 00:00:00 INFO received preemption notice, saving a checkpoint",
        "task=/u/j/3 | Error: TASK_STATE_PREEMPTED\nstate: PREEMPTED",
        "W 01-01 00:00:00 controller.py:100] The cluster is preempted.",
        'Warning  Preempted  pod/train-0 was preempted by a pod on node "n1"',
        "compute.instances.preempted instance-1",
        "instance terminated due to host maintenance: TERMINATE_ON_HOST_MAINTENANCE",
    ],
    "timeout": [
        "step 3\nMOAB_INFO:  job exceeded wallclock limit",
        (
            "slurmstepd: error: *** JOB 4711 ON cn001 CANCELLED AT 2026-01-01T00:00:00 DUE TO "
            "TIME LIMIT ***"
        ),
        "Execution timeout exceeded",
        "Job was active longer than specified deadline",
        (
            "No progress after step 81759 for 600 seconds (timeout 600); terminating with exit "
            "code 124"
        ),
        "=>> PBS: job killed: walltime 3610 exceeded limit 3600",
    ],
    "network-collective": [
        (
            "TimeoutError: The client socket has timed out after 900s while trying to connect to "
            "(10.0.0.7, 29500)."
        ),
        (  # the abort comes first, and its reason behind it
            "terminate called after throwing an instance of 'std::runtime_error'\n  what():  "
            "[Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=4, "
            "OpType=ALLGATHER, Timeout(ms)=1800000) ran for 1800081 milliseconds\nfailed "
            "(exitcode: -6) local_rank: 0 (pid: 95313) of binary: /opt/bin/python"
        ),
        (
            "[rank5]:[E602 11:17:52.18 ProcessGroupNCCL.cpp:632] [Rank 5] Watchdog caught "
            "collective operation timeout: WorkNCCL(SeqNum=12)"
        ),
        (
            "torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:268, unhandled "
            "system error"
        ),
        (
            "cn017:123:456 [2] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from "
            "peer with status=IBV_WC_RETRY_EXC_ERR(12) error"
        ),
        (
            "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:598] Connection closed "
            "by peer [10.0.0.1]:1234\nGloo connectFullMesh timed out"
        ),
        (
            "jaxlib.xla_extension.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Id: "
            "sync_global_devices"
        ),
    ],
    "disk-full": [
        "OSError: [Errno 28] No space left on device: '/ckpt/step-100/model.pt'",
        "RuntimeError: [enforce fail at inline_container.cc:300] . unexpected pos 12928 vs 12822",
        "basic_ios::clear: iostream error",
        (
            "src/io/local_filesys.cc:39: Check failed: std::fwrite(ptr, 1, size, fp_) == size "
            "FileStream.Write incomplete"
        ),
        "OSError: [Errno 122] Disk quota exceeded",
        "The node was low on resource: DiskPressure",
    ],
    "bad-accelerator": [
        "RuntimeError: No accelerator found. Please run on a TPU or GPU.",
        "Failed to cleanup driver after error: INTERNAL: FAILED_PRECONDITION",
        "open(/dev/accel0): Device or resource busy",
        (
            "INFO:jax._src.xla_bridge:889: Unable to initialize backend 'tpu': ABORTED: The TPU "
            "is already in use by process with pid 176028. Not attempting to load libtpu.so in "
            "this process."
        ),
        (
            "NVRM: Xid (PCI:0000:1a:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off "
            "the bus."
        ),
        (
            "NVRM: Xid (PCI:0000:1a:00): 48, pid=123, An uncorrectable double bit error (DBE) has "
            "been detected"
        ),
        "RuntimeError: No CUDA GPUs are available",
        "torch.AcceleratorError: CUDA error: uncorrectable ECC error encountered",
        (
            "XlaRuntimeError: INTERNAL: CUDA_ERROR_NVLINK_UNCORRECTABLE: uncorrectable NVLink "
            "error detected"
        ),
        "Failed to initialize NVML: Driver/library version mismatch",
    ],
    "capacity": [
        "Scheduler: Insufficient TPUs (need 4, available 0)",
        "Autoscaler: Unsatisfied autoscaler demand: tier_blocked: 2 matching group(s)",
        "(autoscaler +1m) Error: No available node types can fulfill resource request {'TPU': 4}",
        (
            "ERROR: ZONE_RESOURCE_POOL_EXHAUSTED: The zone does not have enough resources "
            "available to fulfill the request"
        ),
        "Warning  FailedScheduling  0/8 nodes are available: 8 Insufficient nvidia.com/gpu.",
        (
            "W instance_utils.py:112] Got return code 8 in us-central1-a: 'Insufficient reserved "
            "capacity. Contact customer support.'"
        ),
        'There is no more capacity in the zone "europe-west4-a"; you can try in another zone',
        (
            "A n1-standard-4 VM instance with 1 accelerator(s) is currently unavailable in the "
            "us-west1-b zone."
        ),
        "Waiting for worker scale-up in scale group 'tpu_v5e_32' (1 slice(s) requested)",
        (
            "google.api_core.exceptions.ResourceExhausted: RESOURCE_EXHAUSTED: Quota limit "
            "'TPUV5sPerProject' has been exceeded"
        ),
    ],
    "host-contention": [
        (
            "OpenBLAS blas_thread_init: pthread_create failed for thread 50 of 64: Resource "
            "temporarily unavailable"
        ),
        "RuntimeError: can't start new thread",
        "OMP: Error #34: System unable to allocate necessary resources for OMP thread:",
        "WARN host: noisy neighbour suspected, load average: 412.0 on 64 cores, cgroup at 12%",
        "OSError: [Errno 98] Address already in use",
        (
            "torch.distributed.DistNetworkError: The server socket has failed to listen on any "
            "local network address. port: 29500, EADDRINUSE"
        ),
        "health: thread oversubscription: 512 threads on 8 cores",
    ],
    "code-bug-small": [
        (
            'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n    '
            "main()\nNameError: name 'foo' is not defined"
        ),
        (
            'Traceback (most recent call last):\n  File "/x/train.py", line 3, in <module>\n    '
            "import foo\nImportError: cannot import name 'bar' from 'foo' (/x/foo.py)"
        ),
        "  File \"train.py\", line 12\n    x = (1,\n        ^\nSyntaxError: '(' was never closed",
        "AttributeError: 'Config' object has no attribute 'lr'",
        "usage: train.py [-h]\ntrain.py: error: unrecognized arguments: --learning-rate 3e-4",
        (
            'Traceback (most recent call last):\n  File "train.py", line 9, in <module>\n    '
            "f(1)\nTypeError: f() missing 1 required positional argument: 'x'"
        ),
        "python: No module named trainer",
    ],
    "code-bug-complex": [
        "RuntimeError: mat1 and mat2 shapes cannot be multiplied (64x512 and 768x10)",
        (
            "RuntimeError: Error(s) in loading state_dict for GPT:\n\tsize mismatch for "
            "wte.weight: copying a param with shape"
        ),
        (
            "RuntimeError: Expected all tensors to be on the same device, but found at least two "
            "devices, cuda:0 and cpu!"
        ),
        "RuntimeError: CUDA error: an illegal memory access was encountered",
        (
            'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n    run()\n  '
            'File "b.py", line 9, in run\n    raise ValueError(x)\nValueError: what is this'
        ),
        "NVRM: Xid (PCI:0000:1a:00): 31, pid=123, name=python, MMU Fault",
        "Segmentation fault (core dumped)",
        "ImportError: /x/flash_attn.so: undefined symbol: _ZN3c104cuda9SetDeviceEi",
    ],
    "data": [
        "PIL.UnidentifiedImageError: cannot identify image file 'x.jpg'",
        "FileNotFoundError: [Errno 2] No such file or directory: '/data/shard-00017.tar'",
        "tarfile.ReadError: unexpected end of data",
        (
            "../aten/src/ATen/native/cuda/Loss.cu:257: nll_loss_forward: block: [0,0,0], thread: "
            "[4,0,0] Assertion `t >= 0 && t < n_classes` failed.\nRuntimeError: CUDA error: "
            "device-side assert triggered"
        ),
        "_pickle.UnpicklingError: invalid load key, '\\x00'.",
        "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
        "zlib.error: Error -3 while decompressing data: incorrect header check",
        "ERROR: shard 00017 is corrupted, checksum mismatch",
    ],
    "storage": [
        "OSError: [Errno 116] Stale file handle",
        "OSError: [Errno 30] Read-only file system: '/data/step-40'",
        (
            "botocore.exceptions.ClientError: An error occurred (SlowDown) when calling the "
            "PutObject operation (reached max retries: 4): Please reduce your request rate."
        ),
    ],
    "storage-auth": [
        "botocore.exceptions.NoCredentialsError: Unable to locate credentials",
        (
            "google.auth.exceptions.RefreshError: ('invalid_grant: Token has been expired or "
            "revoked.')"
        ),
        (
            "403 GET https://storage.googleapis.com/b: 1-compute@dev.example does not have "
            "storage.objects.get access to the bucket."
        ),
        "PermissionError: [Errno 13] Permission denied: '/ckpt/step-100'",
        "wandb.errors.UsageError: api_key not configured (no-tty). call wandb.login",
        (
            "requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: "
            "https://x.example/resolve/main/config.json"
        ),
    ],
    "numeric": [
        "FloatingPointError: Loss became infinite or NaN at iteration=5593!",
        "Loss is nan, stopping training",
        "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 1, reducing to 1",
        "FloatingPointError: Minimum loss scale reached (0.0001). Your loss is probably exploding.",
        "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 4.1e-202",
        (
            "Exception: Current loss scale already at minimum - cannot decrease scale anymore. "
            "Exiting run."
        ),
        (
            "tensorflow.python.training.basic_session_run_hooks.NanLossDuringTrainingError: NaN "
            "loss during training."
        ),
        "step 100 loss: 2.1\nstep 101 loss: nan\nstep 102 loss: nan",
        "RuntimeError: Function 'LogSoftmaxBackward0' returned nan values in its 0th output.",
        "training has diverged at step 400: loss 9.1 against 2.3",
        "early stop far below the baseline: divergence detected, grad_norm P99 spike in epoch 1",
        "ValueError: Network outputs are NaN! Stop training",
    ],
    "refused": [
        (
            "herorun: refused: code: train.py differs from what was admitted\nherorun: this job "
            "is not what was admitted; launch it again with `herorun launch`. Exit code 78."
        ),
    ],
    "not-a-failure": [
        (
            "WARNING:torch.distributed.elastic.agent.server.api:Received 2 death signal, shutting "
            "down workers\nW1 api.py:1012] Sending process 12 closing signal SIGINT"
        ),
        (
            'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n    '
            "main()\nKeyboardInterrupt"
        ),
        "slurmstepd: error: *** JOB 4711 ON cn001 CANCELLED AT 2026-01-01T00:00:00 ***",
        "Epoch 9: early stopping triggered after 3 evaluations",
        "monitor: log frozen for 40 min while checkpoint time advances: block-buffered stdout",
    ],
    "unknown": [
        "step 3\n[1]    4242 killed     python train.py --fast",
        "step 3\nsrun: error: Unable to create step for job 81: Memory required by task is not available",  # noqa: E501  # one line of a log
        "step 3\nsrun: error: Application launch failed: Unable to layout tasks on given cpus",
        "step 10 loss 2.3\nKilled",
        "task 3: exit code 137",
        "srun: error: cn001: task 0: Exited with exit code 1",
        "",
        'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n    main()',
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: train.py FAILED",
    ],
    "benign": [
        "step 10 loss 2.3",
        (
            " 0%| | 9/63645 [00:19<37:53, 2.1s/it][2021-06-08 12:02:45,001] [INFO] [deepscale] "
            "OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 8192, reducing to 4096"
        ),
        (
            "OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, but hysteresis is 2. "
            "Reducing hysteresis to 1"
        ),
        "epoch 1: 0 errors, 0 failures",
        "error_rate=0.0 step=100",
        "Killed 0 processes",
        "max_retries_on_oom: 3\nterminate_on_nan: true\npreemptible = true\ntimeout: 1800",
        "  'max_retries_on_oom': 3,",
        (
            "train.py:9: FutureWarning: the nan check is deprecated and will raise an error in a "
            "future version"
        ),
        "| epoch 001 | loss 10.2 | oom 0 | loss_scale 32.000",
        "Gradient overflow. Skipping step, loss scaler 0 reducing loss scale to 65536.0",
        (
            '    if "CUDA out of memory" in str(e):\n        raise RuntimeError("CUDA out of '
            'memory")\n    except ImportError:'
        ),
        "number of skipped iterations: 0 | number of nan iterations: 0 |",
        (
            "INFO 2024-01-01 00:00:00 xla_bridge.py:353] Unable to initialize backend 'rocm': "
            "NOT_FOUND: Could not find registered platform"
        ),
        "wandb: Network error (ConnectionError), entering retry loop.",
        "saved; preemption_count=0 failures=0",
        "Killing old processes: none found. Timeout for collectives set to 1800s",
        "finance/nanometer tokens: 12, tenant=nan-house, Nancy",
        (
            "Setting OMP_NUM_THREADS environment variable for each process to be 1 in default, to "
            "avoid your system being overloaded"
        ),
        "detect_nan=True oom_score_adj=0 NCCL version 2.21.5+cuda12.4",
        "100%|##########| 10/10 [00:01<00:00, 9.9it/s]\rdone",
        "cached 0 corrupt records; timeouts=0; val error: 0.031",
        "top1 error 23.1% top5 error 6.9%",
        '{"train_class_error": 100.0, "train_loss": 25.3}',
    ],
}

# As people pasted them.
EVENT_LINES: dict[str, list[str]] = {
    "oom-host": [
        (
            "4m11s       Warning   Evicted               pod/egg-1    The node was low on "
            "resource: memory. Container egg was using 5053216Ki, which exceeds its request of 0."
        ),
        "Warning   Evicted               pod/egg    The node had condition: [MemoryPressure].",
        "State:          Terminated\n  Reason:       OOMKilled\n  Exit Code:    0",
    ],
    "disk-full": [
        (
            "Warning Evicted pod/x The node was low on resource: ephemeral-storage. Container x "
            "was using 5Gi"
        ),
        "OSError: 304857600 requested and 12582912 written",
        (
            "safetensors_rust.SafetensorError: Error while serializing: IoError(Os { code: 122, "
            'kind: FilesystemQuotaExceeded, message: "Disk quota exceeded" })'
        ),
        "RuntimeError: PytorchStreamWriter failed writing file data/1: file write failed",
    ],
    "bad-accelerator": [
        (
            "RuntimeError: cuda runtime error (39) : uncorrectable ECC error encountered at "
            "/pytorch/aten/src/THC/THCCachingHostAllocator.cpp:265\nterminate called without an "
            "active exception"
        ),
        (
            "THCudaCheck FAIL file=/x/THCStream.cpp line=40 error=46 : all CUDA-capable devices "
            'are busy or unavailable\nTraceback (most recent call last):\n  File "train.py", line '
            "541, in <module>\n    main()"
        ),
        "RuntimeError: CUDA error: uncorrectable NVLink error detected during the execution",
        (
            "RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 802: system not yet "
            "initialized"
        ),
        "Unable to determine the device handle for GPU 0000:1A:00.0: Unknown Error",
        "F0101 tpu: Check failed: libtpu: Failed to initialize TPU system: device unhealthy",
        (
            "WARNING:absl:No GPU/TPU found, falling back to CPU. (Set TF_CPP_MIN_LOG_LEVEL=0 and "
            "rerun for more info.)"
        ),
    ],
    "storage-auth": [
        (
            "Anonymous caller does not have storage.objects.get access to the Google Cloud "
            "Storage object."
        ),
        "google.auth.exceptions.InvalidOperation: Anonymous credentials cannot be refreshed.",
        (
            "OSError: You are trying to access a gated repo.\nMake sure to have access to it at "
            "https://huggingface.co/x"
        ),
    ],
    "unknown": ["Training task exit with status code 137"],
    "network-collective": [
        (
            "node1:19491:21059 [7] proxy.cc:1143 NCCL WARN Socket recv failed while polling for "
            "opId=0x7fb582222f90"
        ),
        (
            "RuntimeError: NCCL communicator was aborted on rank 1.  Original reason for failure "
            "was: watchdog timeout"
        ),
        (
            "RuntimeError: Timed out initializing process group in store based barrier on rank: "
            "3, for key: store_based_barrier_key:1 (world_size=8, worker_count=4, timeout=0:30:00)"
        ),
        (
            "torch.distributed.DistStoreError: Timed out after 901 seconds waiting for clients. "
            "1/2 clients joined."
        ),
    ],
    "code-bug-small": [
        (
            'Traceback (most recent call last):\n  File "main.py", line 20, in <module>\n    '
            "cfg = yaml.load(f)\nTypeError: load() missing 1 required positional argument: "
            "'Loader'"
        ),
        (
            "hydra.errors.ConfigCompositionException: Could not override 'model.lr'.\nKey 'lr' is "
            "not in struct"
        ),
        "omegaconf.errors.ConfigAttributeError: Key 'lrr' is not in struct",
        "AttributeError: module 'numpy' has no attribute 'float'.",
        "/bin/bash: line 1: pythn: command not found",
    ],
    "code-bug-complex": [
        (
            "RuntimeError: The size of tensor a (4) must match the size of tensor b (5) at "
            "non-singleton dimension 1"
        ),
        "RuntimeError: Trying to backward through the graph a second time",
        (
            "RuntimeError: Expected to have finished reduction in the prior iteration before "
            "starting a new one."
        ),
        "jax.errors.UnexpectedTracerError: Encountered an unexpected tracer.",
        "ValueError: Incompatible shapes for broadcasting: (1, 2) and (3,)",
        "Fatal Python error: Segmentation fault",
    ],
    "data": [
        (
            "RuntimeError: Caught FileNotFoundError in DataLoader worker process 0.\nOriginal "
            "Traceback (most recent call last):\n  File "
            '"/x/site-packages/torch/utils/data/_utils/worker.py", line 1, in f\n    a\n'
            "FileNotFoundError: [Errno 2] No such file or directory: '/data/a.jpg'"
        ),
        "OSError: image file is truncated (3 bytes not processed)",
        (
            "pyarrow.lib.ArrowInvalid: Could not open Parquet input source '<Buffer>': Parquet "
            "magic bytes not found in footer."
        ),
        "tensorflow.python.framework.errors_impl.DataLossError: corrupted record at 12",
        (
            "cv2.error: OpenCV(4.5.3) /tmp/resize.cpp:4051: error: (-215:Assertion failed) "
            "!ssize.empty() in function 'resize'"
        ),
        "ValueError: num_samples should be a positive integer value, but got num_samples=0",
        (
            "datasets.exceptions.DatasetNotFoundError: Dataset 'x/y' doesn't exist on the Hub or "
            "cannot be accessed."
        ),
        (
            "../aten/src/ATen/native/cuda/Indexing.cu:1290: indexSelectLargeIndex: block: "
            "[0,0,0], thread: [0,0,0] Assertion `srcIndex < srcSelectDimSize` failed."
        ),
    ],
    "numeric": [
        (
            "ValueError: Expected parameter loc (Tensor of shape (64, 2)) of distribution Normal "
            "to satisfy the constraint Real(), but found invalid values:\ntensor([[nan, nan]"
        ),
        "RuntimeError: Rank 0: found NaN in local forward loss calculation. Device: 0, node: n1",
        (
            "AssertionError: Rank 3: found NaN in local grad norm in backward pass before "
            "data-parallel communication collective."
        ),
        "{'loss': nan, 'grad_norm': nan, 'learning_rate': 1e-05, 'epoch': 0.1}",
        "Epoch 3: train_loss=nan val_loss=nan",
        "ERROR: Model diverged with loss = NaN.",
        "InvalidArgumentError: Nan in summary histogram for: layer1",
    ],
    "preemption": [
        "[2026-01-01] SIGTERM received, instance is being preempted; checkpointing",
        (
            "slurmstepd: error: *** JOB 1 ON n CANCELLED AT 2021-06-18T13:05:36 DUE TO PREEMPTION "
            '***\nTraceback (most recent call last):\n  File "a.py", line 1, in f\n    x\n'
            "KeyboardInterrupt"
        ),
        "google.cloud: instance vm-1 was preempted",
        "Trial 7 was preempted; exiting with code 0",
    ],
    "timeout": ["subprocess: job reached its time limit of 24:00:00", "TIMEOUT"],
    "node-failure": [
        "JOB STATE: NODE_FAIL",
        "ray.exceptions.NodeDiedError: Task failed due to the node dying.",
        (
            "slurmstepd: error: *** STEP 5.0 ON n CANCELLED AT 2026-01-01T00:00:00 DUE TO NODE n2 "
            "FAILURE ***"
        ),
    ],
    "capacity": [
        "Unable to allocate resources: Requested node configuration is not available",
        (
            "botocore.exceptions.ClientError: An error occurred (InsufficientInstanceCapacity) "
            "when calling the RunInstances operation"
        ),
        (
            "(raylet) The autoscaler: Warning: The following resource request cannot be scheduled "
            "right now: {'GPU': 8.0}."
        ),
    ],
    "host-contention": [
        "libgomp: Thread creation failed: Resource temporarily unavailable",
        "BlockingIOError: [Errno 11] Resource temporarily unavailable",
    ],
    "oom-accelerator": [
        "RuntimeError: CUDA out of memory.\nTried to allocate",
        "RuntimeError: cuDNN error: CUDNN_STATUS_ALLOC_FAILED",
        "MPS backend out of memory (MPS allocated: 18.00 GB)",
        (
            "2022-01-01 W tensorflow/core/common_runtime/bfc_allocator.cc:462] Allocator "
            "(GPU_0_bfc) ran out of memory trying to allocate 3.95GiB"
        ),
    ],
    "hbm-exhaustion": [
        (
            "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: TPU backend error "
            "(ResourceExhausted). Allocation failure"
        )
    ],
    "benign": [
        "WARNING:tensorflow:From x.py:1: The name tf.losses is deprecated. error may occur",
        (
            "Some weights of the model checkpoint at bert were not used when initializing: "
            "['cls']\n- This IS expected if you are initializing"
        ),
        (
            "[W socket.cpp:601] [c10d] The client socket has failed to connect to "
            "[localhost]:29500 (errno: 97 - Address family not supported by protocol)."
        ),
        "/usr/lib/python3/x.py:1: RuntimeWarning: invalid value encountered in double_scalars",
        "failed to import apex, using torch layernorm instead",
        "INFO: all 0 failed, 13 passed",
        "WARNING: nonfinite grads skipped: 0",
        "wandb: WARNING Step must only increase in log calls.  Step 4 < 5; dropping {'loss': 1}.",
        "Downloading error.json: 100%",
        (
            "I0000 00:00:17.0 cuda_executor.cc:1015] successful NUMA node read from SysFS had "
            "negative value (-1), but there must be at least one NUMA node"
        ),
        (
            "[2024-01-01 INFO] keep_checkpoint_max=5, on_error=continue, kill_timeout=30, "
            "abort_on_nan: False"
        ),
        (
            "Token indices sequence length is longer than the specified maximum sequence length "
            "for this model (1042 > 512). Running this sequence through the model will result in "
            "indexing errors"
        ),
        "the model answered: 'an exception occurred when the killed process restarted', reward 0.3",
        "Namespace(lr=0.1, timeout=1800, error_if_nonfinite=False, resume=None)",
    ],
}
MORE: dict[str, list[str]] = {
    "code-bug-small": [
        (
            'Traceback (most recent call last):\n  File "/home/u/run.py", line 14, in <module>\n'
            "    from utils.metrics import psnr\nImportError: cannot import name 'psnr' from "
            "'utils.metrics' (/home/u/utils/metrics.py)"
        ),
        (
            "  File \"train.py\", line 77\n    print 'epoch'\n          ^\nSyntaxError: Missing "
            "parentheses in call to 'print'. Did you mean print(...)?"
        ),
        "IndentationError: unexpected indent (dataset.py, line 33)",
        "UnboundLocalError: local variable 'loss' referenced before assignment",
        "KeyError: 'state_dict'",
        "AttributeError: 'NoneType' object has no attribute 'shape'",
        "ModuleNotFoundError: No module named 'mmcv._ext'",
    ],
    "code-bug-complex": [
        (
            "RuntimeError: Given groups=1, weight of size [64, 3, 7, 7], expected input[8, 4, "
            "224, 224] to have 3 channels, but got 4 channels instead"
        ),
        (
            "RuntimeError: Sizes of tensors must match except in dimension 1. Expected size 32 "
            "but got size 31 for tensor number 1 in the list."
        ),
        (
            "RuntimeError: Input type (torch.cuda.FloatTensor) and weight type "
            "(torch.FloatTensor) should be the same"
        ),
        "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn",
    ],
    "data": [
        "OSError: cannot identify image file '/data/img/1.png'",
        "EOFError: Ran out of input",
        (
            "UnicodeDecodeError: 'utf-8' codec can't decode byte 0x8b in position 1: invalid "
            "start byte"
        ),
        "RuntimeError: unexpected EOF, expected 3302200 more bytes. The file might be corrupted.",
        "IndexError: Target 1000 is out of bounds.",
        (
            "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central "
            "directory"
        ),
        "Error: Error reading file: Truncated JPEG, premature end of data segment",
        "FileNotFoundError: [Errno 2] No such file or directory: 'data/train.json'",
    ],
    "numeric": [
        "Loss is inf, stopping training",
        "WARNING: loss is nan at step 1200",
        "RuntimeError: Function 'MulBackward0' returned nan values in its 1th output.",
        "iter 100 loss 2.31\niter 200 loss nan\n",
        "FloatingPointError: gradients are Nan/Inf",
        "assert not torch.isnan(loss), 'loss is NaN'\nAssertionError: loss is NaN",
        "pytorch_lightning: The loss returned in `training_step` is nan.",
        "RuntimeError: probability tensor contains either `inf`, `nan` or element < 0",
    ],
    "oom-host": [
        (
            "slurmstepd: error: Job 7518 exceeded memory limit (626359956 > 512000000), being "
            "killed\nslurmstepd: error: Exceeded job memory limit"
        ),
        (
            "/var/spool/slurmd/job00191/slurm_script: line 28:  8156 Killed                  "
            "python3 main.py\nslurmstepd: error: Detected 1 oom-kill event(s) in StepId=191.batch "
            "cgroup. Some of your processes may have been killed by the cgroup out-of-memory "
            "handler."
        ),
        (
            "RuntimeError: unable to mmap 4096 bytes from file </torch_1_2>: Cannot allocate "
            "memory (12)"
        ),
        (
            "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  "
            "std::bad_alloc\nAborted (core dumped)"
        ),
        (
            "ERROR: Unexpected bus error encountered in worker. This might be caused by "
            "insufficient shared memory (shm)."
        ),
    ],
    "network-collective": [
        (
            "RuntimeError: NCCL error in: /opt/conda/ProcessGroupNCCL.cpp:825, unhandled system "
            "error, NCCL version 2.7.8"
        ),
        "RuntimeError: NCCL communicator was aborted on rank 0.",
        (
            "[E ProcessGroupNCCL.cpp:341] Some NCCL operations have failed or timed out. Due to "
            "the asynchronous nature of CUDA kernels, subsequent GPU operations might run on "
            "corrupted/incomplete data. To avoid data inconsistency, we are taking the entire "
            "process down."
        ),
        "RuntimeError: Socket Timeout",
        "RuntimeError: Connection reset by peer",
        (
            "torch.distributed.elastic.rendezvous.api.RendezvousConnectionError: The connection "
            "to the C10d store has failed."
        ),
        (
            "RuntimeError: Broken pipe\nncclSystemError: System call (socket, malloc, munmap, "
            "etc) failed."
        ),
        "RuntimeError: connect() timed out.",
        "RuntimeError: Address already in use\ntorch.distributed.TCPStore bind failed",
    ],
    "disk-full": [
        "OSError: [Errno 28] No space left on device",
        (
            "tensorflow.python.framework.errors_impl.ResourceExhaustedError: "
            "/ckpt/model.data-00000; No space left on device"
        ),
        (
            "h5py: OSError: Can't write data (file write failed: time = x, errno = 28, error "
            "message = 'No space left on device')"
        ),
        "wandb: ERROR Failed to write: [Errno 28] No space left on device",
    ],
    "storage-auth": [
        (
            "botocore.exceptions.ClientError: An error occurred (AccessDenied) when calling the "
            "PutObject operation: Access Denied"
        ),
        (
            "google.api_core.exceptions.Forbidden: 403 POST "
            "https://storage.googleapis.com/upload/x: a@b does not have storage.objects.create "
            "access"
        ),
        "huggingface_hub.utils._errors.GatedRepoError: 403 Client Error.",
        "OSError: [Errno 13] Permission denied: '/mnt/ckpt'",
        (
            "google.auth.exceptions.DefaultCredentialsError: Could not automatically determine "
            "credentials."
        ),
        "wandb.errors.CommError: Error communicating with wandb: permission denied",
    ],
    "bad-accelerator": [
        "RuntimeError: CUDA error: CUDA-capable device(s) is/are busy or unavailable",
        "RuntimeError: CUDA unknown error - this may be due to an incorrectly set up environment",
        (
            "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an "
            "NVIDIA GPU"
        ),
        "NVRM: GPU 0000:01:00.0: RmInitAdapter failed! (0x22:0x56:894)",
        (
            "RuntimeError: Unable to initialize backend 'tpu': INTERNAL: Failed to get global TPU "
            "topology. (set JAX_PLATFORMS='' to automatically choose an available backend)"
        ),
        "kernel: NVRM: Xid (PCI:0000:44:00): 74, NVLink: fatal error detected on link 6",
        "The TPU is already in use by process with pid 4242.",
    ],
    "preemption": [
        "torch: Received SIGTERM due to preemption, saving checkpoint",
        (
            "slurmstepd: error: *** STEP 12.0 ON n CANCELLED AT 2021-06-18T13:05:36 DUE TO "
            "PREEMPTION ***"
        ),
        "W0504 The TPU VM was preempted by the cloud provider",
        "(sdk) Spot VM reclaimed: worker preempted, recovering",
    ],
    "node-failure": [
        (
            "srun: error: Node failure on node17\nsrun: Job step aborted: Waiting up to 32 "
            "seconds for job step to finish."
        ),
        "ray.exceptions.ObjectLostError: Failed to retrieve object; its owner has died",
        "Raylet is terminated. Termination is unexpected. local raylet died",
    ],
    "timeout": [
        "slurmstepd: error: *** JOB 1 ON n CANCELLED AT 2020-07-11T22:48:26 DUE TO TIME LIMIT ***",
        "TERM_RUNLIMIT: job killed after reaching LSF run time limit.",
    ],
    "capacity": [
        (
            "0/8 nodes are available: 8 Insufficient nvidia.com/gpu. preemption: 0/8 nodes are "
            "available"
        ),
        "Error: No available node types can fulfill resource request {'GPU': 1.0}",
        "sbatch: error: Batch job submission failed: Requested node configuration is not available",
    ],
    "hbm-exhaustion": [
        (
            "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Attempting to reserve "
            "13.68G at the bottom of memory. That was not possible. There are 10.96G free, 0B "
            "reserved, and 10.96G reservable."
        )
    ],
    "oom-accelerator": [
        (
            "E external/xla RESOURCE_EXHAUSTED: Failed to allocate request for 2.0GiB "
            "(2147483648B) on device ordinal 0"
        ),
        "RuntimeError: CUDA error: out of memory",
    ],
    "benign": [
        (
            "W "
            "external/org_tensorflow/tensorflow/compiler/xla/service/gpu/gemm_algorithm_picker.cc: can't pick algorithms"  # noqa: E501  # one entry of a table, or one recorded value
        ),
        (
            "2023 W tensorflow/compiler/xla/stream_executor/gpu/asm_compiler.cc:231] Falling back "
            "to the CUDA driver for PTX compilation; ptxas does not support CC 8.9"
        ),
        (
            "[W reducer.cpp:1298] Warning: find_unused_parameters=True was specified in DDP "
            "constructor, but did not find any unused parameters in the forward pass."
        ),
        "NOTE: Redirects are currently not supported in Windows or MacOs. errors='strict'",
        "eval: exact_match 0.0 error 1.0 loss 2.3 num_failed_requests 0",
        "WARNING:root:NaN or Inf found in input tensor.",
        "[INFO] Checkpoint saving timed out=False",
        "WARNING: Skipping sample: too long (4097 > 4096)",
        "INFO:root:Reducer buckets have been rebuilt in this iteration. no error found",
    ],
}
OTHERS: dict[str, list[str]] = {
    "oom-accelerator": [
        (
            'Traceback (most recent call last):\n  File "/u/train.py", line 10, in <module>\n    '
            'out = model(x)\n  File "/x/site-packages/torch/nn/f.py", line 3, in forward\n    '
            "return F.linear(x)\nRuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB "
            "(GPU 0; 10.76 GiB total capacity)\n/opt/conda/x.py: UserWarning: semaphore_tracker: "
            "There appear to be 12 leaked semaphores to clean up at shutdown"
        )
    ],
    "code-bug-small": [
        (
            "wandb: Waiting for W&B process to finish... (failed 1). Press Control-C to abort "
            'syncing.\nTraceback (most recent call last):\n  File "train.py", line 12, in '
            "<module>\n    foo\nNameError: name 'foo' is not defined\nwandb: ERROR Problem"
        ),
        (
            "usage: main.py [-h] --data DATA\nmain.py: error: the following arguments are "
            "required: --data"
        ),
        "torchrun: error: argument --nproc_per_node: invalid int value",
    ],
    "data": [
        (
            '[rank0]: Traceback (most recent call last):\n[rank0]:   File "/u/data.py", line 1, '
            "in f\n[rank0]:     x\n[rank0]: webdataset.autodecode.DecodingError: file could not "
            "be read successfully\n"
        ),
        "ValueError: Unable to find '/data/train/*.parquet'",
        "datasets.builder.DatasetGenerationError: An error occurred while generating the dataset",
        "RuntimeError: Found 0 files in subfolders of: /data/train",
        "libpng error: IDAT: CRC error",
    ],
    "storage-auth": [
        "fatal: could not read Username for 'https://github.com': No such device or address",
        "An error occurred (InvalidAccessKeyId) when calling the ListObjects operation",
        (
            "huggingface_hub.errors.HfHubHTTPError: 401 Client Error: Unauthorized for url: "
            "https://huggingface.co/api"
        ),
        (
            "gsutil: ServiceException: 401 Anonymous caller does not have storage.objects.list "
            "access to the Google Cloud Storage bucket."
        ),
        "mkdir: cannot create directory '/scratch/x': Permission denied",
    ],
    "numeric": [
        "2021 | WARNING | Grad norm is nan or inf, skipping; AssertionError: loss diverged to nan",
        "ValueError: Loss is NaN. Training stopped.",
        "Training loss: inf at step 300. Aborting.",
        "Exiting: loss exploded (1e9) at step 7",
        "FloatingPointError: NaN detected in gradient of layer 3",
        "Non-finite loss detected, ending training {'loss_ce': tensor(nan)}",
    ],
    "node-failure": [
        "The actor is dead because its node has died. Node Id: 00ff",
        (
            "2026 WARNING worker.py -- The node with node id abc has been marked dead because the "
            "detector has missed too many heartbeats from it."
        ),
        "salloc: error: Node failure on cn12",
        "ssh: connect to host node3 port 22: No route to host",
    ],
    "preemption": [
        "Received SIGUSR1: preemption imminent, requeueing job 12",
        "AWS spot interruption notice: instance will be terminated in 2 minutes",
        "torchx: job preempted by higher priority job 77",
    ],
    "timeout": [
        "error: job 12 killed: walltime limit exceeded",
        "kubectl: Job train-1 DeadlineExceeded: Job was active longer than specified deadline",
    ],
    "network-collective": [
        (
            "[rank2]: torch.distributed.DistBackendError: [2] is setting up NCCL communicator and "
            "retrieving ncclUniqueId from [0] via c10d key-value store by key '0', but "
            "store->get('0') got error: Connection reset by peer"
        ),
        (
            "RuntimeError: [1] is setting up NCCL communicator and retreiving ncclUniqueId from "
            "[0] via c10d key-value store by key '0', but store->get('0') got error: Socket "
            "Timeout"
        ),
        "RuntimeError: monitoredBarrier: Rank 1 failed to pass monitoredBarrier in 1800000 ms",
        "mlx5_0: local protection error; RuntimeError: NCCL error: internal error",
        "E [Gloo] Rank 1 is not connected: connectFullMesh failed with [connection refused]",
    ],
    "disk-full": [
        "cp: error writing '/data/x': No space left on device",
        "PermissionError? no: OSError: [Errno 28] inode table exhausted, No space left on device",
    ],
    "bad-accelerator": [
        "ERROR: nvidia-smi: GPU 3 requires reset; ECC errors uncorrectable 12",
        "RuntimeError: TPU initialization failed: Failed to open /dev/accel0",
        "RuntimeError: CUDA driver initialization failed, you might not have a CUDA gpu.",
    ],
    "hbm-exhaustion": [
        (
            "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Ran out of memory in "
            "memory space hbm. Used 18.5G of 16G hbm"
        )
    ],
    "oom-host": [
        "dmesg: Memory cgroup out of memory: Killed process 99 (python3)",
        "error: job step killed: Memory limit exceeded by step 12.0 (used 260G)",
        (
            "MemoryError: Unable to allocate 7.45 GiB for an array with shape (1000000000,) and "
            "data type float64"
        ),
    ],
    "host-contention": [
        "RuntimeError: Unable to start new thread: can't start new thread",
        "ERROR: bash: fork: retry: Resource temporarily unavailable",
    ],
    "capacity": [
        (
            "googleapiclient.errors: Quota 'NVIDIA_A100_GPUS' exceeded.  Limit: 8.0 in region "
            "us-central1."
        ),
        (
            "QueuedResource state: WAITING_FOR_RESOURCES; There is no available capacity in zone "
            "us-east5-a"
        ),
        "PENDING (QOSMaxGRESPerUser)",
    ],
    "not-a-failure": ["scancel: job 12 CANCELLED by 1001"],
    "code-bug-complex": [
        (
            "RuntimeError: CUDA error: an illegal memory access was encountered\nCUDA kernel "
            "errors might be asynchronously reported"
        ),
        "ValueError: optimizer got an empty parameter list",
        (
            "RuntimeError: Error(s) in loading state_dict for ResNet:\n Missing key(s) in "
            'state_dict: "conv1.weight"'
        ),
    ],
    "unknown": [
        "error: process exited with exit code 1",
        (
            "WARNING:torch.distributed.elastic.multiprocessing.api:Sending process 99 closing "
            "signal SIGTERM\nERROR:torch.distributed.elastic.multiprocessing.api:failed "
            "(exitcode: 1) local_rank: 0 (pid: 77) of binary: /usr/bin/python"
        ),
    ],
    "benign": [
        "INFO killed worker pool gracefully; shutdown complete",
        "Val: error=0.12 nan_frac=0.0 oom=0 num_corrupt=0 time 0.1",
        "2024 INFO NCCL_TIMEOUT=1800 NCCL_IB_TIMEOUT=22 TORCH_NCCL_ASYNC_ERROR_HANDLING=1",
        "saving checkpoint (attempt 1 of 3) ... done",
        (
            "The following columns don't have a corresponding argument and have been ignored: "
            "error_text."
        ),
        (
            "[WARNING] sparse_attn requires a torch version >= 1.5 but detected 2.0; using "
            "untested triton version"
        ),
        (
            "torch/utils/checkpoint.py:31: UserWarning: None of the inputs have "
            "requires_grad=True. Gradients will be None"
        ),
        "Lightning: `Trainer.fit` stopped: `max_epochs=10` reached.",
        "cudaMallocAsync pool: hits 10 failures 0 exceeded 0",
        "[rank0] timer: forward 12.1 ms, killed=0, preempted=0, evicted=0",
    ],
}
# What newer versions print: CUDA 12.8, NCCL 2.2x, c10d, XLA, ROCm, DeepEP, Slurm.
NEWER: dict[str, list[str]] = {
    "bad-accelerator": [
        (
            "torch.AcceleratorError: CUDA error: Invalid access of peer GPU memory over nvlink or "
            "a hardware error"
        ),
        (
            "NVRM: Xid (PCI:0000:19:00): 154, GPU recovery action changed from 0x0 (None) to 0x2 "
            "(Node Reboot Required)"
        ),
    ],
    "network-collective": [
        "RuntimeError: DeepEP error: CPU recv timeout",
        (
            "DeepEP dispatch NVL receiver timeout, channel: 0, RDMA: 0, nvl: 7, src RDMA: 1, src "
            "nvl: 1, start: 0, end: 0"
        ),
        (
            "E0101 00:00:00.000000 1 rendezvous.cc:120] Termination timeout for `all gather "
            "RendezvousKey{run_id=3}` of 40 seconds exceeded. Exiting to ensure a consistent "
            "program state. Expected 2 threads to join the rendezvous, but only 1 of them arrived "
            "on time."
        ),
    ],
    "code-bug-small": [
        (
            "torch.distributed.DistBackendError: NCCL error in: "
            "/pytorch/torch/csrc/distributed/c10d/NCCLUtils.hpp:268, invalid usage (run with "
            "NCCL_DEBUG=WARN for details), NCCL version 2.21.5\nncclInvalidUsage: This usually "
            "reflects invalid usage of NCCL library.\nLast error:\nDuplicate GPU detected : rank "
            "9 and rank 1 both on CUDA device 34000"
        ),
    ],
    "code-bug-complex": [
        (
            ":0:rocdevice.cpp            :2986: 12 us:  Callback: Queue 0x15 aborting with error "
            ": HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION: The agent attempted to access memory "
            "beyond the largest legal address. code: 0x29"
        ),
        (
            'ValueError: FAILED_PRECONDITION: Error opening "zarr" driver: Object includes extra '
            'members: "checksum"'
        ),
    ],
    "hbm-exhaustion": [
        (
            "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: E1001: CompileTimeScopedVmemOom: Ran "
            "out of memory in memory space vmem while allocating on stack for %gmm.1"
        ),
        "Scoped allocation with size 18.00M and limit 16.00M exceeded scoped vmem limit by 2.00M.",
    ],
    "preemption": [
        (
            "slurmstepd: error: *** JOB 4711 ON cn001 CANCELLED AT 2026-01-01T00:00:00 DUE TO JOB "
            "REQUEUE ***"
        ),
    ],
    "unknown": [
        (
            "[rank3]:[E606 09:09:08.17 ProcessGroupNCCL.cpp:1987] [PG ID 0 PG GUID 0(default_pg) "
            "Rank 3] Received a dump signal due to a collective timeout from rank 5 and we will "
            "try our best to dump the debug info."
        ),
    ],
    "benign": [
        (
            "NVRM: Xid (PCI:0000:19:00): 154, GPU recovery action changed from 0x2 (Node Reboot "
            "Required) to 0x0 (None)"
        ),
        (
            "E0915 03:15:02.160012 395 rendezvous.cc:108] [id=6] This thread has been waiting for "
            "`all gather` for 10 seconds and may be stuck. All 8 threads joined the rendezvous"
        ),
    ],
}

CASES = [
    (kind, text)
    for table in (TABLE, EVENT_LINES, MORE, OTHERS, NEWER, BLIND)
    for kind, texts in table.items()
    for text in texts
]
