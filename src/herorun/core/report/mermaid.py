"""A curve as a few lines of Mermaid, which GitHub draws in a comment by itself.

Source of the syntax: https://mermaid.js.org/syntax/xyChart.html, whose numbers have no exponents.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import ceil, floor, isfinite, log10

from herorun.core.lazy_regex import lazy_regex

MAX_POINTS = 48  # points of a line: as many as one can tell apart at the width of a comment
# The first of Mermaid's own colours cannot be seen on white. These two can, on white and on black.
STYLE = (
    '%%{init: {"xyChart": {"width": 720, "height": 320}, '
    '"themeVariables": {"xyChart": {"plotColorPalette": "#2f81f7, #8b949e"}}}}%%'
)
_UNSAFE = lazy_regex(r"[^\w ./:%()+,-]")


def picture(
    title: str, unit: str, steps: Sequence[int], values: Sequence[float], most: int = MAX_POINTS
) -> str:
    """A fenced chart of the highest and the lowest value of each stretch of steps; empty where
    there is nothing to draw.

    What is not finite is left out, and the title says of how many steps.
    """
    points = sorted(
        (step, value) for step, value in zip(steps, values, strict=True) if isfinite(value)
    )
    if len(points) < 2 or points[0][0] == points[-1][0]:
        return ""
    not_finite = len(steps) - len(points)
    scale = _scale(max(abs(value) for _, value in points))
    points = [(step, value / 10.0**scale) for step, value in points]
    lows, highs = _stretch_bounds(points, min(most, len(points)))
    low, high = ([_format_number(value) for value in line] for line in (lows, highs))
    least, top = min(lows), max(highs)
    room = (top - least) * 0.05 or abs(top) * 0.05 or 1.0
    each = ceil((points[-1][0] - points[0][0]) / len(lows))
    label = title if low == high else f"{title}, highest and lowest of each {each:,} steps"
    label = _mermaid_label(f"{label}, {not_finite} not finite" if not_finite else label)
    by = _mermaid_label(f"{unit} (1e{scale})" if scale else unit)
    lines = [
        "```mermaid",
        STYLE,
        "xychart-beta",
        f'    title "{label}"',
        f'    x-axis "step" {points[0][0]} --> {points[-1][0]}',
        f'    y-axis "{by}" {_format_number(least - room)} --> {_format_number(top + room)}',
        f"    line [{', '.join(high)}]",
    ]
    if low != high:
        lines.append(f"    line [{', '.join(low)}]")
    return "\n".join([*lines, "```"])


def _stretch_bounds(
    points: Sequence[tuple[int, float]], count: int
) -> tuple[list[float], list[float]]:
    """The lowest and the highest of equal stretches of steps. A stretch without a row lies on the
    line between its neighbours.
    """
    first, last = points[0][0], points[-1][0]
    parts: list[list[float]] = [[] for _ in range(count)]
    for step, value in points:
        parts[min((step - first) * count // (last - first), count - 1)].append(value)
    return _fill_gaps([min(part) if part else None for part in parts]), _fill_gaps(
        [max(part) if part else None for part in parts]
    )


def _fill_gaps(values: Sequence[float | None]) -> list[float]:
    """The first and the last one are there: both hold a point."""
    points = [(at, value) for at, value in enumerate(values) if value is not None]
    filled_values = [points[0][1]]
    for (start, before), (end, after) in pairwise(points):
        filled_values += [
            before + (after - before) * (at - start) / (end - start)
            for at in range(start + 1, end + 1)
        ]
    return filled_values


def _scale(most: float) -> int:
    """The power of ten that numbers are shown in: 0 where they are readable as they are."""
    return 0 if most == 0 or 1e-2 <= most < 1e4 else max(floor(log10(most)), -300)


def _format_number(value: float) -> str:
    """Five digits, without an exponent; what is a millionth of the others is nothing."""
    from decimal import Decimal  # two milliseconds, and few commands draw

    return format(Decimal(f"{round(value, 6):.5g}").normalize(), "f")


def _mermaid_label(text: str) -> str:
    return _UNSAFE.sub(" ", text)[:80].strip()
