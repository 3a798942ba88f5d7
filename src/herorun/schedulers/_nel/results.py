"""The scores of a nel task, from the results file that it leaves. Pure.

Source: `artifacts/results.yml` of nemo-evaluator-launcher 0.2.6.
"""

from collections.abc import Mapping, Sequence
from typing import Any

RESULTS = "artifacts/results.yml"
MAX_RESULT_BYTES = 1 << 20  # how many of its bytes are read


def scores(text: str) -> list[str]:
    """Empty if the text is no results file, or is cut off."""
    try:
        import yaml

        return scores_in(yaml.safe_load(text))
    except (ImportError, ValueError, RecursionError):
        return []
    except yaml.YAMLError:
        return []


def scores_in(document: Any) -> list[str]:
    """`ifeval: 42.3%` of each task's first score; nothing of another shape.

    >>> metrics = {"acc": {"scores": {"acc": {"value": 0.671}}}}
    >>> scores_in({"results": {"tasks": {"gsm8k": {"metrics": metrics}}}})
    ['gsm8k: 67.1%']
    """
    results = document.get("results") if isinstance(document, Mapping) else None
    tasks = (
        (results.get("tasks") or results.get("groups")) if isinstance(results, Mapping) else None
    )
    if not isinstance(tasks, Mapping):
        return []
    values = ((name, _first_value(task)) for name, task in tasks.items())
    return [f"{name}: {_percent(value)}" for name, value in values if value is not None]


def _first_value(result: Any) -> float | None:
    if isinstance(result, Mapping):
        value = result.get("value")
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        return next(
            (v for each in _child_results(result) if (v := _first_value(each)) is not None), None
        )
    return None


def _child_results(result: Mapping[str, Any]) -> Sequence[Any]:
    return [result[name] for name in sorted(result) if name != "stats"]


def _percent(value: float) -> str:
    return f"{100 * value:.1f}%" if 0 <= value <= 1 else f"{value:g}"
