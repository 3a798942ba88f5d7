"""Compares the identity that the tracker and the log report with the contract's."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from herorun.core.contract import Contract
from herorun.core.evidence import TrackerIdentity, TrackerState
from herorun.core.lazy_regex import lazy_regex

Found = tuple[str, str]  # subject, what differs
_SERVER = lazy_regex(r"https?://(?:[^/@]*@)?([^/\s]+)")


def wanted_id(contract: Contract) -> str:
    return contract.tracker.id or contract.slug


def reported_drift(contract: Contract, runs: Iterable[str]) -> list[Found]:
    """By the newest `entity/project/id` that the job's own log names."""
    paths = [run.split("/") for run in runs]
    if not paths or len(paths[-1]) != 3:
        return []
    entity, project, identity = paths[-1]
    pairs = (
        ("entity", entity, contract.tracker.entity),
        ("project", project, contract.tracker.project),
        ("id", identity, wanted_id(contract)),
    )
    return [
        (
            name,
            (
                f"the job's log says that it reports to {'/'.join(paths[-1])}; the contract "
                f"says {name} = {contract_value}"
            ),
        )
        for name, reported_value, contract_value in pairs
        if contract_value is not None and reported_value != contract_value
    ]


def server_drift(contract: Contract, identity: TrackerIdentity, server: str) -> list[Found]:
    """The server that the job's own log links to, against the tracker's own address of the run.

    One server may go by two names: every address that the contract states, as an option of the
    tracker or as a variable of the command, is taken as the same.
    """
    ours = _host(identity.url)
    stated_values = (*contract.command.env.values(), *contract.tracker.options.values())
    hosts = {ours, *(_host(str(address)) for address in stated_values)}
    if not ours or not server or _host(server) in hosts:
        return []
    return [
        ("url", f"the job's log links to {server}, but the tracker shows the run at {identity.url}")
    ]


def _host(url: str) -> str:
    """Without the name that a server's API has before that of its pages."""
    match = _SERVER.match(url)
    return match[1].lower().removeprefix("api.") if match else ""


def name_drift(contract: Contract, identity: TrackerIdentity, must_be_there: bool) -> list[Found]:
    """`must_be_there`: the job has been reporting for long enough."""
    missing = identity.state in (TrackerState.ABSENT, TrackerState.DELETED)
    if missing and must_be_there:
        return [
            (
                "id",
                (
                    f"the tracker has no run {wanted_id(contract)} ({identity.state}), but the "
                    "job trains"
                ),
            )
        ]
    if missing or identity.state is TrackerState.UNREACHABLE:
        return []
    differences = []
    if identity.id and identity.id != wanted_id(contract):
        differences.append(
            ("id", f"the tracker answers for {identity.id}, not {wanted_id(contract)}")
        )
    expected_name = contract.tracker.name or wanted_id(contract)
    if identity.display_name and identity.display_name != expected_name:
        differences.append(
            ("name", f"the run's display name is {identity.display_name!r}, not {expected_name!r}")
        )
    return differences


def heartbeat_of(identity: TrackerIdentity) -> datetime | None:
    """In UTC; None for what is no time, or a time without a zone."""
    try:
        heartbeat = datetime.fromisoformat(identity.heartbeat)
    except ValueError:
        return None
    return heartbeat.astimezone(UTC) if heartbeat.tzinfo else None


def writes_after(
    last: datetime | None, ended_at: datetime | None, now: datetime, grace: timedelta
) -> bool:
    """Whether something was written so long after the end that it was not the job. The future is a
    clock's fault.
    """
    return bool(last and ended_at and ended_at + grace < last <= now)
