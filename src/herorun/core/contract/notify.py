"""The contract's tables of notifications and of the record."""

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any, ClassVar, Literal

from herorun.core.contract.values import KIND, Duration, Name, OpenTable, Remote, Table, Whole
from herorun.core.git_ref_names import branch_name
from herorun.core.lazy_pydantic import AfterValidator, Field, field_validator


class Issue(OpenTable):
    """Where people read about the run."""

    kind: str = Field("local", pattern=KIND, description="Which notifier holds the run's page.")
    repo: str | None = Field(None, description="owner/name of the repository that holds the issue.")
    number: Whole | None = Field(None, gt=0, description="The number of an existing issue.")
    labels: tuple[Name, ...] = Field(
        ("experiment", "agent-generated"), description="Labels of a new issue."
    )


def _check_page_path(path: str) -> str:
    """A path that git, every file system and the record's own files leave alone."""
    parts = path.split("/")
    plain = all(re.fullmatch(r"[A-Za-z0-9._@+-]+", part) for part in parts)
    if (
        not plain
        or not path.endswith(".md")
        or {".", "..", ".git"} & {part.lower() for part in parts}
    ):
        raise ValueError(
            "is not a path for the logbook: write it relative to the repository's top, with "
            "letters, digits and ._@+- only, and .md at its end"
        )
    if any(part.endswith((".journal", ".files")) for part in parts[:-1]) or re.search(
        r"_\d{3,}\.md$", path
    ):
        raise ValueError(
            "is a name that herorun gives to other files of the record: choose another one"
        )
    return path


def is_logbook_path(path: str) -> bool:
    """Whether a contract could name it; a record may name anything."""
    try:
        return bool(_check_page_path(path))
    except ValueError:
        return False


class Logbook(Table):
    """Where the record is kept."""

    RENAMED: ClassVar = {"quiet": "quiet_ticks"}

    branch: Annotated[str, AfterValidator(branch_name)] | None = Field(
        None, description="Branch of the record; by default herorun/<slug>."
    )
    path: Annotated[str, AfterValidator(_check_page_path)] | None = Field(
        None,
        description=(
            "Path of the logbook on that branch, a .md file; by default "
            ".agents/logbooks/<slug>.md. "
            "It cannot change after init."
        ),
    )
    remote: Remote | None = Field(
        None, description="Remote of the record; by default [code] remote."
    )
    quiet_ticks: Literal["hourly", "each"] = Field(
        "hourly",
        description=("Ticks with nothing to report: one entry per hour for all, or one for each."),
    )


def _channel(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError(
            "is not the name of an environment variable: an address holds a secret, so put it in a "
            "variable and name that here"
        )
    return name


def _check_quiet(text: str) -> str:
    from herorun.core.notify.quiet_hours import quiet_hours

    quiet_hours(text)
    return text


Channels = tuple[Annotated[str, AfterValidator(_channel)], ...]


class Notify(Table):
    """Who is notified in addition to the issue, and how often."""

    RENAMED: ClassVar = {"second": "secondary", "second_after": "secondary_after"}

    targets: Channels = Field(
        (),
        description=(
            "Names of environment variables that hold apprise URLs, for messages of both kinds: "
            "those of `page` and those of `inform`. Only the first channel that accepts a message "
            "gets it. Warnings are sent only if `inform` names a channel."
        ),
    )
    page: Channels = Field(
        (),
        description=(
            "Names of such variables for urgent messages (pages): crashes, relaunches, "
            "escalations, reminders."
        ),
    )
    inform: Channels = Field(
        (),
        description="Names of such variables for messages that can wait: warnings, and the ends "
        "of alerts and runs.",
    )
    secondary: Channels = Field(
        (),
        description=(
            "Names of such variables for another person, who gets the critical alerts that are "
            "not acknowledged within `secondary_after`."
        ),
    )
    secondary_after: Duration = Field(
        timedelta(minutes=30),
        description="For how long a critical alert waits for `herorun ack` before it goes to "
        "`secondary`.",
    )
    quiet_hours: Annotated[str, AfterValidator(_check_quiet)] | None = Field(
        None,
        description=(
            'In UTC, like "21:00-05:30": messages that can wait are sent at their end, pages at '
            "once."
        ),
    )
    kinds: tuple[Annotated[str, Field(pattern=KIND)], ...] = Field(
        (),
        description=(
            "Kinds of notifiers that only send, such as an installed package's; tried after the "
            "targets."
        ),
    )
    options: Mapping[str, Mapping[str, Any]] = Field(
        {}, description="[notify.options.KIND]: the keys of such a notifier."
    )
    heartbeat: Annotated[str, AfterValidator(_channel)] | None = Field(
        None,
        description=(
            "Name of the environment variable that holds a URL, which gets a GET request after "
            "each tick that read everything; the service there raises an alarm when the requests "
            "stop."
        ),
    )
    pages_per_hour: Whole = Field(
        6,
        gt=0,
        description="Messages that a channel sends in an hour before it leaves out repeated "
        "ones; the next message says how many were left out.",
    )
    pages_per_day: Whole = Field(30, gt=0, description="The same limit for a day.")

    @field_validator("targets", "page", "inform", "secondary", "kinds")
    @classmethod
    def _each_once(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(value)) < len(value):
            raise ValueError("has one entry twice: remove one of them")
        return value

    @property
    def channels(self) -> tuple[str, ...]:
        """All, by their names; those that take pages first."""
        return tuple(dict.fromkeys((*self.address_variables, *self.kinds)))

    @property
    def address_variables(self) -> tuple[str, ...]:
        """The variables that hold addresses."""
        every = (*self.page, *self.targets, *self.inform, *self.secondary)
        return tuple(dict.fromkeys(every))

    @property
    def both(self) -> tuple[str, ...]:
        """What takes pages and information."""
        return (*self.targets, *self.kinds)
