"""A contract's options for a Ray cluster."""

from datetime import timedelta
from typing import Annotated, ClassVar, Literal
from urllib.parse import urlsplit

from herorun.core.contract import Duration, RenamedKeys
from herorun.core.lazy_pydantic import AfterValidator, Field
from herorun.core.ports import AdapterOptions
from herorun.core.trust import NeedsTrust
from herorun.schedulers._cluster_secrets import vouching_option
from herorun.schedulers._validate import settle_option


def _address(text: str) -> str:
    parts = urlsplit(text)
    plain = (
        parts.scheme in ("http", "https") and parts.hostname and not (parts.query or parts.fragment)
    )
    if not plain or parts.username or parts.path not in ("", "/") or parts.port == 0:
        raise ValueError(
            'it must be "http://host:port" or "https://host:port" of the dashboard, and no more'
        )
    return text.rstrip("/")


class Options(RenamedKeys, AdapterOptions):
    RENAMED: ClassVar = {"upload_within": "upload_timeout"}

    address: Annotated[str, AfterValidator(_address)] = Field(
        description=(
            "The cluster's dashboard, `http://host:8265`. It is never taken from the environment."
        )
    )
    ca_file: str | None = Field(
        None, description="Certificate authorities for `https`, as a PEM file; none: the system's."
    )
    token_env: Annotated[str | None, NeedsTrust(("address",))] = Field(
        None,
        description=(
            "Environment variable that holds the cluster's token, sent as `Authorization: Bearer`."
        ),
    )
    header_env: Annotated[dict[str, str], NeedsTrust(("address",))] = Field(
        {},
        description="Further HTTP headers: the environment variable that holds each one's value.",
    )
    prefix: str = Field(
        "",
        pattern=r"^[A-Za-z0-9_.-]*$",
        description=("Prefix of the submission id, if several repositories share a cluster."),
    )
    code: Literal["upload", "shared"] = Field(
        "upload",
        description='"upload" packs the code for the cluster, at most 100 '
        'MiB; "shared" if every node '
        "sees the state folder "
        "under the same path.",
    )
    secrets: Literal["on-cluster"] | None = vouching_option()
    num_cpus: float | None = Field(None, ge=0, description="CPUs for the entrypoint itself.")
    num_gpus: float | None = Field(None, ge=0, description="GPUs for the entrypoint itself.")
    memory: int | None = Field(
        None, ge=0, description="Memory for the entrypoint itself, in bytes."
    )
    resources: dict[str, float] = Field(
        {}, description="Custom resources for the entrypoint itself."
    )
    logs: str | None = Field(
        None,
        description=(
            "Folder of the session's logs, if this machine can read it; none: logs are read over "
            "HTTP."
        ),
    )
    settle: Duration = settle_option(timedelta(seconds=30))
    timeout: Duration = Field(timedelta(seconds=20), description="Timeout of one query.")
    upload_timeout: Duration = Field(
        timedelta(minutes=5), description="Timeout of the upload of the code."
    )
    grace: Duration = Field(timedelta(seconds=30), description="Time between SIGTERM and SIGKILL.")
