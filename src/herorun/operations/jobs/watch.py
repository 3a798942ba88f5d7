"""Polling the registered jobs: each by its own source, only changes printed, ended ones removed
with their results.
"""

import contextlib
import os
import shutil
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from herorun.core.adhoc_jobs.registry import (
    describe_entry,
    key_of,
    summed_up,
    with_status,
    without,
)
from herorun.core.errors import HerorunError, WrongUse, describe_error
from herorun.core.evidence import JobState
from herorun.core.finding import count
from herorun.core.redaction.scrub import scrub
from herorun.operations.babysit.batch import worst
from herorun.operations.jobs.poll import JobStatus, memory_path, poll_entry
from herorun.operations.record.session import JobSession, change_jobs, prepare, read_jobs
from herorun.system.clock import now
from herorun.system.files import take_lock

EVERY = 60.0  # seconds between two polls
AT_ONCE = 4  # jobs that are asked about at the same time
BLIND = 86_400.0  # seconds of looking after which a watch that can see none of its jobs ends


def check_jobs(session: JobSession) -> tuple[list[JobStatus], str]:
    """One poll of all: the registry is brought up to date, ended jobs are taken out. Also what is
    wrong with the file.
    """
    entries, fault = read_jobs(session)
    at = now()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        statuses = list(pool.map(poll_entry, entries))
    status_by_job = {key_of(each.entry): each.word for each in statuses}
    ended_keys = [key_of(each.entry) for each in statuses if each.has_ended]
    if entries or fault:
        change_jobs(
            session, lambda current: without(with_status(current, status_by_job, at), ended_keys)
        )
    for each in statuses:
        if each.has_ended:
            shutil.rmtree(memory_path(each.entry), ignore_errors=True)
    return statuses, fault


def lines_of(statuses: Sequence[JobStatus]) -> list[str]:
    """Every job, for a person who asks: what changed, and how the others stand."""
    news = news_of(statuses)
    same = [e for e in statuses if not (e.changed or e.has_ended or e.state is JobState.UNKNOWN)]
    lines = [*(each.line for each in same), *news]
    return lines if statuses else ["no job is registered"]


def news_of(statuses: Sequence[JobStatus], ended_jobs: Sequence[JobStatus] = ()) -> list[str]:
    """State changes alone, and where there are several jobs and something changed, one line of all.

    `ended_jobs` are those that ended before, and are not in the registry any more: "2 of 4
    completed" counts them.
    """
    lines = [each.line for each in statuses if each.changed or each.has_ended]
    all_statuses = [*ended_jobs, *statuses]
    total = summed_up(
        [each.state for each in all_statuses],
        [each.result for each in all_statuses if each.state is JobState.SUCCEEDED],
    )
    return [*lines, total] if lines and total else lines


def watch_jobs(session: JobSession, print_line: Callable[[str], None], every: float = EVERY) -> int:
    """Poll until the registry is empty. One such watch a session; of another nothing is done.

    Ends with 3 where none of its jobs could be seen for a day: they stay registered.
    """
    prepare(session)
    if not any(read_jobs(session)):
        print_line(f"no job is registered in {session.file}: there is nothing to watch")
        return 0
    code = 0
    while True:
        try:
            lock = take_lock(session.watch_lock, 0.0, f"another watch of session {session.id}")
        except WrongUse:
            print_line(f"session {session.id} is watched already{session.log_note}")
            return code
        try:
            watch_code, blind = _watch(session, print_line, every)
            code = worst([code, watch_code])
        finally:
            os.close(lock)
        # one that was added at the last moment is watched on
        if blind or not read_jobs(session)[0]:
            return code


def _watch(
    session: JobSession, print_line: Callable[[str], None], every: float
) -> tuple[int, bool]:
    """The worst of what ended, and whether it gave up."""
    code, blind, last_fault = 0, 0, ""
    doubted_jobs: set[str] = set()
    ended_jobs: list[JobStatus] = []
    while True:
        statuses, fault, is_empty = _poll_jobs(session)
        problems = {
            f"{describe_entry(s.entry)}: {s.why}" for s in statuses if s.state is JobState.UNKNOWN
        }
        for message in sorted(problems - doubted_jobs):
            print_line(f"could not be queried: {message}")
        doubted_jobs = problems
        if fault and fault != last_fault:
            print_line(fault)
        last_fault = fault
        for line in news_of(statuses, ended_jobs):
            print_line(line)
        ended_jobs += [each for each in statuses if each.has_ended]
        code = worst([code, *(each.code for each in statuses if each.has_ended)])
        if is_empty:
            return code, False
        # Counted in polls, and not by a clock: a machine that slept for a weekend has polled
        # nothing meanwhile.
        blind = 0 if any(each.state is not JobState.UNKNOWN for each in statuses) else blind + 1
        if blind * every > BLIND:
            print_line(
                f"none of the jobs could be queried, {count(blind, 'time')} in a row: they stay "
                "registered"
            )
            return worst([code, 3]), True
        time.sleep(every)


def _poll_jobs(session: JobSession) -> tuple[list[JobStatus], str, bool]:
    """One poll, and whether nothing is left; whatever it meets, the next one is due: a watch that
    ended sees nothing.
    """
    try:
        statuses, fault = check_jobs(session)
    except (HerorunError, OSError) as error:
        return [], f"this query failed: {scrub(describe_error(error))}", False
    with contextlib.suppress(HerorunError):
        return statuses, fault, not read_jobs(session)[0]
    return statuses, fault, False
