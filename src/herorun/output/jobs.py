"""Prints the registry of jobs, and the jobs that were searched for."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from herorun import output
from herorun.core.adhoc_jobs.registry import describe_entry
from herorun.core.finding import count
from herorun.schemas.jobs import JobPlace

NOT_QUERIED = "not queried yet"


def show_entries(entries: Sequence[Mapping[str, Any]]) -> None:
    """A line for each registered job, with its last known status."""
    for entry in entries:
        about = f" ({entry['description']})" if entry.get("description") else ""
        message = f"{describe_entry(entry)}{about}: {_last_status(entry)}"
        output.show_line(output.clean(message))


def _last_status(entry: Mapping[str, Any]) -> str:
    """Other programs that write the registry give no time."""
    if not entry.get("last_status"):
        return NOT_QUERIED
    at = (
        f"as of {entry['last_queried']} UTC"
        if entry.get("last_queried")
        else "as of an unknown time"
    )
    return f"{entry['last_status']} {at}"


def show_places(places: Sequence[JobPlace], host: str) -> None:
    """The jobs of each place, and how to monitor one."""
    for place in places:
        problem = f"could not be read: {output.clean(place.why)}" if place.why else ""
        output.show_line(f"{output.clean(place.place)}: {problem or count(len(place.jobs), 'job')}")
        for each in place.jobs:
            on = f" on {each.host}" if each.host else ""
            output.show_line(f"  {output.clean(f'{each.job}{on}: {each.description}')}")
    # each as `KIND ID`, with its host: the queue of `host` does not repeat it
    jobs = {(each.job, each.host or host) for place in places for each in place.jobs}
    if jobs:
        job, job_host = next(iter(jobs)) if len(jobs) == 1 else ("KIND ID", host)
        kind, _, job_id = job.partition(" ")
        argv = ["herorun", "babysit", "--scheduler", kind, "--job", job_id]
        how = shlex.join([*argv, *(["--host", job_host] if job_host else [])])
        which = "the job" if len(jobs) == 1 else "one of these jobs"
        output.show_next_step(f"`{output.clean(how)}` monitors {which}")
