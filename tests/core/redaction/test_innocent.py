"""What a run says that only looks like a secret stays readable: digests, SHAs, ids, paths, weights
and numbers.
"""

import base64
import random
import string
from collections.abc import Callable

import pytest

from herorun.core.redaction.scrub import scrub, scrub_argv

Draw = random.Random
HEX = "0123456789abcdef"
LOWER = string.ascii_lowercase + string.digits
FRESH = 200


def _hex(draw: Draw, length: int) -> str:
    return "".join(draw.choices(HEX, k=length))


def _id(draw: Draw, length: int = 8) -> str:
    return "".join(draw.choices(LOWER, k=length))


def _uuid(draw: Draw) -> str:
    return "-".join(_hex(draw, n) for n in (8, 4, 4, 4, 12))


LINES: dict[str, Callable[[Draw], str]] = {
    "commit": lambda d: f"HEAD is now at {_hex(d, 40)} ({_hex(d, d.randint(7, 12))})",
    "digest": lambda d: (
        f"plan sha256:{_hex(d, 64)} tree {_hex(d, 40)} md5 {_hex(d, 32)} {_hex(d, 64)}"
    ),
    "image": lambda d: f"nvcr.io/nvidia/pytorch:24.0{d.randint(1, 9)}-py3@sha256:{_hex(d, 64)}",
    "uuid": lambda d: f"job {_uuid(d)} on TPU-{_uuid(d)} GPU-{_uuid(d)}",
    "wandb": lambda d: (
        f"wandb: 🚀 View run at https://wandb.ai/lab/hero/runs/{_id(d)} "
        f"(run-20260101_120000-{_id(d)})"
    ),
    "path": lambda d: (
        "saved "
        f"/data/{_hex(d, 40)}/{_id(d, 20)}/step-{d.randint(1, 10**6)}/model-00001-of-00064.safetensors"  # noqa: E501  # one made value
    ),
    "bucket": lambda d: (
        f"gs://bucket/runs/{_id(d)}/checkpoints/{_hex(d, 32)}/metadata.json#{d.randint(10**15, 10**16)}"  # noqa: E501  # one made value
    ),
    "weights": lambda d: f"tensor {base64.b64encode(d.randbytes(d.randint(9, 3000))).decode()} end",
    "weights of a URL": lambda d: base64.urlsafe_b64encode(
        d.randbytes(d.randint(12, 300))
    ).decode(),
    "floats": lambda d: (
        f"step {d.randint(1, 10**6)} loss {d.random():.17g} lr {d.random() / 1e4:.6e} tok/s "
        f"{d.randint(10**6, 10**9)}"
    ),
    "tokens": lambda d: (
        f"tokens_per_second={d.randint(1, 10**9)} total_tokens: {d.random() * 1e13:.4g} "
        f"max_token_length={d.randint(1, 99999)}"
    ),
    "address": lambda d: (
        f"<object at 0x{_hex(d, 12)}> "
        f"10.{d.randint(0, 255)}.0.{d.randint(0, 255)}:{d.randint(1024, 65535)} fe80::{_hex(d, 4)}"
    ),
    "slurm": lambda d: (
        f"JobId={d.randint(1, 10**7)} NodeList=gpu[{d.randint(1, 9)}-64] Restarts=0 "
        "AllocTRES=cpu=64,mem=512G,gres/gpu=8"
    ),
    "pod": lambda d: (
        f"hero-{_id(d, 10)}-{_id(d, 5)} 1/1 Running ip-10-0-{d.randint(0, 255)}-7.ec2.internal "
        f"i-0{_hex(d, 16)}"
    ),
    "model": lambda d: (
        f"meta-llama/Llama-3.1-{d.randint(1, 405)}B-Instruct revision {_hex(d, 40)} tokenizer.json"
    ),
    "nccl": lambda d: (
        f"node{d.randint(1, 999)}:{d.randint(1, 9**6)}:{d.randint(1, 9**6)} [0] NCCL INFO comm "
        f"0x{_hex(d, 12)} rank 7 commId 0x{_hex(d, 16)} - Init COMPLETE"
    ),
    "time": lambda d: (
        f"2026-01-{d.randint(10, 28)}T12:00:00.{d.randint(0, 999999):06}Z "
        f"seed={d.randint(0, 2**32)} elapsed={d.random() * 1e5:.3f}s"
    ),
    "event": lambda d: (
        f"<!-- herorun event={_hex(d, 16)} hash=sha256:{_hex(d, 64)} --> key note/{_hex(d, 16)}"
    ),
    "lock": lambda d: (
        f'"integrity": "sha512-{base64.b64encode(d.randbytes(64)).decode()}", etag "{_hex(d, 32)}"'
    ),
    "checksum": lambda d: (
        f"crc32c={base64.b64encode(d.randbytes(4)).decode()} "
        f"md5Hash={base64.b64encode(d.randbytes(16)).decode()} "
        f"generation={d.randint(10**15, 10**16)}"
    ),
}

TRAININGS = (
    (
        "torchrun --nnodes 64 --nproc_per_node 8 --rdzv_backend c10d --rdzv_endpoint gpu1:29500 "
        "--rdzv_id 4711 pretrain_gpt.py"
        " --tensor-model-parallel-size 8 --tokenizer-type GPT2BPETokenizer --vocab-file "
        "/data/vocab.json --merge-file m.txt"
        " --micro-batch-size 1 --use-checkpoint-args --no-load-optim --ckpt-format torch_dist "
        "--key-value-heads 8"
    ),
    (
        "python -m levanter.main.train_lm --config_path config/llama_7b.yaml "
        "--trainer.wandb.project hero --trainer.num_train_steps"
        " 1000000 --data.tokenizer meta-llama/Meta-Llama-3-8B --trainer.checkpointer.base_path "
        "gs://bucket/checkpoints"
    ),
    (
        "accelerate launch --multi_gpu --main_process_port 29501 run_clm.py --model_name_or_path "
        "EleutherAI/pythia-6.9b"
        " --use_auth_token --hub_model_id lab/model --report_to wandb --max_eval_samples 500 "
        "--pad_token '<|pad|>'"
    ),
    (
        "python train.py +experiment=llama3/405b model.num_key_value_heads=8 "
        "trainer.max_tokens=15.6e12 data.token_dtype=uint32"
        " hydra.run.dir=/data/runs/2026-01-01/12-00-00 ++callbacks.passes=3 "
        "tokens_per_batch=16777216"
    ),
    (
        "srun --container-image nvcr.io/nvidia/nemo:24.07 --no-container-entrypoint "
        "--ntasks-per-node=8 --account=hero_e --partition"
        " batch --auth=munge bash -c 'python pretrain.py --seed 7 --key step'"
    ),
    (
        "docker run -u 1000:1000 --ipc=host -p 8080:8080 -v /data:/data "
        "nvcr.io/nvidia/pytorch:24.01-py3 python train.py"
    ),
    (
        "deepspeed --hostfile hosts train.py --deepspeed ds.json --text-key content "
        "--eos-token-id 128001 --sort_key length"
    ),
)


@pytest.mark.parametrize("kind", LINES)
def test_what_only_looks_like_a_secret_stays(kind: str) -> None:
    draw = random.Random(kind)
    for line in (LINES[kind](draw) for _ in range(FRESH)):
        assert scrub(line) == line


@pytest.mark.parametrize("command", TRAININGS)
def test_the_command_line_of_a_real_training_stays(command: str) -> None:
    assert scrub(command) == command
    assert scrub_argv(tuple(command.split())) == tuple(command.split())


@pytest.mark.parametrize(
    "line",
    [
        "NoCredentialsError: Unable to locate credentials",
        "AuthenticationError: the request was refused",
        "argv pass: as admitted; start pass: from scratch",
        "You can find your API key in your browser here: https://wandb.ai/authorize",
        "wandb: Currently logged in as: ada (lab). Use `wandb login --relogin` to force relogin",
        "an issue needs judgment or authorization, attempt to contact the DRI",
        "<token> <image_token> and <|endoftext|> are special",
        "dGhlIHF1aWNrIGJyb3duIGZveCBqdW1wcw== says nothing that is secret",
        "50%25 of https://h/a%20b%2Fc are read",
        "\x1b[31mERROR\x1b[0m loss=nan at step 1200",
        "HF_TOKEN is set; WANDB_API_KEY -> (unset); MY_TOKEN | required",
        "token -> logits; the token is invalid; | token | count |",
        "s3://bucket/table/key=9bcfbe07fae17389034ec2c2920d33fd4f8a3fbf/part-0.parquet",
        "nvcr.io/nvidia/pytorch:25.06-py3@sha256:" + "12" * 32,
        "ada@node-01.example.org:/data/run1 and lease of ada@gpu-node-01",
        "name: HF_TOKEN\n  value: $HF_TOKEN",
        "fw_grad_norm_per_layer_0123456789 and sess-2026-01-01-run",
        "discord and slack are told; pip install 'slack-sdk>=3'",
    ],
)
def test_words_about_secrets_stay(line: str) -> None:
    assert scrub(line) == line
