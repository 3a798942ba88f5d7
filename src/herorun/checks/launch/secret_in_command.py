"""The command, its environment or the config contains something that looks like a secret.

Why: the plan is recorded, posted and kept, so everyone who reads the record could read the secret.
Fix: remove it, revoke it if it was committed, and name its variable in `[command] secrets`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from herorun.core.check import AtRelaunch, Gate, Response, check
from herorun.core.finding import Verdict, failed, passed
from herorun.core.lazy_regex import lazy_regex
from herorun.core.plan import Plan
from herorun.core.redaction.scan import harmless, secrets_in
from herorun.core.redaction.scrub import MASK, scrub, scrub_argv, scrub_tree

# Where Kubernetes has a secret: the name of a Secret, which has no capitals, and one of its keys.
_REFERENCE = lazy_regex(r"[a-z0-9][a-z0-9.-]*/(?P<key>[A-Za-z0-9._-]+)")
# A value where the name of its key belongs: such as W&B's 40 hex digits, a UUID, or letters of both
# cases between digits.
_VALUE = lazy_regex(
    r"(?:local-)?[0-9a-fA-F]{32,}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
    r"|(?=.*[0-9])(?=.*[a-z])(?=.*[A-Z])(?=(?:[^0-9]*[0-9]){2})[A-Za-z0-9_-]{20,}"
)


@check(Gate.LAUNCH, Response.BLOCK, at_relaunch=AtRelaunch.WARN, always=True)
def secret_in_command(plan: Plan) -> list[Verdict]:
    """One verdict for each place. No verdict quotes the value."""
    places = [
        *_in_argv("argv", plan.argv.value),
        *_in_argv("resume_argv", plan.resume_argv.value),
        *_in_tree("env", plan.env.value),
        *_in_scheduler(plan.scheduler.value),
        *_in_tree("tracker", plan.tracker.value.options),
        *_in_tree("config", plan.config.value),
    ]
    if not places:
        return [
            passed("nothing in the command, its environment and the config looks like a secret")
        ]
    return [failed(_message(where), subject=where) for where in map(scrub, places)]


def _message(where: str) -> str:
    if where.startswith("scheduler.secrets."):
        return f"{where} looks like a secret itself; only its place belongs there, such as NAME/KEY"
    return f"{where} looks like a secret"


def _in_argv(word: str, argv: tuple[str, ...]) -> Iterator[str]:
    for number, (part, masked_text) in enumerate(zip(argv, scrub_argv(argv), strict=True)):
        if _is_secret(part, masked_text):
            yield f"{word}[{number}]"


def _in_scheduler(options: Mapping[str, Any]) -> Iterator[str]:
    """Its `secrets` map a variable to the place that has the value: such a place is no secret
    because of the variable's name, only because of its own content.
    """
    for key, item in options.items():
        if key != "secrets" or not isinstance(item, Mapping):
            yield from _in_tree(f"scheduler.{key}", item, str(key))
            continue
        for name, place in item.items():
            is_place = isinstance(place, str) and _is_reference(place)
            yield from _in_tree(f"scheduler.secrets.{name}", place, "" if is_place else str(name))


def _is_reference(place: str) -> bool:
    match = _REFERENCE.fullmatch(place)
    return match is not None and not _VALUE.fullmatch(match["key"])


def _in_tree(where: str, value: Any, name: str = "") -> Iterator[str]:
    """Where each secret in a tree of values is, as a dotted path."""
    match value:
        case str():
            (masked_text,) = scrub_tree({name: value}).values() if name else (scrub(value),)
            if _is_secret(value, masked_text):
                yield where
        case Mapping():
            for key, item in value.items():
                yield from _in_tree(f"{where}.{key}", item, str(key))
        case Sequence():
            for number, item in enumerate(value):
                yield from _in_tree(f"{where}[{number}]", item, name)


def _is_secret(text: str, masked_text: str) -> bool:
    """Whether the text was masked, as a whole for its name or in part for its content."""
    return not harmless(text) if masked_text == MASK else bool(secrets_in(text))
