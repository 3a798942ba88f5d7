"""What W&B's client takes from the environment, and where that contradicts the contract."""

from collections.abc import Mapping

from herorun.core.identity.client_variables import contradiction, describe_unstated_key, same_server
from herorun.core.identity.intent import option
from herorun.core.plan import TrackerRun

# What the client uses if the trainer's code does not set it.
SERVICE = "W&B"  # as people call it
RUN_ID = "WANDB_RUN_ID"
CLIENT_VARIABLES = (
    RUN_ID,
    "WANDB_RESUME",
    "WANDB_PROJECT",
    "WANDB_ENTITY",
    "WANDB_NAME",
    "WANDB_RUN_GROUP",
    "WANDB_MODE",
    "WANDB_DISABLED",
    "WANDB_BASE_URL",
    "WANDB_FORK_FROM",
    "WANDB_RESUME_FROM",
)
ONLINE, OFFLINE = ("online", "run", "shared"), ("offline", "dryrun")  # values of WANDB_MODE
_TRUE = ("1", "true", "yes", "on")


def wandb_problem(
    name: str, value: str, run: TrackerRun, forks: bool, modes: tuple[str, ...]
) -> str:
    """See `core.ports.ClientEnvironment`. `modes`: of the client's those that the contract's kind
    means.
    """
    return (
        _switch(name, value, run, modes) or _exclusive(name, forks) or _difference(name, value, run)
    )


def _switch(name: str, value: str, run: TrackerRun, modes: tuple[str, ...]) -> str:
    """The problem of a variable that turns reporting off, or changes its mode."""
    if name == "WANDB_DISABLED" and value.lower() in _TRUE:
        return "so nothing would be reported at all: unset it"
    if name == "WANDB_MODE" and value.lower() not in modes:
        return _describe_other_mode(value.lower(), run.kind)
    if name == "WANDB_RESUME_FROM":
        return "which would rewind the run: unset it"
    return ""


def _describe_other_mode(mode: str, kind: str) -> str:
    other = "wandb_offline" if mode in OFFLINE else "wandb" if mode in ONLINE else ""
    if not other:
        return "so nothing would be reported at all: unset it"
    return f'and the contract\'s tracker is {kind}: unset it, or set [tracker] kind = "{other}"'


def _exclusive(name: str, forks: bool) -> str:
    if forks and name == "WANDB_RESUME":
        return "and W&B refuses to fork and to resume at once: unset it for the first launch"
    return ""


def _difference(name: str, value: str, run: TrackerRun) -> str:
    stated_values = _stated_variables(run)
    if name not in stated_values:
        return ""
    key, contract_value = stated_values[name]
    if not contract_value:
        return "" if key == "group" else describe_unstated_key(key)
    return "" if _is_same_value(name, value, contract_value) else contradiction(key, contract_value)


def _stated_variables(run: TrackerRun) -> Mapping[str, tuple[str, str]]:
    """Variable -> key of `[tracker]`, and what the contract states there."""
    return {
        RUN_ID: ("id", run.id),
        "WANDB_PROJECT": ("project", run.project or ""),
        "WANDB_ENTITY": ("entity", run.entity or ""),
        "WANDB_NAME": ("name", run.name),
        "WANDB_RESUME": ("resume", run.resume),
        "WANDB_RUN_GROUP": ("group", option(run, "group")),
        "WANDB_BASE_URL": ("base_url", option(run, "base_url")),
        "WANDB_FORK_FROM": ("fork_from", option(run, "fork_from")),
    }


def _is_same_value(name: str, value: str, contract_value: str) -> bool:
    if name == "WANDB_RESUME":
        return ("auto" if value.lower() in _TRUE else value.lower()) == contract_value
    if name == "WANDB_BASE_URL":
        return same_server(value, contract_value)
    return value == contract_value
