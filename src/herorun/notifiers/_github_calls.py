"""Calls to GitHub, with a deadline and our own retries; errors say what to do.

PyGithub's own retries and pauses are off: the retries send a POST again after a time-out, and the
answer to the first may only have been lost (PyGithub #803; pytorch/test-infra #8061 saw 47 copies
of one comment). After a lost answer a query shows whether the call was carried out.
"""

import re
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import wraps
from typing import Any, TypeVar

from herorun.core.errors import CouldNotLook, HerorunError
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex
from herorun.core.redaction.scrub import scrub

T = TypeVar("T")
DEADLINE = 60.0  # seconds for one call with all its tries
PAUSES = (1.0, 4.0, 10.0)  # seconds between two tries
REQUEST = 15  # seconds for one request
MAX_LIMIT = 86_400.0  # seconds; GitHub's own last an hour
_SECONDS = lazy_regex(r"[0-9]{1,12}", re.ASCII)
PACE = 1.0  # seconds between two writes, as GitHub asks for


@dataclass(frozen=True)
class Fault:
    """Why a call failed. `lost`: it is unknown whether it was carried out. `wait`: seconds until it
    may be tried again.
    """

    message: str
    is_lost: bool = False
    wait: float | None = None


class GithubRefused(CouldNotLook):
    """GitHub refused: the call was not carried out."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class Calls:
    """All calls of one page."""

    def __init__(self, where: str, sleep: Callable[[float], None] = time.sleep) -> None:
        self.where = where  # owner/name
        self._sleep = sleep
        # of the call under way: what it looks up on its way shares its deadline
        self._until: float | None = None
        self._wrote: float | None = None
        self._down: tuple[float, str] = (0.0, "")  # until when no request is sent, and why

    def read(self, act: Callable[[], T]) -> T:
        """Read, with retries within the deadline. `GithubRefused` after a definite refusal."""
        return self._call_within_deadline(act, lambda: None)

    def repeat(self, act: Callable[[], T]) -> T:
        """Write something that may be written twice, such as an edit."""
        return self._call_within_deadline(lambda: self._call_at_pace(act), lambda: None)

    def write(self, act: Callable[[], T], find_result: Callable[[], T | None]) -> T:
        """Write once: after a lost answer `find_result` queries whether it was done, and only if
        not it is retried.
        """
        return self._call_within_deadline(lambda: self._call_at_pace(act), find_result)

    def _call_at_pace(self, act: Callable[[], T]) -> T:
        wait = 0.0 if self._wrote is None else self._wrote + PACE - time.monotonic()
        if wait > 0:
            self._sleep(wait)
        self._wrote = time.monotonic()
        return act()

    def _call_within_deadline(self, act: Callable[[], T], find_result: Callable[[], T | None]) -> T:
        """After one call timed out, the next ones of this page fail at once, so that a tick waits
        only once for an outage.
        """
        if self._until is not None:
            return self._call_with_retries(act, find_result, self._until)
        again, message = self._down
        if time.monotonic() < again:
            raise CouldNotLook(message)
        self._until = time.monotonic() + DEADLINE
        try:
            return self._call_with_retries(act, find_result, self._until)
        except GithubRefused:
            raise
        except CouldNotLook as error:
            self._down = time.monotonic() + DEADLINE, str(error)
            raise
        finally:
            self._until = None

    def _call_with_retries(
        self, act: Callable[[], T], find_result: Callable[[], T | None], until: float
    ) -> T:
        for pause in (*PAUSES, None):
            try:
                return act()
            except CouldNotLook:
                raise
            # PyGithub's, those of requests, and bare ones that PyGithub lets through
            except Exception as error:
                fault, status = (
                    fault_of(error, self.where),
                    int(getattr(error, "status", None) or 0),
                )
            if not fault.is_lost and fault.wait is None:
                raise GithubRefused(fault.message, status)
            if fault.is_lost and (settled_answer := find_result()) is not None:
                return settled_answer
            wait = pause if fault.wait is None else fault.wait
            if pause is None or wait is None or time.monotonic() + wait > until:
                raise CouldNotLook(fault.message)
            self._sleep(wait)
            if (
                fault.is_lost and (settled_answer := find_result()) is not None
            ):  # what was carried out may show a little later
                return settled_answer
        raise AssertionError("the last pause is None")


def malformed_as_error(method: Callable[..., T]) -> Callable[..., T]:
    """A method of the page whose answer turns out to be of another form, as PyGithub finds when it
    is used.
    """

    @wraps(method)
    def call(page: Any, *arguments: Any) -> T:
        try:
            return method(page, *arguments)
        except (HerorunError, OSError):
            raise
        except Exception as error:
            raise CouldNotLook(fault_of(error, page.where).message) from None

    return call


def fault_of(error: Exception, where: str) -> Fault:
    """The fault that an error of PyGithub, requests or urllib3 means."""
    from github import GithubException
    from requests.exceptions import RequestException

    if isinstance(error, GithubException):
        return _build_fault(error, where)
    if isinstance(error, RequestException):
        return Fault(f"GitHub did not answer for {where}: {_flat(error)}", is_lost=True)
    if isinstance(error, AssertionError):
        return Fault(
            f"The answers for {where} name another server than [issue] base_url: it is "
            "https://api.github.com, or "
            "https://HOST/api/v3 of GitHub Enterprise."
        )
    return Fault(
        f"The answer for {where} did not come from GitHub ({type(error).__name__})", is_lost=True
    )


def _build_fault(error: Any, where: str) -> Fault:
    status, message = int(error.status or 0), _message(error)  # PyGithub's own number
    headers = {str(k).lower(): str(v) for k, v in (error.headers or {}).items()}
    if status in (403, 429) and (wait := _parse_rate_limit(message, headers)) is not None:
        at = datetime.fromtimestamp(time.time() + min(wait, MAX_LIMIT), UTC)
        return Fault(
            f"GitHub's rate limit for {where} is used up until {at:%H:%M:%S} UTC", wait=wait
        )
    if status >= 500 or status == 0:
        return Fault(
            f"GitHub failed on {where} with {status or 'no status'}: {message}", is_lost=True
        )
    return Fault(_REFUSALS.get(status, _other)(where, message, headers))


def _parse_rate_limit(message: str, headers: Mapping[str, str]) -> float | None:
    """Seconds until the limit is over; None where it is no limit."""
    if _SECONDS.fullmatch(headers.get("retry-after", "")):
        return float(headers["retry-after"])
    if headers.get("x-ratelimit-remaining") == "0" and _SECONDS.fullmatch(
        headers.get("x-ratelimit-reset", "")
    ):
        return max(0.0, float(headers["x-ratelimit-reset"]) - time.time())
    return 60.0 if "rate limit" in message.lower() or "abuse" in message.lower() else None


def _explain_unauthorised(where: str, message: str, headers: Mapping[str, str]) -> str:
    return f"GitHub refuses the token for {where} (401 {message}): renew it."


def _explain_forbidden(where: str, message: str, headers: Mapping[str, str]) -> str:
    if sso := headers.get("x-github-sso"):
        link = sso.partition("url=")[2]
        return (
            f"The token must be authorised for the single sign-on of the organisation of {where}: "
            f"{link or message}"
        )
    if "locked" in message.lower():
        return (
            f"The issue in {where} is locked for this token (403 {message}): unlock it, or give "
            "the token's owner write access."
        )
    permissions = headers.get("x-accepted-github-permissions") or headers.get(
        "x-accepted-oauth-scopes"
    )
    has = headers.get("x-oauth-scopes")
    scopes = f"; it needs {permissions}" if permissions else ""
    scopes += f" and has {has or 'none'}" if has is not None else ""
    return f"The token may not do this in {where} (403 {message}){scopes}."


def _missing(where: str, message: str, headers: Mapping[str, str]) -> str:
    return (
        f"{where} does not exist, or the token may not see it (GitHub answers 404 to both): "
        "check both."
    )


def _describe_gone(where: str, message: str, headers: Mapping[str, str]) -> str:
    return f"Issues are switched off in {where}, or this one was deleted (410 {message})."


def _invalid(where: str, message: str, headers: Mapping[str, str]) -> str:
    return f"GitHub does not take this for {where} (422 {message})."


def _other(where: str, message: str, headers: Mapping[str, str]) -> str:
    return f"GitHub refused this for {where}: {message}"


_REFUSALS: Mapping[int, Callable[[str, str, Mapping[str, str]], str]] = {
    401: _explain_unauthorised,
    403: _explain_forbidden,
    404: _missing,
    410: _describe_gone,
    422: _invalid,
}


def _message(error: Any) -> str:
    data = error.data if isinstance(error.data, Mapping) else {}
    parts = [str(data.get("message") or error.message or "")]
    errors = data.get("errors")
    for each in errors if isinstance(errors, list) else ():
        parts.append(
            " ".join(str(v) for v in each.values()) if isinstance(each, Mapping) else str(each)
        )
    return _flat("; ".join(part for part in parts if part) or "no reason given")


def _flat(text: object) -> str:
    return " ".join(scrub(str(text)).split())[:300]
