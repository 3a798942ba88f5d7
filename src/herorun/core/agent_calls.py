"""Builds the command line of an agent's call, and selects the part of the answer that the agent
gets.
"""

import re
from collections.abc import Mapping
from typing import Any

from herorun.core.agent_tools import STOP_FIRST, Parameter, Tool
from herorun.core.canonical_json import digest
from herorun.core.errors import WrongUse
from herorun.core.evidence import JobState

MAX_TEXT = 60_000  # characters of one string in an answer; the newest, as in a log
BY_AGENT = "(ordered by an agent through herorun mcp)"
_KINDS: Mapping[str, type[Any]] = {"string": str, "integer": int, "boolean": bool, "array": list}


def argv_of(tool: Tool, values: Mapping[str, Any], order: bool = False) -> list[str]:
    """The words of the command. `WrongUse` where a value is missing, unknown or of another kind."""
    _must_fit(tool, values)
    arguments = [(each, values[each.name]) for each in tool.parameters if each.name in values]
    options = [word for each, value in arguments if each.option for word in each.argv(value)]
    places = [word for each, value in arguments if not each.option for word in each.argv(value)]
    if order:
        options = [f"{o} {BY_AGENT}" if o.startswith("--reason=") else o for o in options]
    return [*tool.command.split(), "--json", *options, "--", *places]


def preview_argv(order: Tool, values: Mapping[str, Any]) -> list[str]:
    """The words of the command that shows what the order would do, and changes nothing."""
    if order.preview.startswith(f"{order.command} "):
        argv = argv_of(order, values, order=True)
        return [*order.preview.split(), *argv[len(order.command.split()) :]]
    _must_fit(order, values)
    return [*order.preview.split(), "--json", "--", values["run"]]


def _must_fit(tool: Tool, values: Mapping[str, Any]) -> None:
    parameters = {each.name: each for each in tool.parameters}
    if unknown := sorted(set(values) - set(parameters)):
        raise WrongUse(
            f"{tool.name} has no {', '.join(unknown)}; it takes {', '.join(parameters)}."
        )
    if missing := [
        name for name, each in parameters.items() if each.required and name not in values
    ]:
        raise WrongUse(f"{tool.name} needs {', '.join(missing)}.")
    for name, value in values.items():
        _must_be(tool, parameters[name], value)


def _must_be(tool: Tool, parameter: Parameter, value: Any) -> None:
    where = f"{parameter.name} of {tool.name}"
    kind = _KINDS[parameter.kind]
    if type(value) is not kind:
        raise WrongUse(f"{where} must be of type {parameter.kind}.")
    if parameter.kind == "integer" and not 0 <= value <= (parameter.most or value):
        raise WrongUse(f"{where} must be from 0 to {parameter.most}.")
    if parameter.pattern and not re.fullmatch(parameter.pattern, value):
        raise WrongUse(f"{where} must be a name of letters, digits, '.', '_' and '-', not a path.")
    texts = value if isinstance(value, list) else [value]
    if any(isinstance(text, str) and ("\0" in text or not text) for text in texts):
        raise WrongUse(f"{where} must not be empty.")


# --- answers --------------------------------------------------------------------------------------


def shown_to_agent(value: Any) -> Any:
    """A document without characters that nobody sees, and without its passed findings.

    Invisible characters can carry orders to a model that no person would notice.
    """
    if isinstance(value, str):
        excess = len(value) - MAX_TEXT
        text = f"[{excess} characters before this are left out]\n{value[-MAX_TEXT:]}"
        return _visible(text if excess > 0 else value)
    if isinstance(value, Mapping):
        return {
            _visible(str(key)): _shorter(key, shown_to_agent(item)) for key, item in value.items()
        }
    return [shown_to_agent(item) for item in value] if isinstance(value, list) else value


def _visible(text: str) -> str:
    return "".join(c if c.isprintable() or c in "\n\t" else f"\\u{{{ord(c):x}}}" for c in text)


def _shorter(key: object, value: Any) -> Any:
    """Keeps only the findings that need a decision."""
    if key != "findings" or not isinstance(value, list):
        return value
    return [each for each in value if each.get("outcome") not in ("pass", "n/a")]


def situation_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """What an order rests on. Progress moves all the time, and changes no order."""
    alerts = [
        [alert["check"], alert["subject"], alert["state"]] for alert in document.get("alerts", ())
    ]
    plain = ("run", "stage", "contract", "sealed", "stopped", "paused", "questions", "unfinished")
    return {
        **{name: document.get(name) for name in plain},
        "instances": [each["name"] for each in document.get("instances", ())],
        "alerts": sorted(alerts),
    }


def order_digest(
    order: Tool, values: Mapping[str, Any], status: Mapping[str, Any], preview: Mapping[str, Any]
) -> str:
    """The digest of an order and of the state that it depends on: if that changes, so does the
    digest.
    """
    facts = {name: preview.get(name) for name in ("plan_digest", "verdict", "facts")}
    content = {"order": order.name, "values": dict(values), **facts, "now": situation_of(status)}
    return digest(content)


def why_refused(order: Tool, values: Mapping[str, Any], status: Mapping[str, Any]) -> str:
    """Why the order would be refused by what `status` shows; "" if that shows no reason.

    >>> from herorun.core.agent_tools import order_named
    >>> up = {"instances": [{"name": "grug-1", "state": "running"}]}
    >>> why_refused(order_named("relaunch"), {"run": "grug"}, up)
    'the job of grug-1 is running, and only stop_first stops it'
    >>> why_refused(order_named("relaunch"), {"run": "grug", "stop_first": True}, up)
    ''
    """
    if STOP_FIRST not in order.parameters or values.get(STOP_FIRST.name):
        return ""
    for instance in (status.get("instances") or [])[-1:]:
        name, state = instance["name"], instance.get("state")
        if state in [each for each in JobState if each.live]:
            return f"the job of {name} is {state}, and only {STOP_FIRST.name} stops it"
    return ""
