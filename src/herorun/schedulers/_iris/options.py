"""The Iris options of a contract, and the flags of `iris job run` that it must not use, because
herorun could no longer track the job.
"""

from datetime import timedelta
from typing import Annotated, Any, ClassVar, Literal

from herorun.core.admission.hardware import tpu
from herorun.core.contract import Duration, RenamedKeys
from herorun.core.evidence import Offered
from herorun.core.lazy_pydantic import AfterValidator, Field, model_validator
from herorun.core.lazy_regex import lazy_regex
from herorun.core.ports import AdapterOptions
from herorun.core.trust import NeedsTrust
from herorun.schedulers._cluster_secrets import vouching_option
from herorun.schedulers._option_types import long_argument, safe_word
from herorun.schedulers._validate import settle_option

OWN_FLAGS = {
    "env-vars": "variables go by [command] env",
    "help": "it submits nothing",
    "job-name": "the job's name is the instance's",
    "max-retries": "say [scheduler] restarts and retries",
    "no-wait": "herorun waits by itself",
    "no-terminate-on-exit": "it is set already",
    "terminate-on-exit": "the job outlives the command that submits it",
    "user": "say [scheduler] user",
}
TYPED_FLAGS = {
    "tpu": "tpu",
    "gpu": "gpu",
    "cpu": "cpu",
    "memory": "memory",
    "disk": "disk",
    "replicas": "replicas",
    "region": "region",
    "zone": "zone",
    "extra": "extra",
    "reserve": "reserve",
    "priority": "priority",
    "timeout": "time_limit",
    "enable-extra-resources": "extra_resources",
}
_WORD = lazy_regex(r"[A-Za-z0-9_.:@/+-]+")
_NAME = lazy_regex(r"[A-Za-z0-9_][A-Za-z0-9_.@-]*")


def check_argument(argument: str) -> str:
    """One flag of `iris job run`, unless it changes what herorun decides.

    >>> check_argument("--no-sync")
    '--no-sync'
    """
    return long_argument(argument, TYPED_FLAGS, OWN_FLAGS)


def _check_job_name(value: str) -> str:
    if not _NAME.fullmatch(value):
        raise ValueError(f"{value!r} is not the name of a user or a job: no slashes, no spaces")
    return value


Word = Annotated[str, AfterValidator(lambda value: safe_word(value, _WORD, "Iris"))]
Name = Annotated[str, AfterValidator(_check_job_name)]
Argument = Annotated[str, AfterValidator(check_argument)]


class Options(RenamedKeys, AdapterOptions):
    """Which cluster, in whose name, and what the job needs."""

    RENAMED: ClassVar = {"forgets": "job_retention", "submit_within": "submit_timeout"}

    cluster: Word | None = Field(
        None,
        description='A cluster by its short name, such as "marin"; `iris cluster list` names them.',
    )
    config: Annotated[str | None, NeedsTrust()] = Field(
        None, description="Instead of `cluster`: its configuration file, by an absolute path."
    )
    controller_url: str | None = Field(
        None, description="Instead of `cluster`: the address of its controller."
    )
    user: Name = Field(description="The user in the job's name, `/<user>/<instance>`.")
    program: Annotated[tuple[str, ...], NeedsTrust()] = Field(
        ("iris",),
        min_length=1,
        description=(
            'The command that starts iris, such as ["uv", "run", "--project", "/repo", "iris"].'
        ),
    )
    gang: Name | None = Field(
        None,
        description=(
            "Name of the child job that holds the accelerators, such as `train_lm`; none: every "
            "child counts."
        ),
    )
    tpu: Word | None = Field(
        None, description='TPUs of the job itself, not of a child: "v5litepod-16".'
    )
    gpu: Word | None = Field(None, description='GPUs of the job itself: "H100x8".')
    cpu: float | None = Field(
        None, gt=0, description="CPUs of the job itself; none: Iris' default."
    )
    memory: Word | None = Field(None, description='Memory of the job itself: "2GB".')
    disk: Word | None = Field(None, description='Disk of the job itself: "9GB".')
    extra_resources: bool = Field(
        False,
        description=(
            "Must be true for an accelerator, for 4 GB of memory or more, and for 10 GB of disk "
            "or more."
        ),
    )
    replicas: int | None = Field(
        None, ge=1, description="Tasks of the job itself; none: as its TPU needs."
    )
    region: tuple[Word, ...] = Field((), description="Regions it may run in; none: any.")
    zone: Word | None = Field(None, description="Zone it must run in.")
    extra: tuple[Word, ...] = Field((), description='Extras to install: "marin:tpu".')
    reserve: tuple[Word, ...] = Field(
        (), description='Capacity to reserve, such as "4:H100x8"; it gives the job no device.'
    )
    priority: Word | None = Field(None, description="Priority band, if this Iris has them.")
    time_limit: Duration | None = Field(
        None, description="Iris ends the job after this time, which includes the time in the queue."
    )
    arguments: tuple[Argument, ...] = Field(
        (),
        description=(
            "Further flags of `iris job run`, each as --name=value. Those that herorun sets are "
            "refused."
        ),
    )
    restarts: Literal["herorun", "backend"] = Field(
        "herorun", description="backend: Iris itself may restart a failed job."
    )
    retries: int = Field(
        3,
        ge=1,
        description=(
            'With restarts = "backend": how often it may. After a preemption, Iris always '
            "restarts the job."
        ),
    )
    code: Literal["bundle", "shared"] = Field(
        "bundle",
        description=(
            '"bundle" sends the code along, at most 100 MB; "shared" if every worker sees the '
            "state folder."
        ),
    )
    secrets: Literal["on-cluster"] | None = vouching_option()
    job_retention: Duration = Field(
        timedelta(days=1),
        description=(
            "How long Iris certainly lists an ended job; after that, a missing job is unknown, "
            "not absent."
        ),
    )
    settle: Duration = settle_option(timedelta(seconds=30))
    timeout: Duration = Field(
        timedelta(seconds=60), description="Timeout of one query, including its tunnel."
    )
    submit_timeout: Duration = Field(
        timedelta(minutes=10),
        description="Timeout of a submission, including the bundle's upload.",
    )

    @model_validator(mode="after")
    def _one_cluster(self) -> "Options":
        if sum(each is not None for each in (self.cluster, self.config, self.controller_url)) != 1:
            raise ValueError("set exactly one of cluster, config and controller_url")
        return self


_GPU = lazy_regex(r"(?:(?P<hosts>\d+):)?(?P<kind>[A-Za-z][\w-]*?)(?:x(?P<count>\d+))?")


def requested_hardware(options: Options) -> Offered:
    """The hardware that the options request, as keys of `[hardware]`: the job's own, or else the
    reservation for its children.
    """
    places = {"region": (options.zone,) if options.zone else options.region}
    limit = options.time_limit.total_seconds() if options.time_limit else None
    hardware = {
        **_accelerators(options),
        **{name: value for name, value in places.items() if value},
    }
    why = (
        ""
        if "accelerator" in hardware
        else "the options name no accelerator: a child of the job asks for them"
    )
    return Offered(hardware, limit, why)


def _accelerators(options: Options) -> dict[str, Any]:
    names = [options.tpu or options.gpu or "", *options.reserve]
    device = next((word for word in names if word), "")
    slice_of = tpu(device.rpartition(":")[2])
    if slice_of:
        many = int(device.partition(":")[0]) if ":" in device else 1
        size = {"count": slice_of.chips * many} if slice_of.chips else {}
        return {
            "accelerator": device.rpartition(":")[2],
            **size,
            **({"topology": device} if many == 1 else {}),
        }
    match = _GPU.fullmatch(device)
    if not match:
        return {}
    hosts = int(match["hosts"] or 1) if match["hosts"] else options.replicas or 1
    return {"accelerator": match["kind"], "count": int(match["count"] or 1) * hosts}
