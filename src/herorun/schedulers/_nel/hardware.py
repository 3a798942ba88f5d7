"""The hardware that an evaluation asks for: the table `execution` of its configuration, and its
overrides.
"""

from pathlib import Path
from typing import Any

from herorun.core.admission.hardware import tpu
from herorun.core.config.files import merge, parse_config
from herorun.core.config.normalise import flatten
from herorun.core.errors import WrongUse, describe_error
from herorun.core.evidence import Offered
from herorun.core.lazy_regex import lazy_regex
from herorun.core.plan import Plan
from herorun.schedulers._nel.options import config_and_overrides
from herorun.system.files import read_regular

MAX_CONFIG_BYTES = 16 << 20  # bytes
_GRES = lazy_regex(r"gpu:(?:(?P<kind>[A-Za-z][\w.-]*):)?(?P<count>\d+)")
# as Lepton names them: gpu.8xh100
_SHAPE = lazy_regex(r"(?:gpu\.)?(?P<count>\d+)x(?P<kind>[A-Za-z][\w-]*)")


def requested_hardware(repository: str, plan: Plan) -> Offered:
    """Keys of `[hardware]`; what the configuration takes from nel's own defaults is unknown
    here.
    """
    try:
        name, overrides = config_and_overrides(plan.argv.value)
        path = Path(repository, plan.cwd.value, name)
        data = read_regular(path, MAX_CONFIG_BYTES)
        execution = parse_config(path.name, data).get("execution") or {}
    except (OSError, ValueError, WrongUse) as error:
        return Offered(
            partial="the configuration of the evaluation could not be read: "
            f"{describe_error(error)}"
        )
    merged_config = merge(
        execution if isinstance(execution, dict) else {}, _execution_overrides(overrides)
    )
    hardware = _hardware({key: str(value) for key, value in flatten(merged_config).items()})
    return Offered(
        hardware, partial="" if hardware else "the configuration's `execution` names no accelerator"
    )


def _execution_overrides(overrides: tuple[str, ...]) -> dict[str, Any]:
    pairs = (word.lstrip("+").partition("=") for word in overrides)
    return {
        key.removeprefix("execution."): value
        for key, _, value in pairs
        if key.startswith("execution.")
    }


def _hardware(execution: dict[str, str]) -> dict[str, Any]:
    nodes = int(execution.get("num_nodes", "1")) if execution.get("num_nodes", "1").isdigit() else 1
    for value in execution.values():
        if match := _GRES.fullmatch(value) or _SHAPE.fullmatch(value):
            kind = {"accelerator": match["kind"]} if match["kind"] else {}
            return {**kind, "count": int(match["count"]) * nodes}
        slice_of = tpu(value)
        if slice_of and slice_of.chips:
            return {"accelerator": value, "count": slice_of.chips, "topology": value}
    each = execution.get("gpus_per_node", "")
    return {"count": int(each) * nodes} if each.isdigit() else {}
