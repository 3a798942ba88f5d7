"""Reads a job's log: progress, and the job id that a submission command printed. Pure."""

import re

from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex
from herorun.core.triage.lines import without_escapes
from herorun.core.triage.tracker_lines import MAX_LINE

# A count of a whole, as progress bars and trainers print it; `4.60kit/5.16kit` is rounded, and is
# no exact number.
_STEP = lazy_regex(
    r"\b(?:global[_ ]?step|train[_ "
    r"]?step|step|iteration|iter)s?\b\s{0,20}[:=]?\s{0,20}\[?\s{0,20}(\d(?:[\d,]{0,19}\d)?)(?![\d.]*\s{0,9}(?:s|ms|it|k|M)\b|,?\d)"
    r"(?:\s{0,20}(?:/|of)\s{0,20}(\d(?:[\d,]{0,19}\d)?)(?![\d.]*[kMG]|,?\d))?",
    re.IGNORECASE,
)
_BAR = lazy_regex(r"\|\s*(\d{1,15})/(\d{1,15})\s*\[|\b(\d{1,15})it/(\d{1,15})it\b")
_ROUNDED_RATE = lazy_regex(
    r"\b(\d{1,9}(?:\.\d{1,9})?)([kM])it/\d+(?:\.\d+)?[kM]?it\b|\|\s*(\d{1,9}(?:\.\d{1,9})?)([kM])/\d"
)
_OTHER = lazy_regex(
    r"\beval|\bvalid|\bdownload|\bloading\b|\bshards?\b|\bimport|\btokeniz|\bwarm-?up\b", re.I
)
# Of a trainer that has not trained yet, that saves, or that prints its settings.
_NOT_TRAINING = lazy_regex(
    r"\bload|\brestor|\bresum|\brecover|\bsav(?:e|ed|es|ing)\b|checkpoint|\bcontinu|\bstart|\bbegin|\bfrom\b|\bcompil|\btracing\b"
    r"|\bwill\b|\btotal\b|\bmax(?:imum)?\b|\bnum\b|\bevery\b|\buntil\b|\bskip|\bsteps\s{0,9}[:=]",
    re.I,
)
_MEASUREMENT = lazy_regex(
    r"loss|\blr\b|learning[ "
    r"_]rate|grad|perplexity|\bppl\b|\btok|\bmfu\b|it/s|s/it|\btime\b|elapsed|\bconsumed\b",
    re.I,
)
_BARE_STEP = lazy_regex(
    r"(?:[^A-Za-z]|(?<=\d)[TZ]|\b[A-Z]+\b|\b(?i:train(?:ing|er)?|global|finished|completed|done|rank\d*|epoch)\b)*"
)
_TIMES = {"k": 1_000, "M": 1_000_000}


@dataclass(frozen=True)
class LogProgress:
    """Completed steps, and the exact number of all; None where only a rounded one, or none, was
    printed.
    """

    step: int
    most: int | None = None

    def __str__(self) -> str:
        return f"~{self.step}/{'unknown' if self.most is None else self.most}"


def progress_in(text: str) -> LogProgress | None:
    """The newest that is reported; an evaluation's or a download's own count is none.

    >>> print(progress_in("train: 89%|####| 4600/5155 [1:02<"))
    ~4600/5155
    >>> print(progress_in("Progress on:train 4.60kit/5.16kit rate:1.2it/s"))
    ~4600/unknown
    """
    for raw_line in reversed(text.replace("\r", "\n").splitlines()):
        line = without_escapes(raw_line[:MAX_LINE])
        if not _OTHER.search(line) and (progress := _of_line(line)):
            return progress
    return None


def ends_with_step(text: str) -> bool:
    """Whether its last line tells a step: then the step is as old as the log's last change.

    >>> ends_with_step("step 7/20\\n"), ends_with_step("step 7/20\\nNCCL WARN: a slow link\\n")
    (True, False)
    """
    lines = [line for line in text.replace("\r", "\n").splitlines() if line.strip()]
    return bool(lines) and progress_in(lines[-1]) is not None


def trained_in(text: str) -> LogProgress | None:
    """The newest step that a line tells as finished: a bar, a step of all, one with what was
    measured, or a bare one.

    >>> trained_in("Resuming training from step 1500")
    >>> print(trained_in("step 1501 loss 2.5\\nSaving checkpoint at step 1600"))
    ~1501/unknown
    """
    for raw_line in reversed(text.replace("\r", "\n").splitlines()):
        line = without_escapes(raw_line[:MAX_LINE])
        if _OTHER.search(line) or _NOT_TRAINING.search(line):
            continue
        progress = _of_line(line)
        if progress and (progress.most is not None or _MEASUREMENT.search(line) or _is_bare(line)):
            return progress
    return None


def _is_bare(line: str) -> bool:
    """Whether it says nothing but a step, after a time, a level or the like. A rounded bar is
    one.
    """
    remainder = _STEP.sub("", line, count=1) if _STEP.search(line) else ""
    return len(remainder) <= 200 and _BARE_STEP.fullmatch(remainder) is not None


def _of_line(line: str) -> LogProgress | None:
    if bar := _BAR.search(line):
        step, most = [number for number in bar.groups() if number is not None]
        return LogProgress(int(step), int(most))
    if rounded_match := _ROUNDED_RATE.search(line):
        number, unit = [part for part in rounded_match.groups() if part is not None]
        return LogProgress(int(float(number) * _TIMES[unit]))
    match = _STEP.search(line)
    if not match:
        return None
    return LogProgress(_parse_count(match[1]), _parse_count(match[2]) if match[2] else None)


def _parse_count(digits: str) -> int:
    return int(digits.replace(",", ""))


def submitted_in(pattern: re.Pattern[str], text: str) -> str:
    """The id of the job that a resubmit command says it has submitted, the newest; empty where it
    says none. `pattern` is how its scheduler names it, see `JobKind`.

    >>> submitted_in(re.compile(r"Submitted batch job (\\d+)"), "Submitted batch job 4712")
    '4712'
    """
    matches = pattern.findall(text)
    last = matches[-1] if matches else ""
    return last if isinstance(last, str) else next((part for part in last if part), "")
