"""Runs git: its environment, its flags, and the messages of its failures."""

import os
import re
from collections.abc import Sequence

from herorun.core.errors import CouldNotLook
from herorun.core.lazy_regex import lazy_regex
from herorun.core.redaction.scrub import scrub
from herorun.system.process import ProcessResult

LOCAL = 60.0  # seconds for local calls
REMOTE = 120.0  # seconds for calls of a remote
_BATCH = "-oBatchMode=yes"
_SSH = f"ssh {_BATCH}"
_PASSED_ON = (
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_ASKPASS",
    "GIT_SSL_CAINFO",
    "GIT_SSL_NO_VERIFY",
    "GIT_PROXY_COMMAND",
)
FLAGS = (
    "--no-pager",
    "--no-optional-locks",
    "--no-replace-objects",
    "--literal-pathspecs",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.untrackedCache=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsync=committed,reference",
    "-c",
    "core.quotePath=false",
    "-c",
    "gc.auto=0",
    "-c",
    "maintenance.auto=false",
)
_REASON = lazy_regex(r"(?:ssh|fatal|error|ERROR|remote|!):? +(?=\S)")
_NO_REASON = "Could not read from remote repository."


def environment() -> dict[str, str]:
    """The caller's environment without git's own variables, which would point at another repository
    or index.
    """
    base = {
        k: v
        for k, v in os.environ.items()
        if not k.startswith("GIT_") or k in _PASSED_ON or k.startswith("GIT_CONFIG_")
    }
    return base | {
        "LC_ALL": "C",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_ASKPASS": base.get("GIT_ASKPASS", "true"),
        **({} if {"GIT_SSH", "GIT_SSH_COMMAND"} & base.keys() else {"GIT_SSH_COMMAND": _SSH}),
    }


def users_ssh(configured_ssh: str | None) -> dict[str, str]:
    """The environment for ssh: the user's `core.sshCommand` (which a variable would override), with
    prompts disabled.
    """
    if not configured_ssh or "GIT_SSH_COMMAND" in os.environ:
        return {}
    plain = configured_ssh.split()[0].rpartition("/")[2] == "ssh"
    return {"GIT_SSH_COMMAND": f"{configured_ssh} {_BATCH}" if plain else configured_ssh}


class GitFailed(CouldNotLook):
    """A git call ended with an error."""

    def __init__(self, args: Sequence[str], answer: ProcessResult) -> None:
        names_remote = args[0] in ("ls-remote", "fetch", "push")
        argv = [
            args[0],
            *([arg for arg in args[1:] if not arg.startswith("-")][:1] if names_remote else []),
        ]
        super().__init__(f"`git {' '.join(argv)}` failed: {complaint(answer)}")
        self.answer = answer


def complaint(answer: ProcessResult) -> str:
    """The first line of the error; git ends with general advice."""
    lines = [line.strip() for line in answer.err.decode("utf-8", "backslashreplace").splitlines()]
    lines = [line for line in lines if line]
    at = next((n for n, line in enumerate(lines) if _REASON.match(line)), len(lines) - 1)
    if at > 0 and lines[at].endswith(_NO_REASON):
        at -= 1  # an earlier line, by ssh or the host, has the cause
    reason = lines[at] if lines else answer.complaint
    return scrub(re.sub(r"^(?:(?:fatal|error|ERROR|remote): +)+", "", reason))[:300].rstrip(".")
