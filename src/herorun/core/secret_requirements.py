"""Whether the secrets that the contract names are set: evaluated at launch and at each tick."""

from collections.abc import Iterable, Set

from herorun.core.finding import Verdict, failed, not_applicable, passed


def judge_secrets(required_names: Iterable[str], present: Set[str], source: str) -> list[Verdict]:
    """One verdict for each name; an empty value counts as missing."""
    names = tuple(dict.fromkeys(required_names))
    if not names:
        return [not_applicable("the contract names no secrets")]
    return [
        passed(f"{name} is set in {source}", subject=name)
        if name in present
        else failed(f"{name} is not set in {source}, or is empty", subject=name)
        for name in names
    ]
