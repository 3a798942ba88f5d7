"""Reads a launcher's output file: its key events and its status. Pure.

Source: the launcher rows of the job monitor that herorun was asked to cover, and the status table
of NeMo-Run's experiments (`Experiment Status for <id>`, then `- Status:` and `- Job id:` of each
task).
"""

import re
from dataclasses import field, replace

from herorun.core.evidence import JobState
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex
from herorun.core.triage.lines import without_escapes
from herorun.core.triage.tracker_lines import MAX_LINE

_EXPERIMENT = lazy_regex(
    r"Experiment Status for ([\w.-]+)|Experiment "
    r"(?:id|ID)\s*[:=]?\s*([\w.-]+)|Experiment\.from_id\(\"([\w.-]+)\"\)|Launching experiment "
    r"([\w.-]+)|Experiment ([a-z][\w-]*_\d{9,})"
)
_SLURM = lazy_regex(
    r"Submitted batch job (\d+)|Job [Ii]d:?\s*(\d+)\b|SLURM[_ ]JOB[_ "
    r"]ID\s*[:=]\s*(\d+)|slurm_tunnel://\S*/(\d+)",
    re.I,
)
_IMPORT = lazy_regex(
    r"pyxis: (?:imported|importing) docker "
    r"image\S*|(?:enroot|container)\b.{0,40}\bimport(?:ed|ing)?\b|importing (?:docker "
    r"image|container)[^\n]{0,80}",
    re.IGNORECASE,
)
_CALIBRATION = lazy_regex(
    r"calibrat\w{0,9}\b[^\n]{0,200}?(\d+)\s{0,9}/\s{0,9}(\d+)|calibrat\w{0,9}\b[^\n]{0,200}?(\d+)\s{0,9}%",
    re.I,
)
_CALIBRATION_END = lazy_regex(
    r"calibration (?:is )?(?:complete|done|finished)|finished calibration", re.I
)
_EXPORT = lazy_regex(
    r"\bexport(?:ed|ing)?\b[^\n]{0,200}?(?:\bto\b|path\s*[:=]|[:=])\s*['\"]?((?:[a-z0-9]+:/)?/[^\s'\"]+)",
    re.I,
)
_STATUS = lazy_regex(
    r"(?:^|\s)-?\s*(?:Status|Job status|Final status)\s*:\s*([A-Z_]{4,})", re.MULTILINE
)
_FAILURE = lazy_regex(
    r"^Traceback \(most recent call last\)|^\s*[\w.]*Error\b:|\bFAILED\b", re.MULTILINE
)
WORDS = {  # the launcher's own
    "PENDING": JobState.PENDING,
    "SUBMITTED": JobState.PENDING,
    "UNSUBMITTED": JobState.PENDING,
    "RUNNING": JobState.RUNNING,
    "SUCCEEDED": JobState.SUCCEEDED,
    "COMPLETED": JobState.SUCCEEDED,
    "FAILED": JobState.FAILED,
    "CANCELLED": JobState.CANCELLED,
}


@dataclass(frozen=True, kw_only=True)
class LauncherOutput:
    """All that was reported so far. `events` are sentences, in order and each once."""

    experiment: str = ""
    slurm: tuple[str, ...] = ()
    container: str = ""
    calibration: str = ""
    export: str = ""
    statuses: tuple[str, ...] = ()  # of the newest table, one a task
    failed: str = ""  # the first line that says so
    events: tuple[str, ...] = field(default=())

    @property
    def word(self) -> str:
        """The state of the deciding task: one that lives, otherwise one that did not succeed."""
        order = (
            "RUNNING",
            "PENDING",
            "SUBMITTED",
            "UNSUBMITTED",
            "FAILED",
            "CANCELLED",
            "SUCCEEDED",
            "COMPLETED",
        )
        ranked_words = [word for word in self.statuses if word in order]
        return (
            min(ranked_words, key=order.index)
            if ranked_words and len(ranked_words) == len(self.statuses)
            else ""
        )

    @property
    def state(self) -> JobState:
        """By its status alone; a complaint in the output is no end while it may still run."""
        return WORDS.get(self.word, JobState.UNKNOWN)


def read_output(text: str) -> LauncherOutput:
    """From the whole file, or its end."""
    output = LauncherOutput()
    for line in text.splitlines():
        output = _read_launcher_line(output, without_escapes(line[:MAX_LINE]))
    return output


def _read_launcher_line(output: LauncherOutput, line: str) -> LauncherOutput:
    readers = (_read_experiment, _read_slurm_job, _read_import, _read_calibration, _read_export)
    for reader in readers:
        output = reader(output, line)
    if match := _STATUS.search(line):
        output = replace(output, statuses=(*output.statuses, match[1]))
    if not output.failed and _FAILURE.search(line):
        output = replace(output, failed=line.strip()[:200])
    return output


def _read_experiment(output: LauncherOutput, line: str) -> LauncherOutput:
    """A new table of an experiment's status replaces the one before."""
    match = _EXPERIMENT.search(line)
    if not match:
        return output
    name = next(part for part in match.groups() if part)
    if line.lstrip().startswith("Experiment Status for"):
        output = replace(output, statuses=())
    is_new = output.experiment != name
    return _add_event(replace(output, experiment=name), f"experiment {name}", is_new)


def _read_slurm_job(output: LauncherOutput, line: str) -> LauncherOutput:
    match = _SLURM.search(line)
    if not match:
        return output
    number = next(part for part in match.groups() if part)
    is_new = number not in output.slurm
    output = replace(output, slurm=(*output.slurm, number) if is_new else output.slurm)
    return _add_event(output, f"Slurm job {number}", is_new)


def _read_import(output: LauncherOutput, line: str) -> LauncherOutput:
    match = _IMPORT.search(line)
    if not match:
        return output
    is_new = not output.container
    return _add_event(replace(output, container=match[0]), "the container is imported", is_new)


def _read_calibration(output: LauncherOutput, line: str) -> LauncherOutput:
    """How far it is, as `3/16` or `40 %`, until a line says that it is complete."""
    if _CALIBRATION_END.search(line):
        is_new = output.calibration != "complete"
        return _add_event(replace(output, calibration="complete"), "calibration complete", is_new)
    match = _CALIBRATION.search(line)
    if not match:
        return output
    share = f"{match[1]}/{match[2]}" if match[1] else f"{match[3]} %"
    is_new = not output.calibration
    return _add_event(replace(output, calibration=share), "calibration began", is_new)


def _read_export(output: LauncherOutput, line: str) -> LauncherOutput:
    match = _EXPORT.search(line)
    if not match:
        return output
    path = match[1].rstrip(".,;)")
    is_new = output.export != path
    return _add_event(replace(output, export=path), f"the checkpoint is exported to {path}", is_new)


def _add_event(output: LauncherOutput, message: str, new: bool) -> LauncherOutput:
    return replace(output, events=(*output.events, message)) if new else output
