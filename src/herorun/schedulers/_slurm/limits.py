"""What a partition would give, from `scontrol show partition`. Pure."""

from typing import Any

from herorun.core.evidence import Offered
from herorun.core.lazy_regex import lazy_regex
from herorun.schedulers._slurm.options import Options, parse_time

_FIELD = lazy_regex(r"(\w+)=(\S*)")
_GPUS = lazy_regex(r"(?:(?P<kind>[A-Za-z][\w.-]*):)?(?P<count>\d+)")


def partition_argv(options: Options) -> list[str]:
    return [
        "scontrol",
        "-a",
        "-o",
        "show",
        "partition",
        *([options.partition] if options.partition else []),
    ]


def parse_offer(text: str, options: Options) -> Offered:
    """The shorter of the requested limit and the partition's. QOS and account limits are not
    included.
    """
    partition = _partition(text, options.partition)
    most, usual = seconds(partition.get("MaxTime", "")), seconds(partition.get("DefaultTime", ""))
    own_limit = options.time_limit.total_seconds() if options.time_limit else None
    limits = [
        limit
        for limit in (most, own_limit if own_limit is not None else usual)
        if limit is not None
    ]
    partial = "Slurm does not report its QOS and account limits here"
    return Offered(_hardware(options), min(limits, default=None), partial)


def _partition(text: str, name: str | None) -> dict[str, str]:
    limit_rows = [
        dict(_FIELD.findall(line))
        for line in text.splitlines()
        if line.startswith("PartitionName=")
    ]
    for fields in limit_rows:
        if fields["PartitionName"] == name or (name is None and fields.get("Default") == "YES"):
            return fields
    return {}


def _hardware(options: Options) -> dict[str, Any]:
    """`gpus` counts the whole job's, `gres` and `--gpus-per-node` each node's, `--gpus-per-task`
    each task's.
    """
    each = [
        part.removeprefix("gpu:")
        for part in (options.gres or "").split(",")
        if part.startswith("gpu:")
    ]
    further = dict(
        argument.removeprefix("--").partition("=")[::2] for argument in options.arguments
    )
    node, task = further.get("gpus-per-node", ""), further.get("gpus-per-task", "")
    match = _GPUS.fullmatch(options.gpus or (each[0] if each else "") or node or task)
    if not match:
        return {}
    nodes = 1 if options.gpus else options.nodes or 1
    if not (options.gpus or each or node):
        each_node = nodes * int(further.get("ntasks-per-node") or 1)
        nodes = int(further.get("ntasks") or each_node)
    return {
        "count": int(match["count"]) * nodes,
        **({"accelerator": match["kind"]} if match["kind"] else {}),
    }


def seconds(text: str) -> float | None:
    """The seconds of a Slurm time limit; None if there is no limit.

    >>> seconds("1-00:00:30"), seconds("UNLIMITED")
    (86430.0, None)
    """
    try:
        return parse_time(text).total_seconds()
    except (ValueError, OverflowError):
        return None
