"""What a contract may say of a box that is reached by ssh."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field

from herorun.core.contract import Duration
from herorun.core.remote_target import Name, SshLogin
from herorun.core.trust import NeedsTrust
from herorun.schedulers._option_types import Absolute


def _no_top(value: str) -> str:
    if value.endswith("/"):
        raise ValueError("must be a folder, without a slash at its end")
    return value


Folder = Annotated[Absolute, AfterValidator(_no_top)]


class Options(SshLogin):
    model_config = ConfigDict(extra="forbid", frozen=True)

    host: Name = Field(
        description="The box, as ssh knows it: a name of your ssh configuration, or an address."
    )
    folder: Folder = Field(
        description=(
            "Absolute path on the box, on a disk that outlives a restart: instances, code and "
            "logs lie there."
        ),
    )
    code: Literal["ship", "there"] = Field(
        "ship",
        description=(
            "`there`: the box sees this machine's folders under the same paths; nothing is sent."
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
        description="Python 3.8 or newer on the box: it supervises the job.",
    )
    settle: Duration = Field(
        timedelta(seconds=60),
        description=(
            'Time after an intent before "there is no such job" counts; a submission arrives '
            "within it or not at all."
        ),
    )
    grace: Duration = Field(timedelta(seconds=30), description="Time between SIGTERM and SIGKILL.")
    connect_within: Duration = Field(
        timedelta(seconds=15), description="Time for a new connection."
    )
    look_within: Duration = Field(
        timedelta(seconds=20), description="Time for a look, once connected."
    )
    start_within: Duration = Field(timedelta(seconds=20), description="Time that a start may take.")
    send_within: Duration = Field(timedelta(minutes=10), description="Time for sending the code.")
