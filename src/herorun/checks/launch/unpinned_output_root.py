"""An output root is not pinned to one permanent place.

Why: a template, a user's name or a temporary folder gives the next launch another place, so it
starts from scratch; or the checkpoints are cleaned up.
Fix: write the root in `[output]` as one literal path or URL of this run's own that contains no
person's name; a hero run may not write to a temporary folder or prefix.
"""

import re

from herorun.core.check import Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.evidence import History, Launcher
from herorun.core.finding import Verdict, failed, passed

TEMPLATES = (
    (r"\{[^{}]*\}", "a placeholder"),
    (r"\$[A-Za-z_{(]|`", "a variable or a command of the shell"),
    (r"%\([^)]*\)|<[^<>]+>|\*", "a placeholder"),
    (r"(?:^|/)~", "a user's home folder"),
    (r"%(?![0-9A-Fa-f]{2})[A-Za-z-]|YYYY", "a date format"),  # %20 and the like belong to URLs
    (r"(?:^|/)\.\.(?:/|$)", "a parent folder"),
)
TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm", "/private/tmp", "/private/var/tmp")


@check(Gate.LAUNCH, Response.BLOCK)
def unpinned_output_root(contract: Contract, history: History, launcher: Launcher) -> list[Verdict]:
    """One verdict for each root."""
    before = history.current
    answers = [
        _judge_pin(
            contract, launcher, contract.output.root, before.output_root if before else None, True
        )
    ]
    if contract.output.temporary_root:
        earlier = before.temporary_root if before else None
        answers.append(
            _judge_pin(contract, launcher, contract.output.temporary_root, earlier, False)
        )
    return answers


def _judge_pin(
    contract: Contract, launcher: Launcher, root: str, earlier: str | None, permanent: bool
) -> Verdict:
    login = launcher.owner.partition("@")[0]
    for pattern, what in TEMPLATES:
        if match := re.search(pattern, root):
            return failed(
                f"{root} contains {what}, {match[0]!r}: it is not one fixed place", subject=root
            )
    if earlier and _only_the_user_differs(root, earlier, login):
        message = (
            f"{root} differs from the prior instance's {earlier} only by the user name {login!r}"
        )
        return failed(message, subject=root)
    if contract.is_hero and login in _segments(root):
        return failed(f"{root} lies under the launching user's name, {login}", subject=root)
    if why := _temporary(root, launcher.temporary, permanent):
        message = f"{root} is temporary: {why}"
        if contract.is_hero:
            return failed(f"{message}; a hero run needs a place that lasts", subject=root)
        return passed(f"{message}; allowed, because it is an ordinary run", subject=root)
    return passed(f"{root} is one fixed place", subject=root)


def _only_the_user_differs(root: str, earlier: str, login: str) -> bool:
    new, old = _segments(root), _segments(earlier)
    differing = [mine for mine, theirs in zip(new, old, strict=False) if mine != theirs]
    return len(new) == len(old) and differing == [login]


def _temporary(root: str, of_this_machine: str, permanent: bool) -> str:
    """Why a root is temporary, or "". The temporary root itself may have a time limit of its
    store.
    """
    scheme, mark, tail = root.rpartition("://")
    if mark and scheme != "file":
        bucket, *folders = _segments(tail)
        parts = [part for part in folders if part in ("tmp", "temp") or part.startswith("ttl=")]
        parts += [bucket] if {"tmp", "temp"} & set(re.split(r"[-_.]", bucket)) else []
        return f"{parts[0]!r} is a part of its path" if permanent and parts else ""
    path = "/" + "/".join(_segments(tail))
    folders = [*TEMPORARY, *([of_this_machine] if of_this_machine else [])]
    return next(
        (f"it lies in {folder}" for folder in folders if f"{path}/".startswith(f"{folder}/")), ""
    )


def _segments(root: str) -> list[str]:
    return [part for part in root.rpartition("://")[2].split("/") if part] or [""]
