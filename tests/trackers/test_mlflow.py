"""The MLflow tracker, on MLflow's own server."""

import math
import socket
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, strategies as st
from pydantic import ValidationError

from builders import answer
from herorun.adapters import connect
from herorun.checks.health.resume_mismatch import resume_mismatch
from herorun.core.detectors.instances import boundaries_of
from herorun.core.detectors.names import Names
from herorun.core.detectors.pipeline import fold_rows, summarise
from herorun.core.detectors.state import MetricsState
from herorun.core.evidence import History, TrackerState
from herorun.core.finding import Outcome
from herorun.core.ports import Place, Row
from herorun.trackers import mlflow as adapter
from herorun.trackers._mlflow.history import (
    Mark,
    MetricPage,
    merge_rows,
    sample_of,
    take,
    verify_page,
)
from herorun.trackers.mlflow import Mlflow, Options
from ports.tracker_suite import LoggedRow, TrackerBench, TrackerSuite, drain
from services.mlflow_service import MlflowExperiment
from trackers.test_wandb_resume import instance
from wording import mentions

PLACE = Place("tiny", "/nowhere", "/nowhere", "/nowhere")
LOSS = "train/loss"


def tracker(experiment: MlflowExperiment, **changes: Any) -> Mlflow:
    fields = {
        "project": experiment.name,
        "id": "tiny",
        "name": "tiny",
        "uri": experiment.service.url,
        **changes,
    }
    return Mlflow(Options.model_validate(fields))


def raw(*points: tuple[int, int, float]) -> list[dict[str, Any]]:
    """(milliseconds, step, value) as MLflow sends them."""
    return [{"key": "x", "timestamp": at, "step": step, "value": v} for at, step, v in points]


# --- rows, put together --------------------------------------------------------------------------


def test_metrics_of_a_step_are_one_row_and_a_step_that_comes_again_is_another() -> None:
    loss = MetricPage("loss", Mark(), raw((1, 0, 3.0), (3, 1, 2.0), (9, 1, 2.5)), "")
    rate = MetricPage("lr", Mark(), raw((2, 0, 0.1), (3, 1, 0.1), (9, 1, 0.1)), "")

    points, _, problems = take([loss, rate])

    assert [(row.step, dict(row.values)) for row in merge_rows(points)] == [
        (0, {"loss": 3.0, "lr": 0.1}),
        (1, {"loss": 2.0, "lr": 0.1}),
        (1, {"loss": 2.5, "lr": 0.1}),
    ]
    assert problems == []


def test_a_metric_with_a_further_page_holds_the_others_back() -> None:
    """Else their later steps would come before its own, as after a rollback."""
    long = MetricPage("loss", Mark(), raw((1, 0, 3.0), (2, 1, 2.0)), "more")
    short = MetricPage("lr", Mark(), raw((1, 0, 0.1), (2, 1, 0.1), (3, 2, 0.1)), "")

    points, marks, _ = take([long, short])

    assert max(point.step for point in points) == 1
    assert marks["loss"] == Mark("more")
    assert (marks["lr"].token, marks["lr"].points) == ("", 2)


def test_a_history_whose_read_points_moved_is_another_one() -> None:
    page = raw((1, 0, 3.0), (2, 1, 2.0))
    mark = Mark("", 2, sample_of(page[1]))
    assert verify_page(MetricPage("loss", mark, [*page, *raw((3, 2, 1.0))], "")).raw
    with pytest.raises(Exception, match=r"^$"):
        verify_page(MetricPage("loss", mark, [*raw((0, 7, 9.0)), *page], ""))


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["step", "timestamp", "value", "key"]), inner, max_size=4)
    ),
    max_leaves=8,
)


@given(points=st.lists(ANYTHING, max_size=4), following=st.sampled_from(["", "more"]))
def test_whatever_a_page_holds_each_point_is_a_row_or_a_problem(
    points: list[Any], following: str
) -> None:
    rows, marks, problems = take([MetricPage("loss", Mark(), points, following)])
    assert len(rows) + len(problems) <= len(points)
    assert following or len(rows) + len(problems) == len(points)
    assert following or marks["loss"].points == len(points)
    assert all(row.step >= 0 for row in merge_rows(rows))


@pytest.mark.parametrize(
    "wrong",
    [
        {"uri": "databricks"},
        {"uri": "http://me:secret@host"},
        {"token_env": "ghp_0123-secret"},
        {"id": "o'brien"},
        {"resume_from": "x"},
    ],
)
def test_what_cannot_be_asked_for_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        Options.model_validate({"project": "hero", "id": "tiny", "name": "tiny", **wrong})


def test_without_an_address_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    one = Mlflow(Options(project="hero", id="tiny", name="tiny"))
    for text in ("", "databricks", "http://me:secret@host"):
        monkeypatch.setenv("MLFLOW_TRACKING_URI", text)
        identity = one.identify()
        assert identity.state is TrackerState.UNREACHABLE
        assert mentions(identity.why, "MLFLOW_TRACKING_URI", "uri") and "secret" not in identity.why


# --- on the server -------------------------------------------------------------------------------


class Bench:
    def __init__(self, experiment: MlflowExperiment) -> None:
        self.experiment = experiment
        self.at = ""

    def connect(self) -> Mlflow:
        return tracker(self.experiment)

    def log(self, *rows: LoggedRow) -> None:
        self.at = self.at or self.experiment.begin()
        self.experiment.log(self.at, *((step, _as_text(values)) for step, values in rows))

    def replace(self, *rows: LoggedRow) -> None:
        self.experiment.delete(self.at)
        self.at = ""
        self.log(*rows)

    def spoil(self, text: str) -> None:
        tag = {"run_id": self.at, "key": "note", "value": text}
        self.experiment.service.call("runs/set-tag", tag)
        self.experiment.log(self.at, (-1, {"note": 1.0}))

    def cut_off(self) -> None:
        self.experiment.service.fault(url=self.experiment.name, status=500)


def _as_text(values: Any) -> dict[str, Any]:
    """As MLflow's client writes what JSON has no number for."""
    words = {math.inf: "Infinity", -math.inf: "-Infinity"}
    return {name: "NaN" if math.isnan(v) else words.get(v, v) for name, v in values.items()}


@pytest.mark.thorough
class TestMlflow(TrackerSuite):
    client_variables = ("MLFLOW_TRACKING_URI", "MLFLOW_EXPERIMENT_NAME", "MLFLOW_RUN_ID")

    @pytest.fixture
    def bench(self, mlflow: MlflowExperiment) -> TrackerBench:
        return Bench(mlflow)

    def test_a_large_source_arrives_whole(
        self, bench: TrackerBench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Large in pages: a real server takes seconds of CPU for as many rows as a file has."""
        monkeypatch.setattr(adapter, "FAR", 250)
        monkeypatch.setattr(adapter, "NEAR", 100)
        bench.log(*((step, {"loss": 1.0}) for step in range(3_000)))
        assert [row.step for row in drain(bench.connect())[0]] == list(range(3_000))


@pytest.mark.thorough
def test_a_run_is_known_by_its_tag_and_read_as_it_stands(mlflow: MlflowExperiment) -> None:
    assert tracker(mlflow).identify().state is TrackerState.ABSENT  # as is the experiment
    other = mlflow.begin(tag="other", name="tiny")
    assert tracker(mlflow).identify().state is TrackerState.ABSENT

    run = mlflow.begin()
    param = {"run_id": run, "key": "lr", "value": "0.1"}
    mlflow.service.call("runs/log-parameter", param)
    mlflow.log(run, (0, {LOSS: 3.0, "system/gpu": 1.0}), (4, {LOSS: 2.0}))
    mlflow.log(run, (90, {"system/gpu": 1.0}))  # under a counter of its own
    identity = tracker(mlflow).identify()

    assert (identity.state, identity.why, identity.id) == (TrackerState.RUNNING, "", "tiny")
    assert (identity.display_name, identity.namesakes) == ("tiny", (other,))
    assert (identity.last_step, identity.config) == (4, {"lr": 0.1})
    assert identity.url.endswith(f"/#/experiments/{mlflow.id}/runs/{run}")
    assert [row.step for row in drain(tracker(mlflow))[0]] == [0, 4]
    assert tracker(mlflow, id=run).identify().state is TrackerState.RUNNING
    assert tracker(mlflow, id="0" * 32).identify().state is TrackerState.ABSENT


@pytest.mark.thorough
def test_each_status_of_mlflow_is_one_of_our_states(mlflow: MlflowExperiment) -> None:
    run = mlflow.begin()
    for status, state in (("FINISHED", "finished"), ("FAILED", "failed"), ("KILLED", "failed")):
        mlflow.end(run, status)
        assert tracker(mlflow).identify().state == state
    mlflow.delete(run)
    assert tracker(mlflow).identify().state is TrackerState.DELETED
    with pytest.raises(OSError, match="deleted") as error:
        tracker(mlflow).read("")
    assert not isinstance(error.value, FileNotFoundError)
    mlflow.begin()
    assert tracker(mlflow).identify().state is TrackerState.RUNNING
    mlflow.service.call("experiments/delete", {"experiment_id": mlflow.id})
    assert tracker(mlflow).identify().state is TrackerState.UNREACHABLE


@pytest.mark.thorough
def test_two_runs_with_the_tag_are_no_answer(mlflow: MlflowExperiment) -> None:
    first, second = mlflow.begin(), mlflow.begin()
    identity = tracker(mlflow).identify()
    assert identity.state is TrackerState.UNREACHABLE
    assert mentions(identity.why, "2", "tag", *sorted((first, second)))
    with pytest.raises(OSError, match="which one"):
        tracker(mlflow).read("")


@pytest.mark.thorough
def test_both_rows_of_a_replayed_step_come_and_the_run_is_heard_of(
    mlflow: MlflowExperiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run itself tells of its highest step alone, which the replay has not reached again."""
    run = mlflow.begin()
    mlflow.log(run, *((step, {LOSS: 3.0}) for step in range(6)))
    _, cursor, _ = drain(tracker(mlflow))
    old = tracker(mlflow).identify().heartbeat
    mlflow.time += 1_800_000
    mlflow.log(run, (3, {LOSS: 3.5}), (4, {LOSS: 3.5}))

    batch = tracker(mlflow).read(cursor)
    assert ([row.step for row in batch.rows], batch.restarted) == ([3, 4], False)
    assert [row.step for row in drain(tracker(mlflow))[0]] == [0, 1, 2, 3, 4, 5, 3, 4]
    identity = tracker(mlflow).identify()
    assert (identity.last_step, identity.state) == (5, TrackerState.RUNNING)
    age = datetime.fromisoformat(identity.heartbeat) - datetime.fromisoformat(old)
    assert age >= timedelta(minutes=29)
    monkeypatch.setattr(adapter, "MAX_PAGES", 0)
    assert tracker(mlflow).identify().heartbeat == ""  # nobody looked far enough


@pytest.mark.thorough
def test_a_long_history_comes_whole_by_small_pages(
    mlflow: MlflowExperiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adapter, "FAR", 7)
    monkeypatch.setattr(adapter, "NEAR", 3)
    run = mlflow.begin()
    mlflow.log(
        run, *((step, {LOSS: 3.0} | ({"lr": 0.1} if step % 5 else {})) for step in range(40))
    )
    rows, cursor, _ = drain(tracker(mlflow))
    assert [row.step for row in rows] == list(range(40))
    for step in range(40, 52):
        mlflow.log(run, (step, {LOSS: 2.0}))
        new, cursor, problems = drain(tracker(mlflow), cursor)
        assert (new, problems) == ([Row(step, {LOSS: 2.0}, new[0].at)], [])
    late = {"run_id": run, "key": LOSS, "value": 9.0, "timestamp": mlflow.time - 60, "step": 0}
    mlflow.service.call("runs/log-metric", late)  # stands before all that was read
    batch = tracker(mlflow).read(cursor)
    assert batch.restarted and batch.rows[0].values == {LOSS: 9.0}


@pytest.mark.thorough
def test_a_row_of_tomorrow_is_not_younger_than_now(mlflow: MlflowExperiment) -> None:
    run = mlflow.begin()
    mlflow.time += 86_400_000
    mlflow.log(run, (0, {LOSS: 3.0}))
    changed_at = tracker(mlflow).read("").changed_at
    assert changed_at is not None and changed_at <= datetime.now(UTC)


# --- faults --------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_the_login_of_the_variables_is_sent_and_a_wrong_one_is_no_absence(
    mlflow: MlflowExperiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    mlflow.begin()
    lock = {"url": mlflow.name, "authorization": "Bearer right-token"}
    mlflow.service.tell("lock", **lock)
    for name, value, state in (
        ("NONE", "", TrackerState.UNREACHABLE),
        ("TOKEN", "wrong-token", TrackerState.UNREACHABLE),
        ("TOKEN", "right-token", TrackerState.RUNNING),
    ):
        monkeypatch.setenv(f"MLFLOW_TRACKING_{name}", value)
        identity = tracker(mlflow).identify()
        assert identity.state is state
        assert "wrong-token" not in identity.why
        if state is TrackerState.UNREACHABLE:
            assert mentions(identity.why, "401", "token_env")
    monkeypatch.delenv("MLFLOW_TRACKING_TOKEN")
    monkeypatch.setenv("OURS", "right-token")
    assert tracker(mlflow, token_env="OURS").identify().state is TrackerState.RUNNING
    mlflow.service.tell("lock", url=mlflow.name, authorization="Basic bWU6c2VjcmV0")
    monkeypatch.setenv("MLFLOW_TRACKING_USERNAME", "me")
    monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", "secret")
    assert tracker(mlflow).identify().state is TrackerState.RUNNING


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ({"status": 403}, "forbids"),
        ({"status": 404, "body": "<html>nothing here</html>"}, "not MLflow's"),
        ({"status": 302}, "redirects"),
        ({"status": 200, "body": "<html>log in</html>"}, "not MLflow's"),
        ({"status": 200, "body": '{"experiment": {}}'}, "not MLflow's"),
        ({"status": 500, "body": '{"message": "database is locked"}'}, "database is locked"),
    ],
)
def test_a_fault_is_no_answer_and_has_a_reason(
    mlflow: MlflowExperiment, fault: dict[str, Any], why: str
) -> None:
    mlflow.begin()
    mlflow.service.fault(url=mlflow.name, **fault)
    identity = tracker(mlflow).identify()
    assert (identity.state, identity.display_name) == (TrackerState.UNREACHABLE, "")
    assert why in identity.why
    with pytest.raises(OSError, match=r".") as error:
        tracker(mlflow).read("")
    assert not isinstance(error.value, FileNotFoundError)


@pytest.mark.thorough
def test_a_busy_server_is_asked_again_and_then_named(mlflow: MlflowExperiment) -> None:
    mlflow.begin()
    mlflow.service.fault(url=mlflow.name, status=429, times=2)
    assert tracker(mlflow).identify().state is TrackerState.RUNNING
    mlflow.service.fault(url=mlflow.name, status=429)
    assert mentions(tracker(mlflow).identify().why, "too often", "429")


@pytest.fixture
def silent() -> Iterator[str]:
    """An address that takes connections and says nothing."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def test_a_server_that_is_down_or_silent_is_no_answer(silent: str) -> None:
    fields = {"project": "hero", "id": "tiny", "name": "tiny", "uri": silent, "timeout": "200ms"}
    one = connect("trackers", "mlflow", {}, PLACE, fields)
    with pytest.raises(OSError, match="within"):
        one.read("")
    down = Mlflow(Options.model_validate({**fields, "uri": "http://127.0.0.1:1"}))
    assert mentions(down.identify().why, "reached", "running")


# --- a resume ------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize(("factor", "outcome"), [(1.0, Outcome.PASS), (1.015, Outcome.FAIL)])
def test_steps_that_were_trained_twice_are_compared(
    mlflow: MlflowExperiment, factor: float, outcome: Outcome
) -> None:
    """150 steps, then a resume from step 120 up to step 160: nothing of it is dropped."""
    run = mlflow.begin()
    start = mlflow.time
    mlflow.log(run, *((step, {LOSS: 2.0 + 0.002 * (step % 3)}) for step in range(150)))
    again = mlflow.time = mlflow.time + 600_000
    second = ((step, {LOSS: factor * (2.0 + 0.002 * (step % 3))}) for step in range(120, 160))
    mlflow.log(run, *second)
    history = History(
        initialised=True, instances=(instance(0, at(start), 0), instance(1, at(again), 120))
    )

    rows = drain(tracker(mlflow))[0]
    folded_state = fold_rows(
        MetricsState(), rows, Names(), seen_at=datetime.now(UTC), boundaries=boundaries_of(history)
    )
    metrics = summarise(folded_state, Names())

    assert len(rows) == 190
    assert metrics is not None and (metrics.instance, metrics.first_step) == ("tiny-1", 121)
    assert answer(resume_mismatch, metrics, history).outcome is outcome


def at(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
