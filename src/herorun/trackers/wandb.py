"""W&B, read through its own client in a process of its own: never from a cache, never sampled,
always bounded.

A refused key, a hanging server or an unreadable project is no answer. A run is absent only if its
project could be listed without it.
"""

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from netrc import NetrcParseError, netrc
from tempfile import TemporaryDirectory
from typing import Annotated, Any, TypeAlias
from urllib.parse import urlsplit

from herorun.core.contract import Duration, TrackerTable
from herorun.core.doctor_report import DoctorPart, Fit
from herorun.core.errors import CouldNotLook, describe_error
from herorun.core.evidence import TrackerIdentity, TrackerState
from herorun.core.identity.fork import fork_point
from herorun.core.identity.links import run_pages
from herorun.core.lazy_pydantic import Field
from herorun.core.lazy_regex import lazy_regex
from herorun.core.plan import TrackerRun
from herorun.core.ports import AdapterOptions, Place, Rows, Tracker
from herorun.core.trust import NeedsTrust
from herorun.system.process import MAX_BYTES, OutputTooLong, run
from herorun.trackers._wandb.environment import (
    CLIENT_VARIABLES,
    ONLINE,
    RUN_ID,
    SERVICE,
    wandb_problem,
)
from herorun.trackers._wandb.identity import NAME_RULES
from herorun.trackers._wandb.mentions import wandb_mentions
from herorun.trackers._wandb.response import OTHER_FORM, error_of, identity_of, rows_of

Answer: TypeAlias = Mapping[str, Any]
Ask: TypeAlias = Callable[[Mapping[str, Any], float], Answer]

MAX_ROWS = 50_000  # a read; the next one continues there
MAX_VALUES = 2_000_000  # numbers of a read: some 60 MiB of text
_CURSOR = lazy_regex(r"1:(\d{1,18}):(.*)", re.ASCII)
# Credentials and connection settings. Other variables (ids, modes, folders, a service of another
# process) would change the answer.
_PASSED_ON = frozenset(
    {
        "WANDB_API_KEY",
        "WANDB_APP_URL",
        "WANDB_BASE_URL",
        "WANDB_CONFIG_DIR",
        "WANDB_CREDENTIALS_FILE",
        "WANDB_IDENTITY_TOKEN_FILE",
        "WANDB_INSECURE_DISABLE_SSL",
        "WANDB_X_EXTRA_HTTP_HEADERS",
        "WANDB__EXTRA_HTTP_HEADERS",
        "WANDB__PROXIES",
    }
)


class Options(AdapterOptions):
    entity: str = Field(
        min_length=1, description="The account that the run reports to; never left to a default."
    )
    project: str = Field(min_length=1, description="The project that the run reports to.")
    id: str = Field(min_length=1, description="Run id.")
    name: str = Field(min_length=1, description="Display name.")
    base_url: Annotated[str | None, NeedsTrust()] = Field(
        None, min_length=1, description="The server; by default WANDB_BASE_URL, or W&B's own."
    )
    timeout: Duration = Field(timedelta(seconds=20), description="Timeout of one request.")
    group: str | None = Field(
        None, min_length=1, description="The group that the run reports under."
    )
    fork_from: str | None = Field(
        None,
        min_length=1,
        description="`<id>?_step=<n>`: the run and step that the first launch forks from.",
    )
    resume_from: str | None = Field(
        None, min_length=1, description="W&B's rewind, which the launch gate refuses."
    )


INIT_KEYS = ("entity", "project")  # of [tool.herorun.init], which stand for this kind


def connect(options: Options, place: Place) -> Tracker:
    return Wandb(options)


def links(tracker: TrackerTable, slug: str, names: Iterable[str]) -> tuple[str, ...]:
    """The pages of the contract's own run, and of those that a log names as `entity/project/id`."""
    base = str(tracker.options.get("base_url") or "https://wandb.ai")
    has_project = tracker.entity and tracker.project
    own = [f"{tracker.entity}/{tracker.project}/{tracker.id or slug}"] if has_project else []
    pages = (page for _, page in run_pages(base.rstrip("/"), (*own, *names)))
    return tuple(dict.fromkeys(pages))


class Wandb:
    """One run of one project. `ask` puts one question to W&B's client, within as many seconds."""

    client_variables = CLIENT_VARIABLES
    mentions = staticmethod(wandb_mentions)
    label = "W&B"
    resumes_by_id = True
    drops_past_steps = True
    name_rules = NAME_RULES
    id_variable = RUN_ID

    def __init__(self, options: Options, ask: Ask | None = None) -> None:
        self._options = options
        self._ask_client = ask or ask_client
        self._path = f"{options.entity}/{options.project}/{options.id}"
        self._seconds = max(1, round(options.timeout.total_seconds()))

    def client_problem(self, name: str, value: str, run: TrackerRun, forks: bool) -> str:
        return wandb_problem(name, value, run, forks, ONLINE)

    def identify(self) -> TrackerIdentity:
        """The run under the id, the other runs of its name, and the run that it is forked from."""
        return replace(self._identify(), service=SERVICE)

    def _identify(self) -> TrackerIdentity:
        fork = fork_point(self._options.fork_from or "")
        answer = self._ask(parent=fork.id if fork else "")
        try:
            return identity_of(answer, self._path, self._seconds, bool(fork))
        except OTHER_FORM as error:
            return TrackerIdentity(
                state=TrackerState.UNREACHABLE, why=_unreadable(error), id=self._options.id
            )

    def examine(self) -> tuple[DoctorPart, ...]:
        """Whether W&B's client would find a key; the key itself is not read."""
        host = (
            urlsplit(
                self._options.base_url or os.environ.get("WANDB_BASE_URL") or "https://api.wandb.ai"
            ).hostname
            or ""
        )
        name = f"wandb, key for {host}"
        if os.environ.get("WANDB_API_KEY"):
            return (DoctorPart("tracker", name, Fit.OK, "WANDB_API_KEY is set"),)
        try:
            login = netrc(os.environ.get("NETRC")).authenticators(host)
        except FileNotFoundError:
            login = None
        except (OSError, NetrcParseError) as error:
            # the error of a line that is none quotes it, and it may be the key
            why = (
                describe_error(error)
                if isinstance(error, OSError)
                else f"around its line {error.lineno}"
            )
            problem = f"WANDB_API_KEY is not set, and the netrc file cannot be read: {why}"
            return (DoctorPart("tracker", name, Fit.UNKNOWN, problem),)
        if login:
            return (DoctorPart("tracker", name, Fit.OK, "it is in the netrc file"),)
        fix = "`wandb login`, or export WANDB_API_KEY."
        return (
            DoctorPart(
                "tracker", name, Fit.FAILED, "neither WANDB_API_KEY nor a netrc file has one", fix
            ),
        )

    def read(self, cursor: str) -> Rows:
        """All rows from the cursor's step on; a recreated run is read from its start."""
        match = _CURSOR.fullmatch(cursor)
        start, created_at = (int(match[1]), match[2]) if match else (0, "")
        answer = self._ask(start=start, created=created_at, most=MAX_ROWS, most_values=MAX_VALUES)
        if answer.get("run", answer) is None:
            raise FileNotFoundError(f"W&B has no run {self._path}")
        if "run" not in answer:
            raise OSError(error_of(answer, self._path, self._seconds))
        try:
            return rows_of(
                answer, is_restart=bool(cursor) and (match is None or answer["start"] != start)
            )
        except OTHER_FORM as error:
            raise OSError(_unreadable(error)) from None

    def _ask(self, **question: Any) -> Answer:
        options = self._options
        if any("/" in part for part in (options.entity, options.project, options.id)):
            return {"fault": "entity, project and id hold no slash"}
        fields = options.model_dump(include={"entity", "project", "id", "name", "base_url"})
        return self._ask_client(
            {**fields, "timeout": self._seconds, **question}, 2.0 * self._seconds + 10
        )


def _unreadable(error: Exception) -> str:
    return f"W&B gave an answer that cannot be read ({type(error).__name__})"


def ask_client(question: Mapping[str, Any], seconds: float) -> Answer:
    """The answer of W&B's client in a fresh process, or in its place a `fault`, as `wandb_reading`
    words it.
    """
    argv = [sys.executable, "-P", "-m", "herorun.trackers._wandb.worker"]
    env = {k: v for k, v in os.environ.items() if k in _PASSED_ON or not k.startswith("WANDB_")}
    with TemporaryDirectory(prefix="herorun-wandb-", ignore_cleanup_errors=True) as scratch:
        try:
            process = run(
                argv,
                seconds,
                cwd="/",
                env={**env, "TMPDIR": scratch},
                stdin=json.dumps(question).encode(),
            )
        except OutputTooLong:
            return {
                "fault": (
                    f"gave more than {MAX_BYTES >> 20} MiB in one page, more than any run logs; it "
                    "is ignored"
                )
            }
        except CouldNotLook:
            return {"fault": "did not respond in time"}
    try:
        answer: Answer = json.loads(process.out)
    except ValueError:
        return {"fault": f"its client ended with exit code {process.code}"}
    return answer
