"""A channel beyond the issue, by apprise: Slack, Discord, e-mail, a webhook and whatever else it
knows.

The address holds a secret. It is read from the environment when it is needed and never shown: every
message names the variable, and apprise's own messages, which may quote the address, are classified
and dropped. A channel cannot be asked what it was sent: as with a terminal, `find` knows this
process alone.
"""

import contextlib
import logging
import os
import re
from collections.abc import Iterator
from typing import Any

from herorun.core.errors import CouldNotLook, WrongUse
from herorun.core.extras import how_to_install
from herorun.core.lazy_regex import lazy_regex
from herorun.core.markdown import unescape_brackets
from herorun.core.ports import AdapterOptions, Channel, Place, Post
from herorun.core.proposed_commands import on_screen
from herorun.core.redaction.scrub import scrub
from herorun.system.timeout import within

# seconds for one post; apprise waits 4 s for each answer, and up to 15 s for a mail server
DEADLINE = 45.0
MAX_TEXT = 30_000  # characters, of a service that takes as many
END = 700  # characters that a service with a limit gets of a longer text's end
RESERVED_CHARACTERS = 20  # characters that apprise may take for a counter and a line break
CUT = "\n[...]\n"
INSTALL = f"apprise is not installed: {how_to_install('notify')}"
# (state folder, run, channel, key), for the life of the process
_SENT_POSTS: set[tuple[str, str, str, str]] = set()
_PLAIN_CONTROLS = "\n\t\u200b"  # the last one breaks a mention, see `core.markdown`
_HTTP = lazy_regex(r"\b(?:error|code|status|response)\W{0,3}([45]\d\d)\b", re.IGNORECASE)


class Options(AdapterOptions):
    variable: str = ""


def connect(options: Options, place: Place) -> Channel:
    if not options.variable:
        raise WrongUse("A channel cannot hold the issue of a run: put it into [notify] targets.")
    return AppriseChannel(options.variable, place)


class AppriseChannel:
    """See `core.ports.Channel`. A reference is the variable's name."""

    def __init__(self, variable: str, place: Place) -> None:
        self.name = variable
        self._run = (place.state, place.slug)

    def problem(self) -> str:
        if not os.environ.get(self.name):
            return f"the variable {self.name} is not set, or is empty"
        try:
            return "" if self._service() is not None else self._strange
        except ImportError:
            return INSTALL

    def post(self, post: Post) -> str:
        post_key = (*self._run, self.name, post.key)
        if post_key not in _SENT_POSTS:
            if why := self.problem():
                raise OSError(why)
            with _mute_apprise():
                answer = within(DEADLINE, lambda: self._send(post))
            if why := _describe_refusal(answer):
                raise OSError(f"{self.name} did not accept it: {why}")
            _SENT_POSTS.add(post_key)
        return self.name

    def find(self, key: str) -> str | None:
        return self.name if (*self._run, self.name, key) in _SENT_POSTS else None

    @property
    def _strange(self) -> str:
        return f"{self.name} holds no address that apprise knows"

    def _service(self) -> Any:
        """apprise's object for the address; None if it does not know the address."""
        import apprise

        asset = apprise.AppriseAsset(
            app_id="herorun", app_desc="herorun", app_url="", async_mode=False
        )
        with _mute_apprise():
            service = apprise.Apprise.instantiate(os.environ.get(self.name, ""), asset=asset)
        if service is not None:
            service.overflow_mode = apprise.OverflowMode.TRUNCATE
        return service

    def _send(self, post: Post) -> Any:
        import apprise

        try:
            service = self._service()
            if service is None:
                raise CouldNotLook(f"{self._strange}.")
            sender = apprise.Apprise(asset=service.asset)
            sender.add(service)
            title = _defuse_text(f"{self._run[1]}: {post.title}").replace("\n", " ")
            return sender.notify(
                body=_fit_text(_defuse_text(post.body), _room(service, title)) or title,
                title=title,
                notify_type=apprise.NotifyType.WARNING,
                body_format=apprise.NotifyFormat.TEXT,
            )
        except CouldNotLook:
            raise
        except Exception as error:  # whatever a plug-in raises may quote the address
            raise OSError(
                f"{self.name} did not accept it: apprise failed ({type(error).__name__})"
            ) from None


def _defuse_text(text: str) -> str:
    """Secrets out, and nothing left that a service reads as a mention, a control character or half
    a letter. It is no Markdown there.
    """
    text = scrub(on_screen(text).encode("utf-8", "replace").decode().replace("\r\n", "\n"))
    text = "".join(
        c if c in _PLAIN_CONTROLS or c.isprintable() else "�" for c in unescape_brackets(text)
    )
    text = re.sub(r"<(?=[!@#&])", "<\u200b", text)
    return re.sub(r"@(?=everyone\b|here\b|channel\b)", "@\u200b", text)


def _room(service: Any, title: str) -> int:
    """The characters of a text that the service takes; some count the title among them."""
    return max(len(CUT), min(MAX_TEXT, int(service.body_maxlen) - len(title) - RESERVED_CHARACTERS))


def _fit_text(text: str, room: int) -> str:
    """Without its middle where it is too long: the end tells since when, what it costs and what to
    type.
    """
    if len(text) <= room:
        return text
    end = text[-min(END, room // 2) :].partition("\n")[2]
    return f"{text[: room - len(CUT) - len(end)]}{CUT}{end}"


def _describe_refusal(answer: Any) -> str:
    """Why a post was not taken, in words of ours; empty where it was. Apprise's result is false on
    failure.
    """
    if answer:
        return ""
    status = getattr(getattr(answer, "status", None), "name", "")
    problems = " ".join(
        entry.message
        for result in getattr(answer, "results", ())
        for attempt in result.attempts
        for entry in attempt.logs
    )
    if match := _HTTP.search(problems):
        return f"it answered {match[1]}"
    if status == "TIMEOUT":
        return "it did not answer in time"
    if re.search(r"connection|socket|timed? ?out", problems, re.IGNORECASE):
        return "it could not be reached, or did not answer in time"
    return "it was refused"


@contextlib.contextmanager
def _mute_apprise() -> Iterator[None]:
    """Apprise's own log quotes addresses, and reaches standard error where nobody set logging
    up.
    """
    logger = logging.getLogger("apprise")
    before, logger.propagate = logger.propagate, False
    silent = logging.NullHandler()
    logger.addHandler(silent)
    try:
        yield
    finally:
        logger.removeHandler(silent)
        logger.propagate = before
