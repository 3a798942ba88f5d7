"""Tests everything that a run depends on, without changes: each part works, is broken, or is
unknown.
"""

from collections.abc import Sequence
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from time import monotonic

from herorun.core.doctor_report import DoctorPart, Fit, Probe
from herorun.core.durations import format_span
from herorun.core.errors import UNFORESEEN, CouldNotLook, HerorunError, WrongUse, describe_error
from herorun.core.redaction.scrub import scrub
from herorun.operations.doctor import backends, machine
from herorun.runs import Run, known_slugs, open_run
from herorun.system import progress
from herorun.system.git import Repository, find_repository

PERMISSION_FIX = "Give this account access, or name another place in the contract."
DEADLINE = 45.0  # seconds for all parts together


def examine(name: str | None, start: Path, send_test: bool = False) -> list[DoctorPart]:
    """Test the machine, and the dependencies of the named run, or of all runs with a contract here.

    With `send_test` each channel gets one test message, even if several runs name it; otherwise
    nothing is sent.
    """
    try:
        repository: Repository | None = find_repository(start)
        parts: list[DoctorPart] = []
    except HerorunError as error:
        repository, parts = None, [_part_of_error("git", "repository", error)]
    runs, unreadable = _open_runs(repository, name, start) if repository else ([], [])
    probes: list[tuple[str, str, Probe]] = [
        *machine.probes(start, repository),
        *(probe for run in runs for probe in backends.probes(run, send_test)),
    ]
    return [*parts, *unreadable, *_ask(probes)]


def _open_runs(
    repository: Repository, name: str | None, start: Path
) -> tuple[list[Run], list[DoctorPart]]:
    if name is not None:
        return [open_run(name, start)], []
    runs, parts = [], []
    for slug in known_slugs(repository):
        try:
            runs.append(open_run(slug, start))
        except WrongUse as error:
            if (repository.top / "runs" / f"{slug}.toml").exists():
                parts.append(_part_of_error("contract", slug, error))
        except (HerorunError, OSError) as error:
            parts.append(_part_of_error("contract", slug, error))
    return runs, parts


def _ask(probes: Sequence[tuple[str, str, Probe]]) -> list[DoctorPart]:
    """Run all probes in parallel; a late one is unknown. A back end that several runs share is
    probed once, by its name.
    """
    answers: Queue[tuple[int, list[DoctorPart]]] = Queue()
    by_name = {(group, name): probe for group, name, probe in reversed(probes)}
    order = list(dict.fromkeys((group, name) for group, name, _ in probes))
    for number, key in enumerate(order):
        Thread(target=_answer, args=(number, key, by_name[key], answers), daemon=True).start()
    parts_by_number: dict[int, list[DoctorPart]] = {}
    until = monotonic() + DEADLINE
    while len(parts_by_number) < len(order) and monotonic() < until:
        progress.progress("looking around", len(parts_by_number), len(order))
        try:
            number, parts = answers.get(timeout=0.5)
            parts_by_number[number] = parts
        except Empty:
            continue
    progress.progress("looking around", 1, 1)
    timed_out = f"there was no answer within {format_span(DEADLINE)}"
    return [
        part
        for number, (group, name) in enumerate(order)
        for part in parts_by_number.get(number, [DoctorPart(group, name, Fit.UNKNOWN, timed_out)])
    ]


def _answer(
    number: int, key: tuple[str, str], probe: Probe, answers: "Queue[tuple[int, list[DoctorPart]]]"
) -> None:
    parts: list[DoctorPart] = []
    try:
        parts.extend(part for part in probe())
    # if one part fails, the others are reported, and so are its own earlier results
    except UNFORESEEN as error:
        parts.append(_part_of_error(*key, error))
    answers.put((number, parts))


def _part_of_error(group: str, name: str, error: BaseException) -> DoctorPart:
    """A definite refusal is broken; no answer is unknown."""
    no_answer = isinstance(error, (CouldNotLook, TimeoutError)) or not isinstance(
        error, (HerorunError, PermissionError)
    )
    fix = PERMISSION_FIX if isinstance(error, PermissionError) else ""
    fit = Fit.UNKNOWN if no_answer else Fit.FAILED
    return DoctorPart(group, name, fit, scrub(describe_error(error)), fix)
