"""A contract's options for a machine that is reached by ssh."""

from datetime import timedelta
from typing import Annotated, ClassVar, Literal

from herorun.core.contract import Duration, RenamedKeys
from herorun.core.lazy_pydantic import AfterValidator, BeforeValidator, Field
from herorun.core.remote.target import Name, SshLogin
from herorun.core.trust import NeedsTrust
from herorun.schedulers._option_types import Absolute
from herorun.schedulers._validate import settle_option


def _no_top(value: str) -> str:
    if value.endswith("/"):
        raise ValueError("must be a folder, without a slash at its end")
    return value


Folder = Annotated[Absolute, AfterValidator(_no_top)]


def _present_value(value: object) -> object:
    """`code` by its present words."""
    return (
        {"ship": "upload", "there": "shared"}.get(value, value) if isinstance(value, str) else value
    )


class Options(RenamedKeys, SshLogin):
    RENAMED: ClassVar = {
        "connect_within": "connect_timeout",
        "look_within": "timeout",
        "start_within": "start_timeout",
        "send_within": "send_timeout",
    }

    host: Name = Field(description="The machine: a name of your ssh configuration, or an address.")
    folder: Folder = Field(
        description=(
            "Absolute path on that machine, on a disk that survives a restart, for instances, "
            "code and logs."
        ),
    )
    code: Annotated[Literal["upload", "shared"], BeforeValidator(_present_value)] = Field(
        "upload",
        description=(
            "`shared`: that machine has this one's folders under the same paths; nothing is sent."
        ),
    )
    tmux: str = Field(
        "herorun",
        pattern=r"^[A-Za-z0-9_-]*$",
        description=(
            "Name of the tmux server's socket (`tmux -L`); empty, or where tmux is missing: a "
            "session of its own."
        ),
    )
    python: Annotated[str, NeedsTrust()] = Field(
        "python3",
        min_length=1,
        description="Python 3.8 or newer on that machine; it supervises the job.",
    )
    settle: Duration = settle_option(
        timedelta(seconds=60), ". A submission that has not arrived by then is refused."
    )
    grace: Duration = Field(timedelta(seconds=30), description="Time between SIGTERM and SIGKILL.")
    connect_timeout: Duration = Field(
        timedelta(seconds=15), description="Time for a new connection."
    )
    timeout: Duration = Field(
        timedelta(seconds=20), description="Time for one query, once connected."
    )
    start_timeout: Duration = Field(timedelta(seconds=20), description="Timeout of a start.")
    send_timeout: Duration = Field(timedelta(minutes=10), description="Time for sending the code.")
