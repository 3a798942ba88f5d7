"""An Iris job by its canonical name `/user/job`, queried by Iris' own command line."""

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from herorun.core.adhoc_jobs.kind import JobKind
from herorun.core.adhoc_jobs.resubmit_command import must_have_no_wait
from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.core.adhoc_jobs.tasks import TaskEnd
from herorun.core.errors import CouldNotLook, WrongUse, describe_error
from herorun.core.evidence import JobState
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import Field
from herorun.core.lazy_regex import lazy_regex
from herorun.core.ports import Absent, AdapterOptions, ById, Origin, Place, Search, Unknown
from herorun.core.untrusted_json import read_json
from herorun.schedulers._clusters import ClusterNames
from herorun.schedulers._iris.argv import detail_argv, stop_argv
from herorun.schedulers._iris.client import CommandLine
from herorun.schedulers._iris.jobs import judge_in_detail
from herorun.schedulers._iris.parse import IrisListing
from herorun.schedulers._iris.resubmit import iris_notices
from herorun.schedulers._iris.state import root_of
from herorun.schedulers._iris.state_names import iris_state_of
from herorun.schedulers._submission_record import SubmissionRecord

TIMEOUT = 60.0  # seconds for one query, including its tunnel
_EVER = datetime(1970, 1, 2, tzinfo=UTC)
_TABLE = lazy_regex(r"^\s*TASK +STATE +EXIT\b")
_TIME_SUFFIX = lazy_regex(r"-\d{8}-\d{6}$")  # `iris job run` makes a name unique with its time
_MIB = lazy_regex(r"([0-9.]+)\s*(KB|MB|GB|TB|KiB|MiB|GiB|TiB)", re.IGNORECASE)
_TIMES = {"k": 1 / 1024, "m": 1.0, "g": 1024.0, "t": 1024.0**2}
# Source: the mappings of the babysitting loop for Iris that herorun was asked to cover.
CLUSTERS = ClusterNames(
    "iris",
    {
        "marin": "lib/iris/examples/marin.yaml",
        "marin_prod": "lib/iris/examples/marin.yaml",
        "marin_dev": "lib/iris/examples/marin-dev.yaml",
        "coreweave": "lib/iris/examples/coreweave.yaml",
    },
    "--config PATH",
)


@dataclass(frozen=True, kw_only=True)
class IrisJobKind(JobKind):
    def wrote(self, spec: JobSpec) -> bool:
        return bool(spec.config)

    def resolve_names(self, spec: JobSpec, start: str) -> JobSpec:
        """With the configuration file, from `--config` or a cluster's short name; it must exist."""
        if not (spec.config or spec.cluster):
            return spec
        path = Path(start, CLUSTERS.resolve(spec.config or spec.cluster)).resolve()
        if not path.is_file():
            raise WrongUse(
                f"There is no {path}, the configuration of the Iris cluster: give it by --config "
                "PATH."
            )
        return replace(spec, config=str(path))

    def contract_options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        if not (options.get("config") or options.get("cluster")):
            raise WrongUse(
                "herorun adopts an Iris job only by [scheduler] config or cluster: set one of "
                "them instead of controller_url."
            )
        return dict(options)

    def must_be_reachable(self, spec: JobSpec) -> None:
        if not spec.config:
            raise WrongUse(
                "An Iris job needs --config, or --cluster with the cluster's short name."
            )

    def must_return(self, command: str) -> None:
        must_have_no_wait(command)

    def notices(self, command: str) -> list[str]:
        return iris_notices(command) if command else []


JOBS = IrisJobKind(
    id_pattern=lazy_regex(r"/[A-Za-z0-9_][A-Za-z0-9_.@-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.@-]*)+"),
    id_form="the canonical name /<user>/<job>, such as /dlwh/train-tiny-20260302-185630",
    article="an",
    needs=("config",),
    place=("config", "cluster"),
    printed=lazy_regex(r"Job submitted: (/\S+/\S+)|^(/[^\s/]+/\S+)\s*$", re.MULTILINE),
    asks_for_command=True,
    has_machine=False,
)


class Options(AdapterOptions):
    config: str | None = Field(None, description="The cluster's configuration file.")
    cluster: str | None = Field(None, description="Or its name, as Iris knows it.")
    user: str | None = Field(None, description="The user's name in Iris; none: unknown.")


def connect(options: Options, place: Place) -> ById:
    return IrisById(options)


class IrisById:
    def __init__(self, options: Options) -> None:
        program = ["iris"] if shutil.which("iris") else ["uv", "run", "iris"]
        which = (
            ["--config", options.config] if options.config else ["--cluster", options.cluster or ""]
        )
        self._iris = CommandLine(program, which, TIMEOUT)
        self._user = options.user

    def find_job(self, job: str) -> Search:
        try:
            listing = self._list(job)
            root = root_of(listing.rows, job)
            if root is None:
                return (
                    Unknown(f"Iris' list is incomplete: {listing.partial}")
                    if listing.partial
                    else Absent()
                )
            return judge_in_detail(
                self._iris,
                listing,
                job,
                root,
                record=SubmissionRecord(),
                intended_at=_EVER,
                gang_name=None,
            )
        except (CouldNotLook, OSError) as error:
            return Unknown(describe_error(error))

    def _list(self, job: str) -> IrisListing:
        user, name = job.strip("/").split("/", 1)
        return self._iris.list(user, name, is_full_name=True)

    def _complete_list(self, job: str) -> IrisListing:
        """From which a job that is missing does not exist; otherwise `CouldNotLook`."""
        listing = self._list(job)
        if listing.partial:
            raise CouldNotLook(f"Iris' list is incomplete: {listing.partial}")
        return listing

    def tail(self, job: str, lines: int) -> str:
        """The log of the job and its children."""
        text = self._iris.log(job, lines)
        if text is None or (
            not text.strip() and root_of(self._complete_list(job).rows, job) is None
        ):
            raise FileNotFoundError(2, "Iris has no such job", job)
        return text

    def origin(self, job: str) -> Origin:
        """The owner is the first part of the name; only the contract states our user in Iris."""
        user = job.strip("/").split("/", 1)[0]
        return Origin(user, user == self._user if self._user else None)

    def tasks(self, job: str) -> tuple[TaskEnd, ...]:
        answer = self._iris.ask(detail_argv(self._iris.generation, job))
        if answer.code:
            return ()
        return summary_tasks(answer.text) or described_tasks(answer.text)

    def live_namesakes(self, job: str) -> tuple[str, ...]:
        """Other live jobs of its user with the same name before the time that Iris appends."""
        user, name = job.strip("/").split("/", 1)
        stem = _TIME_SUFFIX.sub("", name)
        listing = self._iris.list(user, stem, is_full_name=False)
        if listing.partial:
            raise CouldNotLook(f"Iris' list is incomplete: {listing.partial}")
        same = {
            row.id: iris_state_of(row.word)
            for row in listing.rows
            if row.id != job and _TIME_SUFFIX.sub("", row.id) == f"/{user}/{stem}"
        }
        return tuple(each for each, state in same.items() if state.live)

    def stop(self, job: str) -> None:
        answer = self._iris.ask(stop_argv(self._iris.generation, job))
        if answer.code:
            raise self._iris.trouble("job stop", answer)
        # it names the jobs that it stops; of one that has ended it reports as of none
        if job not in answer.text and root_of(self._complete_list(job).rows, job) is None:
            raise WrongUse(f"Iris has no job {job}, so nothing was stopped.")


def summary_tasks(text: str) -> tuple[TaskEnd, ...]:
    """From `job summary --json`; empty for anything else."""
    start = text.find("{")
    try:
        document = read_json(text[start:]) if start >= 0 else None
    except ValueError:
        return ()
    tasks = document.get("tasks") if isinstance(document, dict) else None
    if not isinstance(document, dict) or not isinstance(tasks, list):
        return ()
    limit = _number_or_none(document.get("memory_limit_mb") or document.get("memory_mb"))
    return tuple(_task(each, limit) for each in tasks if isinstance(each, dict))


def _task(task: dict[str, Any], limit: float | None) -> TaskEnd:
    word, code = str(task.get("state", "")), task.get("exit_code")
    milliseconds = _number_or_none(task.get("duration_ms"))
    return TaskEnd(
        name=str(task.get("index", task.get("task_id", ""))),
        state=word,
        exit_code=code if isinstance(code, int) else None,
        seconds=milliseconds / 1000 if milliseconds else None,
        peak_mb=_number_or_none(task.get("memory_peak_mb")),
        limit_mb=_number_or_none(task.get("memory_limit_mb")) or limit,
        failed=_is_failure(word),
    )


def _number_or_none(value: Any) -> float | None:
    return (
        float(value)
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0
        else None
    )


def described_tasks(text: str) -> tuple[TaskEnd, ...]:
    """From the table of `job describe`, whose columns begin where their headings do."""
    lines = text.splitlines()
    at = next((n for n, line in enumerate(lines) if _TABLE.match(line)), None)
    if at is None:
        return ()
    heads = [(tasks[0], tasks.start()) for tasks in re.finditer(r"\S+(?: \S+)*", lines[at])]
    tasks = []
    for line in lines[at + 1 :]:
        first = re.match(r"\s*(\d+) +(\w+) +(-?\d+|-)", line)
        if not first:
            continue
        peak = _MIB.search(_cell(heads, "PEAK MEM", line))
        size = float(peak[1]) * _TIMES[peak[2][0].lower()] if peak else None
        code = int(first[3]) if first[3] != "-" else None
        tasks.append(
            TaskEnd(
                name=first[1],
                state=first[2],
                exit_code=code,
                peak_mb=size,
                failed=_is_failure(first[2]),
            )
        )
    return tuple(tasks)


def _cell(heads: Sequence[tuple[str, int]], name: str, line: str) -> str:
    starts = [*(start for _, start in heads), len(line)]
    return next(
        (line[starts[n] : starts[n + 1]] for n, (head, _) in enumerate(heads) if head == name), ""
    )


def _is_failure(word: str) -> bool:
    state = iris_state_of(word)
    return state.is_final and state is not JobState.SUCCEEDED
