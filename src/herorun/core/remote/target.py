"""How to reach another machine."""

from typing import Annotated

from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import AfterValidator, BaseModel, ConfigDict, Field
from herorun.core.lazy_regex import lazy_regex
from herorun.core.trust import NeedsTrust

NAME = lazy_regex(r"[A-Za-z0-9_][A-Za-z0-9._@%:-]*")  # never one that ssh would take for an option


def _check_name(name: str) -> str:
    if not NAME.fullmatch(name):
        raise ValueError(
            "must be a name for ssh: a letter, digit or _, then letters, digits and . _ @ % : -"
        )
    return name


Name = Annotated[str, AfterValidator(_check_name)]


class SshLogin(BaseModel):
    """Where to log in. All of the user's own ssh configuration counts; nothing is ever asked at a
    prompt.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    host: Name | None = Field(
        None,
        description=(
            "Host of the login node or machine, as in your ssh configuration; none: this machine."
        ),
    )
    user: Name | None = Field(None, description="User at the host; none: as ssh decides.")
    port: int | None = Field(
        None, ge=1, le=65535, description="Port of its ssh server; none: as ssh decides."
    )
    ssh_config: Annotated[str | None, NeedsTrust()] = Field(
        None,
        description=(
            "An ssh configuration file in place of the user's own; never one inside the repository."
        ),
    )


@dataclass(frozen=True)
class RemoteTarget:
    """The machine where the job runs and bare paths lie, where that is not this one."""

    login: SshLogin
    python: str = "python3"  # there
    connect: float = 15.0  # seconds for a new connection
    timeout: float = 20.0  # seconds for an answer, once connected
