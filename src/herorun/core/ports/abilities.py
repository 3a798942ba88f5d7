"""What an adapter may do beyond its port. Every member is optional: a caller first tests whether
the adapter has it. One that has it takes these parameters, which the contract suites assert of
every adapter and template.

An ability of several members has a protocol of its own, next to its port.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from herorun.core.adhoc_jobs.tasks import TaskEnd
from herorun.core.evidence import Directive, Job, Offered, RequestReview
from herorun.core.plan import Plan
from herorun.core.ports.jobs import (
    DatedLogs,
    FromStore,
    KnowsOtherJobs,
    ListsJobs,
    Logs,
    ManyJobs,
    ManyRuns,
    Printable,
    ReportsWarnings,
    Submitted,
)
from herorun.core.ports.metrics import Alerts, ClientEnvironment, Identities, Mentions
from herorun.core.ports.posts import Channel, IssueTracker, ReadBack


class SchedulerAbilities(Protocol):
    def offers(self, plan: Plan) -> Offered:
        """The hardware and the time that a job of this plan would get."""

    def review(self, plan: Plan, slug: str) -> RequestReview:
        """What the back end says of the request; nothing is submitted."""

    def ignored_directives(self, argv: Sequence[str], script: str) -> tuple[Directive, ...] | None:
        """What a script that `argv` runs asks the back end for, in lines that it reads only of a
        submitted script, and the request does not state; None if `argv` itself submits, so that
        this cannot be answered.
        """

    def log(self, instance: str) -> str:
        """The path of the instance's log on this machine."""

    def log_place(self, instance: str) -> str:
        """The path of its log on the machine where it runs."""

    def log_page(self, instance: str) -> str:
        """A web page that shows its log; empty if the address is unknown."""

    def log_changed_at(self, instance: str) -> datetime | None:
        """When its log last changed, by our own clock; None if it could not be read."""

    def external_id(self, job: Job) -> str:
        """The id by which `herorun jobs` finds it without its contract; by default `Job.id`."""

    def dependent_command(self, job: str, script: str, log: str, name: str) -> str:
        """For a shell: the script as a job of its own, once `job` has ended well. `script` and
        `log` are quoted already.
        """


class ByIdAbilities(Protocol):
    def tasks(self, job: str) -> tuple[TaskEnd, ...]:
        """How each of its tasks ended; empty if the back end does not report it."""

    def live_namesakes(self, job: str) -> tuple[str, ...]:
        """Ids of other live jobs of its name and its user; `CouldNotLook` where they could not be
        listed.
        """

    def results(self, job: str) -> str:
        """The result, as a message."""

    def events(self, job: str) -> tuple[str, ...]:
        """Key events in words, such as the end of a calibration, oldest first."""

    def describe(self, job: str) -> str:
        """What runs under the id, for a person who may have mistyped it."""

    def reused(self, job: str) -> bool:
        """Whether the id now belongs to a later job."""

    def warnings(self, job: str) -> tuple[str, ...]:
        """What its back end warned of, one line each, the newest last; no check reads them."""


class TrackerAbilities(Protocol):
    rows_file: str  # the file that `herorun.log` appends rows to, as the job names it


class NotifierAbilities(Protocol):
    of_this_clone: bool  # another clone has a page of its own, which nobody reads


ABILITIES: Mapping[str, tuple[type, ...]] = {  # by port
    "schedulers": (
        SchedulerAbilities,
        FromStore,
        KnowsOtherJobs,
        Logs,
        ManyJobs,
        ManyRuns,
        Printable,
        ReportsWarnings,
    ),
    "schedulers.external": (ByIdAbilities, DatedLogs, ListsJobs, Submitted),
    "trackers": (TrackerAbilities, Alerts, ClientEnvironment, Identities, Mentions),
    "notifiers": (NotifierAbilities, Channel, IssueTracker, ReadBack),
}
