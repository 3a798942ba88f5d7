"""One inspection of a job and its machine: the scheduler's answer, and the machine's, over one
short connection.

Its time is bounded, even if something hangs, and each part may be missing independently.
"""

import base64
import re
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

from herorun import signatures
from herorun.adopted_scheduler import jobs_by_id
from herorun.core.babysit.tick import MonitorHealth, Tick
from herorun.core.durations import format_span
from herorun.core.errors import HerorunError, WrongUse, describe_error
from herorun.core.evidence import Instance
from herorun.core.health.run_health import AT_THE_END, RunHealth
from herorun.core.journal import Memory
from herorun.core.patrol.log import own_log
from herorun.core.patrol.observation import (
    FolderCopy,
    HostObservation,
    Liveness,
    LogEnd,
    MachineUnread,
)
from herorun.core.patrol.parse import (
    alive_by,
    chain_of,
    copy_of,
    entry_of,
    gpus_of,
    memory_of,
    moment_of,
    newest_of,
    part_of,
    result_of,
    room_of,
    unreachable,
)
from herorun.core.patrol.state import is_success_alone
from herorun.core.ports import ById, scheduler_traits
from herorun.core.redaction.scrub import scrub
from herorun.core.remote.job_chain import waits_for_the_job
from herorun.core.remote.target import RemoteTarget, SshLogin
from herorun.job_kinds import must_be_id
from herorun.operations.health.evaluate import evaluate
from herorun.runs import Run
from herorun.system import _host_files
from herorun.system.clock import now
from herorun.system.remote_programs import PROBE_PROGRAM
from herorun.system.remote_python import readable, remote_to

HERE = RemoteTarget(SshLogin(), sys.executable, 1.0, 20.0)
SPARE = 8.0  # seconds in addition to the connection and the probe, for reading at both ends
LINES = 400  # of the scheduler's log
BOX = (
    "alive",
    "files",
    "count_copies",
    "machine",
    "matched_lines",
)  # parts that the machine answers


def probe_host(run: Run, condition_text: str = "") -> HostObservation:
    """Probe everything that the contract names, and the marker of a wait; once more if the run was
    relaunched meanwhile, because the answers are about the instance before.
    """
    memory = run.record.memory()
    observation = _probe(run, memory, condition_text)
    newest = run.record.memory()
    if newest.current is None or newest.current == memory.current:
        return observation
    return _probe(run, newest, condition_text)


def _probe(run: Run, memory: Memory, condition_text: str) -> HostObservation:
    reach, current = run.place.reach or HERE, memory.current
    questions = _questions(run, reach, current, condition_text)
    answers = _together(questions, reach.connect + reach.timeout + SPARE)
    name = current.name if current else run.slug
    with readable(remote_to(reach).transport.where):
        observation = _parse_probe(run, reach, name, answers, condition_text)
    return _with_health(run, memory, observation)


def _with_health(run: Run, memory: Memory, observation: HostObservation) -> HostObservation:
    """With what all evidence shows of a run of which only the scheduler says that it succeeded."""
    if observation.launched_at is None or not is_success_alone(observation):
        return observation
    if memory.sealed:
        return replace(observation, health=RunHealth.FINISHED)
    with suppress(HerorunError, OSError):
        return _by_tick(observation, evaluate(run, memory=memory)[0])
    return observation


def _by_tick(observation: HostObservation, result: Tick) -> HostObservation:
    """Finished only if all evidence was read; another end states what it lacks."""
    alerts = (a for a in result.alerts.values() if a.firing and a.check in AT_THE_END)
    why = scrub("; ".join(alert.message for alert in alerts)) or observation.why
    is_unread = result.monitor is not MonitorHealth.FRESH
    is_unproven = is_unread and result.run is RunHealth.FINISHED
    return replace(observation, health=RunHealth.UNKNOWN if is_unproven else result.run, why=why)


def _parse_probe(
    run: Run, reach: RemoteTarget, name: str, answers: Mapping[str, Any], condition_text: str
) -> HostObservation:
    box: dict[str, Any] = {part: answers[part] for part in BOX if part in answers}
    liveness, why, has_succeeded = alive_by(
        answers.get("job"), answers.get("alive"), answers.get("named")
    )
    files, machine = part_of(answers, "files"), answers.get("machine")
    instances, chain = run.record.memory().instances, run.contract.chain
    return HostObservation(
        at=now(),
        name=name,
        where=remote_to(reach).transport.where,
        alive=liveness,
        why="" if liveness is Liveness.YES else scrub(why),
        unreachable=unreachable(box, answers.get("job") or answers.get("named")),
        succeeded=has_succeeded,
        log=_read_log_by_end(run, answers),
        has_success_pattern=bool(run.contract.patrol.success_pattern),
        markers={path: moment_of(entry_of(files, "markers", path)) for path in markers(run)},
        awaited_marker=moment_of(entry_of(files, "markers", condition_text))
        if condition_text
        else None,
        results={
            path: result_of(entry_of(files, "results", path))
            for path in run.contract.patrol.results
        },
        copies=tuple(_copy(run, answers, path) for path in run.contract.patrol.copies),
        disks={path: room_of(entry_of(files, "disks", path)) for path in _disks(run)},
        output_age=newest_of(files),
        gpus=gpus_of(machine) if run.contract.patrol.gpu_sample_seconds else None,
        memory=memory_of(machine),
        load=machine.get("load") if isinstance(machine, dict) else None,
        cpus=machine.get("cpus") if isinstance(machine, dict) else None,
        cores_used=machine.get("cores") if isinstance(machine, dict) else None,
        cores_allowed=machine.get("allowed") if isinstance(machine, dict) else None,
        chain=chain_of(files, waits_for_the_job(chain)) if chain.stage else None,
        launched_at=instances[0].started if instances else None,
    )


def _questions(
    run: Run, reach: RemoteTarget, current: Instance | None, condition_text: str
) -> dict[str, Callable[[], Any]]:
    """The queries, by part. They run in parallel, those to the machine over one connection; each
    may time out alone.
    """
    keys, traits, remote = run.contract.patrol, scheduler_traits(run.scheduler), remote_to(reach)
    questions: dict[str, Callable[[], Any]] = {}

    def ask(part: str, **arguments: Any) -> None:
        questions[part] = lambda: remote.ask(PROBE_PROGRAM, part, reach.timeout, **arguments)

    is_on_box = bool(keys.session or keys.process)
    instance = current.name if current else ""
    if current:
        questions["job"] = lambda: run.scheduler.find(current.name, current.since)
    elif not (is_on_box or keys.job or condition_text):
        raise WrongUse(
            f"{run.slug} was not launched by herorun, and its contract names no [patrol] session, "
            "process or job: there is nothing to inspect."
        )
    if keys.job:
        questions["named"] = partial(_named_jobs(run, keys.job).find_job, keys.job)
    if traits.leaves_files:
        if is_on_box:
            ask("alive", **_job_names(run))
        ask("files", **_paths(run, condition_text))
    if keys.copies and traits.leaves_files:
        ask("count_copies", copies=list(keys.copies))
    if traits.on_the_machine:
        ask(
            "machine",
            gpu_seconds=keys.gpu_sample_seconds,
            process=keys.process or "",
            instance=instance,
        )
    if keys.log and traits.leaves_files:
        ask("matched_lines", log=keys.log, pattern=keys.success_pattern or "")
    elif instance:
        questions["tail"] = lambda: run.scheduler.tail(instance, LINES)
    for path, local in keys.copies.items():
        questions[f"copy {path}"] = partial(_host_files.count_files, source(run, local))
    return questions


def _named_jobs(run: Run, job: str) -> ById:
    """What reads the job that the contract names by its id; `WrongUse` for one of another form."""
    kind = run.contract.patrol.job_scheduler or run.contract.scheduler.kind
    try:
        must_be_id(kind, job)
    except WrongUse as error:
        raise WrongUse(f"[patrol] job: {error}") from None
    return jobs_by_id(run.contract.scheduler, run.place, kind)


def _job_names(run: Run) -> dict[str, str]:
    """The names by which the contract identifies a job that herorun did not start."""
    keys = run.contract.patrol
    return {
        "session": keys.session or "",
        "socket": keys.socket,
        "process": keys.process or "",
    }


def _paths(run: Run, condition_text: str) -> dict[str, Any]:
    """The files and folders whose state is queried."""
    chain = run.contract.chain
    return {
        "markers": [*markers(run), *([condition_text] if condition_text else [])],
        "results": list(run.contract.patrol.results),
        "disks": list(_disks(run)),
        "roots": list(_local_roots(run)),
        "chain": chain.folder or "" if chain.stage else "",
    }


def _together(questions: Mapping[str, Callable[[], Any]], seconds: float) -> dict[str, Any]:
    """Every answer, or `MachineUnread`. Threads that still hang are abandoned."""
    answers: dict[str, Any] = {}

    def answer(part: str, ask: Callable[[], Any]) -> None:
        try:
            result = ask()
        except FileNotFoundError:
            result = None
        except Exception as error:  # one part must not fail the others
            result = MachineUnread(scrub(describe_error(error)))
        answers[part] = result

    threads = [Thread(target=answer, args=each, daemon=True) for each in questions.items()]
    for thread in threads:
        thread.start()
    until = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    timed_out = MachineUnread(f"there was no answer within {format_span(seconds)}")
    return {part: answers.get(part, timed_out) for part in questions}


def _copy(run: Run, answers: Mapping[str, Any], path: str) -> FolderCopy:
    remote, local = (
        entry_of(part_of(answers, "count_copies"), "copies", path),
        answers.get(f"copy {path}"),
    )
    return copy_of(path, source(run, run.contract.patrol.copies[path]), remote, local)


def _read_log_by_end(run: Run, answers: Mapping[str, Any]) -> LogEnd | MachineUnread | None:
    """What the end of the log shows about progress, success and failure."""
    signature_set = signatures.of_contract(run.contract, Path(run.place.repository))
    keys = run.contract.patrol
    log_answer = answers.get("matched_lines", answers.get("tail"))
    if log_answer is None or isinstance(log_answer, MachineUnread):
        return log_answer
    if isinstance(log_answer, str):
        is_done = (
            bool(re.search(keys.success_pattern, log_answer)) if keys.success_pattern else None
        )
        own = own_log(
            signature_set,
            log_answer.encode("utf-8", "surrogateescape"),
            keys.progress,
            is_complete=True,
        )
        return replace(own, done=is_done)
    data = base64.b64decode(log_answer["tail"])
    own = own_log(signature_set, data, keys.progress, is_complete=len(data) == log_answer["size"])
    return replace(
        own,
        done=log_answer["done"],
        size=log_answer["size"],
        age=max(0.0, log_answer["now"] - log_answer["changed"]),
    )


# --- of the contract ------------------------------------------------------------------------------


def markers(run: Run) -> dict[str, None]:
    """Every marker that a success creates, in order, including those of the chain's stages."""
    chain = run.contract.chain
    return dict.fromkeys((*run.contract.patrol.markers, *map(chain.marker, chain.stage)))


def _local_roots(run: Run) -> list[str]:
    output = run.contract.output
    return [root for root in (output.root, output.temporary_root) if root and root.startswith("/")]


def _disks(run: Run) -> dict[str, None]:
    return dict.fromkeys((*_local_roots(run), *run.contract.patrol.disks))


def source(run: Run, folder: str) -> str:
    """A local folder that the contract names, relative to the repository's top."""
    return str(Path(run.place.repository, Path(folder).expanduser()))
