"""Whether a log ends with the last of the steps that its trainer announced."""

import re
from collections.abc import Iterable

from herorun.core.lazy_regex import lazy_regex

# `step 500/500`, `Epoch [20/20]`: a counter, and the number at which it ends.
_COUNTER = lazy_regex(
    rb"\b(?:(epoch)|(?:global_?)?step|iter(?:ation)?)s?\b\W{0,4}"
    rb"(\d{1,12}) ?(?:/|of) ?(\d{1,12})(?!\d)",
    re.IGNORECASE,
)
_EPOCH = lazy_regex(rb"\bepochs?\b\W{0,4}\d", re.IGNORECASE)
_PAIR = lazy_regex(rb"(?<![\d./-])(\d{1,12}) ?/ ?(\d{1,12})(?![\d/.])")
# Work that a last line only announces.
_BEGINS = lazy_regex(
    rb"\b(?:(?:sav|writ|upload|export|evaluat|validat|test|sampl|generat|merg|load|wait|start|runn"
    rb"|compil|prepar|beginn)ing|begins?)\b",
    re.IGNORECASE,
)
# A setting of the work that the line before announces: `  Num examples = 100`.
_SETTING = lazy_regex(rb"\s+[A-Za-z][\w ]{0,40} ?[=:] ?\S+\s*$")
# Before a counter: its steps are not those of the training.
_ASIDE = lazy_regex(
    rb"\b(?:eval|evaluation|val|valid|validation|test|dev|warm-?up|calibration)\b", re.IGNORECASE
)
# What is measured once a step is made; a heading without it comes before the step.
_MEASUREMENT = lazy_regex(
    rb"\w(?:loss|acc(?:uracy)?|ppl)?\b[\"'\]]?\s?[:=|]?\s{0,4}-?\d+\.\d", re.I
)


def last_step_line(parts: Iterable[tuple[int, bytes]]) -> int:
    """The number of the line with the last step; 0 if a step follows, or if the counter may be one
    of an epoch that others follow, or if the log ends with work that it only announces. `parts` are
    lines with their numbers.

    >>> last_step_line([(7, b"step 1/2 loss: 3.1"), (8, b"step 2/2 loss: 2.9")])
    8
    >>> last_step_line([(7, b"epoch 3"), (8, b"step 2/2 loss: 2.9")])
    0
    >>> last_step_line([(7, b"step 2/2 loss: 3"), (8, b"** Running test **"), (9, b"  Batch = 8")])
    0
    """
    line, newest, announces = 0, dict[bytes, int](), False
    for number, part in parts:
        if part.strip() and not (announces and _SETTING.match(part)):
            announces = _BEGINS.search(part) is not None
        counters = _COUNTER.findall(part)
        if len(_EPOCH.findall(part)) > sum(bool(epoch) for epoch, _, _ in counters):
            return 0  # an epoch whose total is not known
        for epoch, step, total in counters:
            if int(step) < newest.get(total, 0) and not epoch:
                return 0  # the counter began again
            newest[total] = int(step)
        if counters:
            line = number if _is_complete(part, counters) else 0
    return 0 if announces else line


def _is_complete(part: bytes, counters: list[tuple[bytes, bytes, bytes]]) -> bool:
    return (
        all(int(total) > 1 for _, _, total in counters)
        and all(step == total for _, step, total in counters)
        and all(step == total for step, total in _PAIR.findall(part))
        and not _ASIDE.search(_COUNTER.split(part, 1)[0])
        and _MEASUREMENT.search(part) is not None
    )
