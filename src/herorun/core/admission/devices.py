"""The accelerators that a job sees, through libraries that it has already imported. Imports and
initialises nothing.

Standard library only, and light: this also runs inside the job, on every rank, before the training
starts.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from .hardware import Devices

_SIZES = (
    "WORLD_SIZE",
    "SLURM_NTASKS",
    "SLURM_NNODES",
    "OMPI_COMM_WORLD_SIZE",
    "PMI_SIZE",
    "JAX_NUM_PROCESSES",
)
FROM_CHECK_IN = "passed to check_in"


def seen_devices(
    devices: Any, modules: Mapping[str, Any], environment: Mapping[str, str]
) -> Devices | str:
    """The devices that the script passed; otherwise those of JAX or torch, if it has initialised
    them; otherwise why they are unknown.
    """
    try:
        if devices is not None:
            return _read_passed_devices(devices)
        if "jax" in modules:
            return _of_jax(modules["jax"], modules.get("jax._src.xla_bridge"))
        if "torch" in modules:
            return _of_torch(modules["torch"], environment)
    except Exception as error:  # a library's own objects may raise anything; it is no difference
        return f"the devices could not be read: {error!r}"
    return "neither JAX nor torch is imported yet: pass check_in(devices=...)"


def _read_passed_devices(devices: Any) -> Devices:
    """`jax.devices()`, names, or `{"accelerator": "H100", "count": 8}`; a number is their count."""
    if isinstance(devices, int):
        return Devices((), (devices,), FROM_CHECK_IN)
    if isinstance(devices, Mapping):
        kind, count = devices.get("accelerator"), devices.get("count")
        return Devices((str(kind),) if kind else (), (int(count or 0),), FROM_CHECK_IN)
    names = _kinds(devices)
    return Devices(tuple(dict.fromkeys(names)), (len(names),), FROM_CHECK_IN)


def _kinds(devices: Iterable[Any]) -> list[str]:
    return [str(getattr(device, "device_kind", device)) for device in devices]


def _of_jax(jax: Any, bridge: Any) -> Devices | str:
    """The devices of JAX, if its back end runs: a query would start it, before `jax.distributed` is
    set up.
    """
    if bridge is not None and not getattr(bridge, "_backends", True):
        return "JAX has not looked for its devices yet: pass check_in(devices=jax.devices())"
    names = _kinds(jax.devices())
    return Devices(tuple(dict.fromkeys(names)), (len(names),), "jax.devices()")


def _of_torch(torch: Any, environment: Mapping[str, str]) -> Devices | str:
    """The devices of torch; the kind only if CUDA was initialised: a query would initialise it,
    which breaks a later fork.
    """
    cuda_ready = getattr(torch.cuda, "is_initialized", bool)()
    local = int(torch.cuda.device_count())
    names = (
        [str(torch.cuda.get_device_name(number)) for number in range(local)] if cuda_ready else []
    )
    spread = getattr(torch, "distributed", None)
    is_distributed = bool(spread and spread.is_available() and spread.is_initialized())
    size = (
        int(spread.get_world_size())
        if is_distributed and spread
        else _size(environment, "WORLD_SIZE")
    )
    if not local:
        return Devices(("cpu",), (0,), "torch.cuda")
    # a process for each device, or for each node
    counts = (size, size * local) if size > 1 else (local,)
    others = size <= 1 and any(_size(environment, name) > 1 for name in _SIZES)
    return Devices(tuple(dict.fromkeys(names)), counts, "torch.cuda", others)


def _size(environment: Mapping[str, str], name: str) -> int:
    value = environment.get(name, "")
    return int(value) if value.isdigit() else 1
