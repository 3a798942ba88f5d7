"""What a contract may say to a Kubernetes cluster."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from herorun.core.contract import Duration, RenamedKeys
from herorun.core.evidence import Offered
from herorun.core.lazy_pydantic import AfterValidator, Field, model_validator
from herorun.core.lazy_regex import lazy_regex
from herorun.core.ports import AdapterOptions
from herorun.core.trust import NeedsTrust
from herorun.schedulers._option_types import Absolute
from herorun.schedulers._validate import settle_option

_LABEL = lazy_regex(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_SECRET = lazy_regex(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/[A-Za-z0-9._-]{1,253}")
_GPUS = lazy_regex(r".+/(gpu|tpu|neuron|neuroncore|neurondevice|mig-.+|gaudi)")
# labels of nodes by which several clouds name their accelerators
_KINDS = (
    "nvidia.com/gpu.product",
    "cloud.google.com/gke-accelerator",
    "cloud.google.com/gke-tpu-accelerator",
    "node.kubernetes.io/instance-type",
)
_TOPOLOGY = "cloud.google.com/gke-tpu-topology"


def _label(value: str) -> str:
    if not _LABEL.fullmatch(value):
        raise ValueError(f"{value!r} is not a Kubernetes name: a-z, 0-9 and -, at most 63")
    return value


def _config_path(value: str) -> str:
    if not value.startswith(("/", "~/")) or re.search(r"[\n\0]", value):
        raise ValueError("must be an absolute path, or begin with ~/")
    return value


def _secret(value: str) -> str:
    if not _SECRET.fullmatch(value):
        raise ValueError(f"{value!r} must be written as secret/key")
    return value


def _inside(value: str) -> str:
    if value.startswith("/") or ".." in Path(value).parts:
        raise ValueError("must be a path below the repository's root")
    return value


Label = Annotated[str, AfterValidator(_label)]
Quantity = Annotated[str, Field(pattern=r"^[0-9]+(\.[0-9]+)?([munkKMGTPE]i?|)$")]


class Options(RenamedKeys, AdapterOptions):
    """Which cluster, as whom, and what the job needs. The ambient context is never used."""

    RENAMED: ClassVar = {"forgets": "job_retention", "tolerated": "ignore_changes"}

    context: str = Field(min_length=1, description="Context of the kubeconfig, by its name.")
    namespace: Label = Field(description="Namespace of all objects.")
    kubeconfig: Annotated[str, AfterValidator(_config_path), NeedsTrust(("context",))] = Field(
        "~/.kube/config",
        description="The kubeconfig file. `KUBECONFIG` and the current context are ignored.",
    )
    program: Annotated[str, NeedsTrust()] = Field(
        "kubectl", min_length=1, description="The kubectl program."
    )
    image: str = Field(
        min_length=1, description="Container image, by digest: `host/name@sha256:...`."
    )
    code: Literal["image", "bundle", "shared"] = Field(
        "image",
        description=(
            '"image": the code is in the image, in `folder`; "bundle": each pod fetches it from '
            'the output root, at most 100 MiB; "shared": the pod sees the state folder '
            "`.herorun/` under the same path, by a volume of `pod_template`."
        ),
    )
    folder: Absolute | None = Field(
        None, description='The code\'s folder in the image; required with `code = "image"`.'
    )
    fetch: tuple[str, ...] = Field(
        (),
        description=(
            'With `code = "bundle"`: a command of the image that copies the file `{from}` of the '
            'output root to the path `{to}`: ["gcloud", "storage", "cp", "{from}", "{to}"]; '
            "required for an object store, otherwise `cp`."
        ),
    )
    pod_template: Annotated[str, AfterValidator(_inside)] | None = Field(
        None,
        description=(
            "YAML file in the repository with a pod template (`metadata`, `spec`) that the "
            "request is merged into: volumes, tolerations, sidecars."
        ),
    )
    object: Literal["job", "jobset"] = Field(
        "job",
        description=(
            "What is submitted: a Job, or a JobSet, whose pods have stable host names, for a run "
            "on several nodes; a JobSet needs its controller in the cluster."
        ),
    )
    replicas: int = Field(1, ge=1, description="Pods that run at once, one for each node.")
    resources: dict[str, Quantity] = Field(
        {},
        description='What each pod asks for and may use: {"nvidia.com/gpu" = "8", memory = "1Ti"}.',
    )
    node_selector: dict[str, str] = Field({}, description="Labels that a node must have.")
    priority_class: Label | None = Field(None, description="PriorityClass of the pods.")
    service_account: Label | None = Field(None, description="Service account of the pods.")
    queue: Label | None = Field(
        None,
        description="Kueue's local queue: the job is submitted suspended, and Kueue starts it.",
    )
    secrets: dict[str, Annotated[str, AfterValidator(_secret)]] = Field(
        {},
        description='For each of `[command] secrets` the Secret and its key: {WANDB_API_KEY = "tokens/wandb"}.',  # noqa: E501  # one sentence of the page
    )
    time_limit: Duration | None = Field(
        None, description="Kubernetes ends the job after this time (`activeDeadlineSeconds`)."
    )
    grace: Duration = Field(
        timedelta(minutes=5), description="Time between SIGTERM and SIGKILL, for a last checkpoint."
    )
    restarts: Literal["herorun", "backend"] = Field(
        "herorun", description="backend: Kubernetes itself may restart a failed job."
    )
    retries: int = Field(
        3,
        ge=1,
        description='With `restarts = "backend"`: how often (`backoffLimit`, of a JobSet '
        "`maxRestarts`). Otherwise both are 0.",
    )
    ignore_changes: tuple[str, ...] = Field(
        (),
        description=(
            "Fields that this cluster is known to drop or change, such as "
            '"spec.podReplacementPolicy" before Kubernetes 1.28: they block no launch.'
        ),
    )
    job_retention: Duration = Field(
        timedelta(days=1),
        description=(
            "How long the cluster keeps an ended job; after that, a missing job is unknown, not "
            "absent."
        ),
    )
    settle: Duration = settle_option(timedelta(seconds=15))
    timeout: Duration = Field(
        timedelta(seconds=30), description="Timeout of one query, including a login."
    )

    @model_validator(mode="after")
    def _finds_its_code(self) -> "Options":
        if (self.code == "image") != (self.folder is not None):
            raise ValueError('folder and code = "image" go together: set both, or neither')
        if self.fetch and self.code != "bundle":
            raise ValueError('fetch is only for code = "bundle": remove it')
        argv = " ".join(self.fetch)
        if argv and not ("{from}" in argv and "{to}" in argv):
            raise ValueError("fetch must contain {from} and {to}")
        return self

    @property
    def config_path(self) -> str:
        return str(Path(self.kubeconfig).expanduser())


def requested_hardware(options: Options) -> Offered:
    """The hardware that the options name, as keys of `[hardware]`."""
    selector = options.node_selector
    chips = [int(float(n)) for name, n in options.resources.items() if _GPUS.fullmatch(name)]
    kind = next((selector[name] for name in _KINDS if name in selector), None)
    hardware: dict[str, Any] = {
        "accelerator": kind,
        "count": sum(chips) * options.replicas or None,
        "topology": selector.get(_TOPOLOGY),
        "region": selector.get("topology.kubernetes.io/region"),
    }
    limit = options.time_limit.total_seconds() if options.time_limit else None
    why = "" if kind else "the node selector names no accelerator"
    return Offered({name: value for name, value in hardware.items() if value}, limit, why)
