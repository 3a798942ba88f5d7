"""Connects a run's notifiers: the one that holds its page, and the channels it is sent to."""

from collections.abc import Mapping
from typing import Any, TypeGuard

from herorun.adapters import adapter_kinds, adapter_module, connect
from herorun.core.contract import Issue, Notify
from herorun.core.errors import UNFORESEEN, HerorunError, WrongTable, WrongUse, describe_error
from herorun.core.lazy_dataclass import dataclass
from herorun.core.ports import (
    Channel,
    IssueTracker,
    Notifier,
    Place,
    Post,
    SendOnlyNotifier,
    missing_members,
)


def connect_issue(
    kind: str,
    options: Mapping[str, Any],
    place: Place,
    stated_options: Mapping[str, Any] | None = None,
) -> IssueTracker:
    """A notifier that can hold a run's page; a `WrongUse` for one that only sends."""
    adapter = connect("notifiers", kind, options, place, stated_options)
    if not _is_issue_tracker(adapter):
        must_hold_pages(kind)
        lacking = ", ".join(missing_members(IssueTracker, adapter))
        raise WrongUse(
            f"The adapter of [issue] kind = {kind!r} lacks {lacking}, which "
            "core.ports.IssueTracker requires: use another kind."
        )
    return adapter


def connect_channel(variable: str, place: Place) -> Channel:
    """The channel whose address a variable holds."""
    adapter = connect("notifiers", "channel", {"variable": variable}, place)
    if not _is_channel(adapter):
        raise WrongUse(f"{variable} is no channel: the notifier lacks name or problem.")
    return adapter


def connect_send_only(kind: str, options: Mapping[str, Any], place: Place) -> SendOnlyNotifier:
    """One of [notify] kinds. One of another package that cannot be loaded is a channel that does
    not work: the run is monitored and its other channels are used.
    """
    try:
        return SendOnlyNotifier(kind, connect("notifiers", kind, options, place))
    except HerorunError:
        raise
    except UNFORESEEN as error:
        return SendOnlyNotifier(kind, BrokenNotifier(kind, describe_error(error)))


@dataclass(frozen=True)
class BrokenNotifier:
    """Stands for a notifier whose module or `connect` raised an error."""

    kind: str
    error: str

    def problem(self) -> str:
        return f"the notifier {self.kind} cannot be loaded: {self.error}"

    def post(self, post: Post) -> str:
        raise OSError(self.problem())

    def find(self, key: str) -> str | None:
        return None


def _is_issue_tracker(adapter: Notifier) -> TypeGuard[IssueTracker]:
    return not missing_members(IssueTracker, adapter)


def _is_channel(adapter: Notifier) -> TypeGuard[Channel]:
    return not missing_members(Channel, adapter)


def must_hold_pages(kind: str) -> None:
    """`WrongTable` where a notifier only sends: no run's page can lie there."""
    if not _holds_pages(kind):
        able = ", ".join(each for each in adapter_kinds("notifiers") if _holds_pages(each))
        fault = (
            f"[issue] kind = {kind!r} only sends messages and cannot hold the run's page: use one "
            f"of {able}, and put {kind!r} into [notify] kinds"
        )
        raise WrongTable("issue", "", [(("kind",), fault)])


def must_be_complete(issue: Issue) -> None:
    """`WrongTable` where the kind needs a key, by `INIT_KEYS` next to its `connect`, that is not
    stated: otherwise only the launch would meet it.
    """
    keys = getattr(adapter_module("notifiers", issue.kind), "INIT_KEYS", ())
    missing = [k for k in keys if getattr(issue, k, None) is None and k not in issue.options]
    if missing:
        fault = f"[issue] kind = {issue.kind!r} needs {' and '.join(missing)}"
        raise WrongTable("issue", "", [(("kind",), fault)])


def must_be_sendable(notify: Notify) -> None:
    """`WrongTable` for each of [notify] kinds that does not exist, or that sends to an address
    which nothing names: otherwise only the launch would meet it.
    """
    faults = [
        (("kinds",), fault)
        for kind in notify.kinds
        if (fault := _fault_of_kind(kind, notify.options.get(kind, {})))
    ]
    if faults:
        raise WrongTable("notify", "", faults)


def _fault_of_kind(kind: str, options: Mapping[str, Any]) -> str:
    try:
        module = adapter_module("notifiers", kind)
    except WrongTable as error:
        return error.faults[0][1]
    except UNFORESEEN:  # a broken module of another package, which the channel reports
        return ""
    variable = getattr(getattr(module, "Options", None), "model_fields", {}).get("variable")
    is_named = bool(options.get("variable"))
    if variable is not None and not is_named and (variable.is_required() or variable.default == ""):
        return (
            f"[notify] kinds: {kind!r} sends to the address in a variable: name the variable in "
            "[notify] targets instead"
        )
    return ""


def _holds_pages(kind: str) -> bool:
    """By the class that its `connect` says it returns; where it says nothing, by trying."""
    from typing import get_type_hints

    declared_type = get_type_hints(adapter_module("notifiers", kind).connect).get("return")
    return declared_type is None or not missing_members(IssueTracker, declared_type)
