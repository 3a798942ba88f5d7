"""Which variables of the launching shell reach the job, by three documented lists.

`TRAINERS` are read by trainers and their libraries: they are part of the plan. `MACHINE` is what a
program needs to run on its machine and to reach its stores at all: it is passed on, and is no part
of the plan. `NEVER` belongs to one process or one image.
"""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from herorun.core.admission.environment import is_any
from herorun.core.redaction.key_names import names_one
from herorun.core.redaction.scrub import scrub, scrub_tree


def _globs(text: str) -> tuple[str, ...]:
    return tuple(text.split())


TRAINERS = _globs(
    "XLA_* LIBTPU_* TPU_* JAX_* PJRT_* NCCL_* RCCL_* GLOO_* UCX_* FI_* "
    "TORCH_* TORCHINDUCTOR_* TORCHDYNAMO_* PYTORCH_* CUDA_* CUBLAS_* CUBLASLT_* CUDNN_* NVTE_* "
    "NVSHMEM_* "
    "NVIDIA_TF32_OVERRIDE NVIDIA_VISIBLE_DEVICES HIP_* HSA_* ROCR_* MIOPEN_* NEURON_* "
    "TRITON_* FLASH_* MEGATRON_* DEEPSPEED_* ACCELERATE_* FSDP_* OMP_* KMP_* MKL_* OPENBLAS_* "
    "NUMEXPR_* "
    "*_NUM_THREADS WANDB_* HF_* HUGGINGFACE_* TRANSFORMERS_* TOKENIZERS_* DATASETS_* TENSORSTORE_* "
    "TF_CPP_* TF_GPU_* TF_CUDNN_* TF_XLA_* TF_FORCE_* TF_ENABLE_* TF_NUM_* TF_DETERMINISTIC_* "
    "LEVANTER_* PYTHON*"
)
MACHINE = _globs(
    "PATH HOME USER LOGNAME SHELL HOSTNAME LANG LANGUAGE LC_* TZ TERM TMPDIR TMP TEMP XDG_* "
    "LD_LIBRARY_PATH LIBRARY_PATH VIRTUAL_ENV CONDA_* MAMBA_* MODULEPATH MODULESHOME "
    "LOADEDMODULES LMOD_* "
    "SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE "
    "HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY http_proxy https_proxy no_proxy all_proxy "
    "KRB5CCNAME CLOUDSDK_CONFIG GOOGLE_APPLICATION_CREDENTIALS GOOGLE_CLOUD_PROJECT "
    "STORAGE_EMULATOR_HOST AWS_*"
)
# Set in each process by a launcher, a shell or a scheduler: code may read them, and nobody
# plans them.
LAUNCHERS = _globs(
    "PWD OLDPWD SHLVL _ RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE GROUP_RANK NODE_RANK ROLE_* "
    "MASTER_ADDR MASTER_PORT TORCHELASTIC_* OMPI_* PMI_* PMIX_* MPI_* SLURM_* SBATCH_* RAY_* "
    "IRIS_* "
    "KUBERNETES_* HERORUN_* JAX_COORDINATOR_* JAX_PROCESS_ID JAX_NUM_PROCESSES JAX_LOCAL_DEVICE_IDS"
)
NEVER = _globs(
    "WANDB_SERVICE WANDB_AGENT_* PYTHONSTARTUP PYTHON_BASIC_REPL PYTHONINSPECT *_VERSION "
    "TORCHELASTIC_* "
    "JAX_COORDINATOR_* JAX_PROCESS_ID JAX_NUM_PROCESSES JAX_LOCAL_DEVICE_IDS"
)
SHELL = "the launching shell"


@lru_cache(maxsize=1024)  # each launch and look asks it of the whole environment
def is_machines(name: str) -> bool:
    """Whether a program needs it to run on its machine at all."""
    return is_any(name, MACHINE)


def admissible(name: str, sets: Iterable[str] = ()) -> bool:
    """Whether a variable is one that trainers read, and that the scheduler does not set by
    itself.
    """
    return is_any(name, TRAINERS) and not is_any(name, (*NEVER, *sets))


def of_plan(record_value: Any) -> dict[str, str]:
    """The variables that a record holds: never others than a launching shell could have given."""
    variables = record_value if isinstance(record_value, Mapping) else {}
    return {str(name): str(value) for name, value in variables.items() if admissible(str(name))}


def from_shell(
    shell: Mapping[str, str], secrets: Iterable[str], sets: Iterable[str], is_local: bool
) -> tuple[dict[str, str], dict[str, str]]:
    """What goes into the plan, and what is not passed on although trainers read it, with the
    reason.

    `is_local`: the job runs on this machine, so that a path of this machine means the same to it.
    """
    values, withheld_values = {}, {}
    for name, value in sorted(shell.items()):
        if not admissible(name, sets) or name in secrets:
            continue
        why = _explain_withholding(name, value, is_local)
        if why:
            withheld_values[name] = why
        else:
            values[name] = value
    return values, withheld_values


def _explain_withholding(name: str, value: str, is_local: bool) -> str:
    if looks_secret(name, value):
        return "it looks like a secret: name it in [command] secrets"
    if "\n" in value or "\0" in value or not is_text(value):
        return "its value is no single line of text: state it in [command] env"
    if not is_local and any(part.startswith(("/", "~")) for part in value.split(":")):
        return "a path on this machine, and the job runs on another: state it in [command] env"
    return ""


def is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def looks_secret(name: str, value: str) -> bool:
    """Whether the record could not hold it as it stands."""
    is_masked = (
        scrub_tree({name: value}) != {name: value} or scrub(f"{name}={value}") != f"{name}={value}"
    )
    return is_masked or (names_one(name) and fnmatchcase(name, "*_API_KEY"))


def is_set_elsewhere(name: str, sets: Iterable[str] = ()) -> bool:
    """Whether machines, launchers or the scheduler set a variable, so that nobody plans its
    value.
    """
    return is_any(name, (*MACHINE, *LAUNCHERS, *sets))
