"""Whether the training continued after an apparent end: a caught exception, a node that came
back.
"""

import re
from dataclasses import replace
from functools import cache

from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex
from herorun.core.triage.classes import FailureClass, LineRole, RootStrength
from herorun.core.triage.declared_end import last_step_line
from herorun.core.triage.match import Match
from herorun.core.triage.prefilter import LinePrefilter

# steps that were each higher than all before; ranks that merely outlive a dead one do not come so
# far
ENOUGH = 20
EPOCHS = 3  # that begin, each after the one before: each takes many steps
_EPOCH = lazy_regex(rb"\bepoch\b\\?[\"']?[\s:=#\[]{1,4}(\d{1,6})(?!\d)", re.IGNORECASE)
_STEP = lazy_regex(
    rb"\b(?:global_?step|step|iter(?:ation)?|num_updates|epoch)\b\\?[\"']?[\s:=#\[]{1,4}(\d{1,12})(?!\d)|\b(\d{1,12})/\d{1,12} \[",  # noqa: E501  # one pattern
    re.IGNORECASE,
)
# each match holds one
_WORDS = ("step", "iter", "num_updates", "epoch", *(f"{digit} [" for digit in range(10)))
# What a trainer measures. A config may set a weight or a target of that name: a step must be in the
# same line, or another value in a later one.
_MEASUREMENT = lazy_regex(
    rb"\b(?!(?:z|max|min|target|best|\w{0,20}aux)_|grad\w{0,10}_acc)"
    rb"(\w{0,40}(?:loss|accuracy|acc|perplexity|ppl|grad_norm|tokens_per_second)|(?-i:mAP))\b"
    rb"[\"'\]]?\s{0,4}[:=]\s{0,4}\[?(-?\d{1,12}\.?\d{0,12})",
    re.IGNORECASE,
)
# A heading of an epoch in which no step was made yet.
_FIRST_EPOCH = lazy_regex(rb"\bepoch\W{1,4}[01](?: ?/ ?\d{1,6})?\W{0,8}$", re.IGNORECASE)
# A bar that did not move, or that counts what comes before the training.
_NO_STEP = lazy_regex(
    rb"\b0/\d{1,12} \[|\b(?:load|download|fetch|map|token|generat|filter|convert|pack|process|cach"
    rb"|resolv|extract|sanity|captur|compil|quantiz)\w{0,12}\b[^\[]{0,200}\d/\d{1,12} \[",
    re.IGNORECASE,
)
END_BYTES = 8_192  # of a log, in which steps show that it trains to its end
_MAX_LINE_BYTES = 4_096  # bytes of a line
_COLOUR = lazy_regex(rb"\x1b\[[0-9;]{0,40}m")  # its last letter hides where a word begins


@dataclass(frozen=True)
class ProgressWatch:
    """Begun by a root, until enough steps were made."""

    on: bool = False
    step: int = -1
    advances: int = 0
    epoch: int = -1
    epochs: int = 0  # that were seen to begin

    @property
    def is_enough(self) -> bool:
        return self.advances >= ENOUGH or self.epochs >= EPOCHS

    def after(self, line: bytes) -> "ProgressWatch":
        """An epoch begins where its number rises by one; a summary names others at random."""
        line = _COLOUR.sub(b"", line[:_MAX_LINE_BYTES])
        epoch = max((int(each) for each in _EPOCH.findall(line)), default=self.epoch)
        is_new_epoch = self.epoch >= 0 and epoch == self.epoch + 1
        watch = replace(self, epoch=epoch, epochs=self.epochs + is_new_epoch)
        return watch._after_steps(line)

    def _after_steps(self, line: bytes) -> "ProgressWatch":
        steps = [int(one or other) for one, other in _STEP.findall(line)]
        if not steps or max(steps) <= self.step:
            return self
        return replace(self, on=True, step=max(steps), advances=self.advances + 1)


NOT_YET = ProgressWatch()


def step_of(line: bytes) -> int | None:
    """The step in a line of a log; None if it has none."""
    plain = _COLOUR.sub(b"", line[:_MAX_LINE_BYTES])
    return max((int(one or other) for one, other in _STEP.findall(plain)), default=None)


@cache
def _prefilter() -> LinePrefilter:
    return LinePrefilter(_WORDS)


def step_lines(block: bytes) -> list[int]:
    """Where the lines begin that may name a step."""
    return _prefilter().starts(block)


def can_survive(match: Match) -> bool:
    """A number that is no number, a preemption or a full disk is no less true because a step was
    still made.
    """
    return (
        match.role is LineRole.ROOT
        and match.strength <= RootStrength.BUG
        and match.failure is not FailureClass.NUMERIC
    )


def progress_match(number: int) -> Match:
    return Match(
        signature="progress",
        failure=FailureClass.NOT_A_FAILURE,
        role=LineRole.PROGRESS,
        strength=RootStrength.FAINT,
        line=number,
        excerpt="",
        fingerprint="",
    )


def signs_of_training(end: bytes, last_line: int) -> list[Match]:
    """What the end of a log shows, whose last line, complete or not, has that number: its newest
    step or measurement, and the line after which it made as many steps as outlive a failure.
    """
    lines = end.split(b"\n")
    advances, newest, step = [], 0, -1
    parts: list[tuple[int, bytes]] = []
    values: dict[bytes, bytes] = {}
    for number, line in enumerate(lines, last_line + 1 - len(lines)):
        for part in line.split(b"\r"):
            parts.append((number, part[:_MAX_LINE_BYTES]))
            new_step = None if _NO_STEP.search(part[:_MAX_LINE_BYTES]) else step_of(part)
            if new_step is not None and new_step > step:
                step = new_step
                advances.append(number)
            if _trains(part[:_MAX_LINE_BYTES], new_step, values):
                newest = number
    matches = [_sign("trains", newest)] if newest else []
    matches += [_sign("outlived", number) for number in advances[:-ENOUGH][-1:]]
    last = last_step_line(parts)
    return [*matches, _sign("last-step", last)] if last else matches


def _trains(part: bytes, step: int | None, values: dict[bytes, bytes]) -> bool:
    """Whether this part of a line shows that a step was made, the earlier values known."""
    measurements = _MEASUREMENT.findall(part)
    changes = [value for name, value in measurements if values.setdefault(name, value) != value]
    if step is None:
        return bool(changes)
    return bool(measurements) or (step > 0 and (step > 1 or not _FIRST_EPOCH.search(part)))


def _sign(signature: str, number: int) -> Match:
    return replace(progress_match(number), signature=signature, role=LineRole.SUCCESS)
