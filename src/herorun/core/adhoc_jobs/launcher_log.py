"""Reads a launcher's output file: its key events and its status. Pure.

Source: the launcher rows of the job monitor that herorun was asked to cover, and the status table
of NeMo-Run's experiments (`Experiment Status for <id>`, then `- Status:` and `- Job id:` of each
task).
"""

import re
from dataclasses import field, replace

from herorun.core.adhoc_jobs.log_parser import LONGEST
from herorun.core.evidence import JobState
from herorun.core.lazy_dataclass import dataclass
from herorun.core.triage.lines import without_escapes

_EXPERIMENT = re.compile(
    r"Experiment Status for ([\w.-]+)|Experiment "
    r"(?:id|ID)\s*[:=]?\s*([\w.-]+)|Experiment\.from_id\(\"([\w.-]+)\"\)|Launching experiment "
    r"([\w.-]+)|Experiment ([a-z][\w-]*_\d{9,})"
)
_SLURM = re.compile(
    r"Submitted batch job (\d+)|Job [Ii]d:?\s*(\d+)\b|SLURM[_ ]JOB[_ "
    r"]ID\s*[:=]\s*(\d+)|slurm_tunnel://\S*/(\d+)",
    re.I,
)
_IMPORT = re.compile(
    r"pyxis: (?:imported|importing) docker "
    r"image\S*|(?:enroot|container)\b.{0,40}\bimport(?:ed|ing)?\b|importing (?:docker "
    r"image|container)[^\n]{0,80}",
    re.IGNORECASE,
)
_CALIBRATION = re.compile(
    r"calibrat\w{0,9}\b[^\n]{0,200}?(\d+)\s{0,9}/\s{0,9}(\d+)|calibrat\w{0,9}\b[^\n]{0,200}?(\d+)\s{0,9}%",
    re.I,
)
_CALIBRATED = re.compile(
    r"calibration (?:is )?(?:complete|done|finished)|finished calibration", re.I
)
_EXPORT = re.compile(
    r"\bexport(?:ed|ing)?\b[^\n]{0,200}?(?:\bto\b|path\s*[:=]|[:=])\s*['\"]?((?:[a-z0-9]+:/)?/[^\s'\"]+)",
    re.I,
)
_STATUS = re.compile(
    r"(?:^|\s)-?\s*(?:Status|Job status|Final status)\s*:\s*([A-Z_]{4,})", re.MULTILINE
)
_FAILED = re.compile(
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


@dataclass(frozen=True)
class LauncherOutput:
    """All that was told so far. `events` are sentences, in order and each once."""

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
        """Of several tasks the one that decides: one that lives, else one that did not succeed."""
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
        known = [word for word in self.statuses if word in order]
        return min(known, key=order.index) if known and len(known) == len(self.statuses) else ""

    @property
    def state(self) -> JobState:
        """By its status alone; a complaint in the output is no end while it may still run."""
        return WORDS.get(self.word, JobState.UNKNOWN)


def read_output(text: str) -> LauncherOutput:
    """From the whole file, or its end."""
    told = LauncherOutput()
    for line in text.splitlines():
        told = _read_launcher_line(told, without_escapes(line[:LONGEST]))
    return told


def _read_launcher_line(told: LauncherOutput, line: str) -> LauncherOutput:
    if match := _EXPERIMENT.search(line):
        name = next(part for part in match.groups() if part)
        told = (
            replace(told, statuses=())
            if line.lstrip().startswith("Experiment Status for")
            else told
        )
        told = _add_event(
            replace(told, experiment=name), f"experiment {name}", told.experiment != name
        )
    if match := _SLURM.search(line):
        number = next(part for part in match.groups() if part)
        new = number not in told.slurm
        told = replace(told, slurm=(*told.slurm, number) if new else told.slurm)
        told = _add_event(told, f"Slurm job {number}", new)
    if match := _IMPORT.search(line):
        told = _add_event(
            replace(told, container=match[0]), "the container is imported", not told.container
        )
    if _CALIBRATED.search(line):
        told = _add_event(
            replace(told, calibration="complete"),
            "calibration complete",
            told.calibration != "complete",
        )
    elif match := _CALIBRATION.search(line):
        share = f"{match[1]}/{match[2]}" if match[1] else f"{match[3]} %"
        told = _add_event(
            replace(told, calibration=share), "calibration began", not told.calibration
        )
    if match := _EXPORT.search(line):
        path = match[1].rstrip(".,;)")
        told = _add_event(
            replace(told, export=path), f"the checkpoint is exported to {path}", told.export != path
        )
    if match := _STATUS.search(line):
        told = replace(told, statuses=(*told.statuses, match[1]))
    if not told.failed and _FAILED.search(line):
        told = replace(told, failed=line.strip()[:200])
    return told


def _add_event(output: LauncherOutput, words: str, new: bool) -> LauncherOutput:
    return replace(output, events=(*output.events, words)) if new else output
