"""MLflow's tracking server, read by its REST API: no client of MLflow's is needed.

MLflow creates each run's id, so a contract cannot state it before the launch. The run is found by a
tag that the job's program sets: `herorun.run`, with the contract's `id` as its value. If a second
run has the tag, a person must decide which one it is. MLflow does not detect crashes: a run stays
RUNNING until its own process ends it. The time of the last logged value shows whether a run is
live.
"""

import os
import re
from datetime import datetime, timedelta
from typing import Annotated, Any

from herorun.core.contract import Duration
from herorun.core.evidence import TrackerIdentity, TrackerState
from herorun.core.finding import count, few
from herorun.core.identity.client_variables import contradiction, describe_unstated_key, same_server
from herorun.core.lazy_pydantic import Field
from herorun.core.lazy_regex import lazy_regex
from herorun.core.plan import TrackerRun
from herorun.core.ports import AdapterOptions, Place, Rows, Tracker
from herorun.core.trust import NeedsTrust
from herorun.system.clock import now
from herorun.trackers._mlflow.client import NOT_MLFLOW, MlflowClient
from herorun.trackers._mlflow.history import (
    ChangedHistory,
    Mark,
    MetricPage,
    decode_cursor,
    encode,
    merge_rows,
    take,
    utc,
    verify_page,
)
from herorun.trackers._mlflow.runs import MlflowRun, ids_of, plain_parameter, run_of

TAG = "herorun.run"
URI = "MLFLOW_TRACKING_URI"
EXPERIMENT = "MLFLOW_EXPERIMENT_NAME"
RUN = "MLFLOW_RUN_ID"
MAX_METRICS = 500  # of a run: each takes a request at each query
FAR, NEAR = 25_000, 1_000  # points of a page: while catching up, and of what is read at each query
MAX_RUNS = 100  # runs with the tag or the name that are queried
KEPT_PROBLEMS = 20
QUIET = timedelta(minutes=5)  # without a new value: then the history's end is queried
MAX_PAGES = 80  # of the history that is read for that
_SERVER = r"https?://[^\s@/?#]+(?:/[^\s@?#]*)?"  # who asks stands in variables, not in here
_VARIABLE = r"[A-Za-z_][A-Za-z0-9_]*"
_WORD = r"^[^'\"`\\%]+$"  # MLflow's filters have no way to quote these
_RUN_ID = lazy_regex(r"[0-9a-f]{32}")
# an answer of another form
_UNREADABLE = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError)


class Options(AdapterOptions):
    project: str = Field(
        min_length=1, pattern=_WORD, description="The experiment that the run reports to, by name."
    )
    id: str = Field(
        min_length=1,
        pattern=_WORD,
        description=f"Value of the tag `{TAG}` of the run, or an id of MLflow's own.",
    )
    name: str = Field(min_length=1, pattern=_WORD, description="Name of the run in MLflow.")
    uri: Annotated[str | None, NeedsTrust()] = Field(
        None,
        pattern=f"^{_SERVER}$",
        description="The server's http(s) address; by default MLFLOW_TRACKING_URI.",
    )
    token_env: Annotated[str, NeedsTrust(("uri",))] = Field(
        "MLFLOW_TRACKING_TOKEN",
        pattern=f"^{_VARIABLE}$",
        description="Environment variable that holds a token, sent as `Authorization: Bearer`.",
    )
    username_env: Annotated[str, NeedsTrust(("uri",))] = Field(
        "MLFLOW_TRACKING_USERNAME",
        pattern=f"^{_VARIABLE}$",
        description="Environment variable that holds the user name, if there is no token.",
    )
    password_env: Annotated[str, NeedsTrust(("uri",))] = Field(
        "MLFLOW_TRACKING_PASSWORD",
        pattern=f"^{_VARIABLE}$",
        description="Environment variable that holds its password.",
    )
    timeout: Duration = Field(timedelta(seconds=20), description="Timeout of one request.")


def connect(options: Options, place: Place) -> Tracker:
    return Mlflow(options)


class Mlflow:
    """One run of one experiment."""

    client_variables = (URI, EXPERIMENT, RUN)

    def __init__(self, options: Options) -> None:
        self._options = options
        self._client: MlflowClient | None = None

    def client_problem(self, name: str, value: str, run: TrackerRun, forks: bool) -> str:
        options = self._options
        uri = options.uri or os.environ.get(URI, "")
        if name == URI and not uri:
            return describe_unstated_key("uri")
        if name == URI and not same_server(value, uri):
            return contradiction("uri", uri)
        if name == EXPERIMENT and value != options.project:
            return contradiction("project", options.project)
        by_id = name == RUN and _RUN_ID.fullmatch(options.id)
        return contradiction("id", options.id) if by_id and value != options.id else ""

    # --- identity ------------------------------------------------------------------------------

    def identify(self) -> TrackerIdentity:
        """The run with the tag, and the other runs with its name. Unreachable if several have the
        tag.
        """
        try:
            return self._identity()
        except (OSError, *_UNREADABLE) as error:
            why = str(error) if isinstance(error, OSError) else self._unreadable()
            return self._in_state(TrackerState.UNREACHABLE, why=why)

    def _identity(self) -> TrackerIdentity:
        try:
            experiment = self._experiment()
        except FileNotFoundError:  # the job's client makes it
            return self._in_state(TrackerState.ABSENT)
        runs = self._search(experiment, f"attributes.run_name = '{self._options.name}'")
        try:
            run = self._run(experiment)
        except FileNotFoundError:
            others = [other for other in runs if other.state is not TrackerState.DELETED]
            return self._in_state(TrackerState.ABSENT, namesakes=ids_of(others))
        others = [
            other
            for other in runs
            if other.state is not TrackerState.DELETED and other.id != run.id
        ]
        beat = self._last_heartbeat(run)
        return self._in_state(
            run.state,
            display_name=run.name,
            namesakes=ids_of(others),
            last_step=run.last_step,
            heartbeat=beat.isoformat() if beat else "",
            config={name: plain_parameter(value) for name, value in run.params.items()},
            url=f"{self._ask.uri}/#/experiments/{run.experiment}/runs/{run.id}",
        )

    def _in_state(self, state: TrackerState, **facts: Any) -> TrackerIdentity:
        return TrackerIdentity(state=state, id=self._options.id, service="MLflow", **facts)

    def _last_heartbeat(self, run: MlflowRun) -> datetime | None:
        """When the job last logged. The run itself reports only its highest steps: while a resume
        repeats steps, only the history shows the time.
        """
        newest = run.newest
        if run.state is not TrackerState.RUNNING or not run.metrics:
            return newest
        if newest is not None and now() - newest < QUIET:
            return newest
        probe = max(run.metrics, key=lambda name: (run.metrics[name], name))
        mark, last = Mark(), None
        for _ in range(MAX_PAGES):
            page = self._page(run.id, probe, mark, FAR)
            last = page.raw[-1] if page.raw else last
            if not page.following:
                times = [at for at in (newest, utc((last or {}).get("timestamp"))) if at]
                return max(times, default=None)
            mark = Mark(page.following)
        return None  # unknown: a too early time would make a live run look ended

    # --- rows ----------------------------------------------------------------------------------

    def read(self, cursor: str) -> Rows:
        """The next rows; none only if there are no more. A recreated run, or one with a changed
        history, is read from its start.
        """
        try:
            run = self._run(self._experiment())
            if run.state is TrackerState.DELETED:
                raise OSError(f"MLflow's run {run.id} was deleted: restore it")
            return self._rows(run, cursor)
        except _UNREADABLE:
            raise OSError(self._unreadable()) from None

    def _rows(self, run: MlflowRun, cursor: str) -> Rows:
        names = sorted(name for name in run.metrics)
        if len(names) > MAX_METRICS:
            raise OSError(
                f"MLflow's run {run.id} has {count(len(names), 'metric')}, more than the "
                f"{MAX_METRICS} that are read one by one: log fewer, or also report to a tracker "
                "that writes files"
            )
        marks = decode_cursor(cursor, run.id) if cursor else {}
        is_restart = marks is None
        try:
            pages = [self._next(run.id, name, (marks or {}).get(name, Mark())) for name in names]
        except ChangedHistory:
            is_restart = True
            pages = [self._next(run.id, name, Mark()) for name in names]
        points, next_marks, problems = take(pages)
        if not points and any(page.following for page in pages):
            raise OSError(f"MLflow's run {run.id} has a page of points without an order")
        rows = merge_rows(points)
        times = [row.at for row in rows if row.at]
        return Rows(
            rows=tuple(rows),
            cursor=encode(run.id, next_marks),
            changed_at=min(max(times), now()) if times else None,
            restarted=is_restart,
            problems=tuple(problems[-KEPT_PROBLEMS:]),
        )

    def _next(self, run: str, name: str, mark: Mark) -> MetricPage:
        """The page that holds the first point after the mark. Nearly all reads find few or none."""
        page = verify_page(self._page(run, name, mark, NEAR if mark.points else FAR))
        while page.raw and page.following and page.mark.points == len(page.raw):
            page = self._page(run, name, Mark(page.following), FAR)
        return page

    def _page(self, run: str, name: str, mark: Mark, size: int) -> MetricPage:
        """The page from the mark on."""
        token, position = mark.token, mark.points
        while True:
            query: dict[str, str | int] = {"run_id": run, "metric_key": name, "max_results": size}
            answer = self._ask.get(
                "metrics/get-history", **query, **({"page_token": token} if token else {})
            )
            raw = answer.get("metrics") or []
            following = str(answer.get("next_page_token") or "")
            if position <= len(raw) or not following:
                return MetricPage(name, Mark(token, position, mark.sample), raw, following)
            token, position = following, position - len(raw)

    # --- runs ----------------------------------------------------------------------------------

    @property
    def _ask(self) -> MlflowClient:
        if self._client is None:
            options = self._options
            uri = (options.uri or os.environ.get(URI, "")).rstrip("/")
            if not re.fullmatch(_SERVER, uri):
                raise OSError(
                    "MLFLOW_TRACKING_URI is not set, is not an http(s) address, or contains a "
                    "login: set [tracker] uri"
                )
            name = os.environ.get(options.username_env, "")
            login = (name, os.environ.get(options.password_env, "")) if name else None
            token = os.environ.get(options.token_env, "")
            seconds = max(1, round(options.timeout.total_seconds()))
            self._client = MlflowClient(uri, token, login, seconds)
        return self._client

    def _experiment(self) -> str:
        """The experiment's id; FileNotFoundError if the server has none with the name."""
        name = self._options.project
        experiment = self._ask.get("experiments/get-by-name", experiment_name=name)["experiment"]
        if experiment.get("lifecycle_stage") == "deleted":
            raise OSError(f"MLflow's experiment {name} was deleted: restore it, or name another")
        return str(experiment["experiment_id"])

    def _run(self, experiment: str) -> MlflowRun:
        """The run with the tag; a deleted one only if there is no other."""
        identity = self._options.id
        if _RUN_ID.fullmatch(identity):
            return run_of(self._ask.get("runs/get", run_id=identity)["run"])
        runs = self._search(experiment, f"tags.`{TAG}` = '{identity}'")
        active = [run for run in runs if run.state is not TrackerState.DELETED]
        if len(active) > 1:
            raise OSError(
                f"{len(active)} runs of the experiment {self._options.project} have the tag "
                f"{TAG} = {identity}, so it is unknown which one is the run: take the tag from all "
                f"but one of {few(ids_of(active))}"
            )
        if not runs:
            raise FileNotFoundError(f"MLflow has no run with the tag {TAG} = {identity}")
        return (active or runs)[0]

    def _search(self, experiment: str, query: str) -> list[MlflowRun]:
        body = {
            "experiment_ids": [experiment],
            "filter": query,
            "run_view_type": "ALL",
            "max_results": MAX_RUNS,
        }
        return [run_of(run) for run in self._ask.post("runs/search", body).get("runs") or []]

    def _unreadable(self) -> str:
        return NOT_MLFLOW.format(self._ask.uri)
