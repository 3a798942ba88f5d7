from pathlib import Path

import pytest

from builders import NOON, a_contract, a_plan
from herorun.core.contract import Contract
from herorun.core.evidence import (
    Environment,
    Nothing,
    TrackerAlert,
    TrackerAlerts,
    TrackerEnvironment,
    TrackerIdentity,
    TrackerState,
)
from herorun.core.ports import Rows
from herorun.sources.tracker import (
    read_tracker_alerts,
    read_tracker_environment,
    read_tracker_identity,
)
from herorun.trackers._wandb.environment import CLIENT_VARIABLES
from herorun.trackers.jsonl import JsonLines
from herorun.trackers.wandb_offline import WandbOffline
from screens.notices import Notice
from wording import mentions

NO_PRIOR = Nothing("it is the first launch")
OFFLINE = WandbOffline(Path("/nowhere"))

TRACKER_IDENTITY = TrackerIdentity(state=TrackerState.FINISHED, id="tiny")


class Known:
    """A tracker that knows its run."""

    def read(self, cursor: str) -> Rows:
        return Rows(rows=(), cursor="")

    def identify(self) -> TrackerIdentity:
        return TRACKER_IDENTITY


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in CLIENT_VARIABLES:
        monkeypatch.delenv(name, raising=False)


def tracked_contract(scheduler: str = "local", **command: object) -> Contract:
    return a_contract(tracker={"kind": "wandb"}, scheduler={"kind": scheduler}, command=command)


def test_a_tracker_that_knows_ids_is_asked(tmp_path: Path) -> None:
    assert read_tracker_identity(Known(), a_contract()) is TRACKER_IDENTITY


def test_a_file_of_rows_knows_no_ids(tmp_path: Path, notice: Notice) -> None:
    tracker_identity = read_tracker_identity(JsonLines(tmp_path, "rows"), a_contract())

    assert isinstance(tracker_identity, Nothing) and tracker_identity.why == notice


class Raising(Known):
    """A tracker in which the trainer raised alerts."""

    def __init__(self, *alerts: TrackerAlert) -> None:
        self.raised_alerts = alerts

    def alerts(self, since: int = 0) -> tuple[TrackerAlert, ...]:
        if not self.raised_alerts:
            raise FileNotFoundError("proj.db holds no alerts yet")
        return self.raised_alerts


def test_what_the_trainer_raised_is_read_and_scrubbed() -> None:
    tracker_alert = TrackerAlert(
        number=1,
        attempt="3f2a",
        title="loss is up",
        text="see https://u:hunter2secret@x.example",
        level="error",
        step=9,
        at=NOON,
    )
    tracker_alerts = read_tracker_alerts(Raising(tracker_alert), a_contract())

    assert isinstance(tracker_alerts, TrackerAlerts)
    (alert,) = tracker_alerts.alerts
    assert (alert.title, alert.level, alert.step) == ("loss is up", "error", 9)
    assert "hunter2secret" not in alert.text


def test_a_tracker_without_alerts_or_with_none_yet_is_nothing(
    tmp_path: Path, notice: Notice
) -> None:
    tracker_alerts = read_tracker_alerts(JsonLines(tmp_path, "rows"), a_contract())

    assert isinstance(tracker_alerts, Nothing) and tracker_alerts.why == notice
    assert isinstance(read_tracker_alerts(Raising(), a_contract()), Nothing)


def test_another_tracker_takes_nothing_from_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WANDB_RUN_ID", "other")

    tracker_environment = read_tracker_environment(
        JsonLines(Path("/nowhere"), "rows"), a_contract(), a_plan(), NO_PRIOR
    )

    assert isinstance(tracker_environment, Nothing) and mentions(
        tracker_environment.why, "jsonl", "environment"
    )


def test_what_the_plan_took_from_the_shell_counts_and_the_contract_wins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WANDB_RUN_ID", "of this shell, and not of the plan")
    contract = tracked_contract(env={"WANDB_PROJECT": "stated", "SEED": "7"})
    shell = Environment({"WANDB_RUN_ID": "here", "WANDB_PROJECT": "here"})

    tracker_environment = read_tracker_environment(
        OFFLINE, contract, a_plan(contract, environment=shell), NO_PRIOR
    )

    assert isinstance(tracker_environment, TrackerEnvironment)
    assert tracker_environment.variables == {"WANDB_PROJECT": "stated", "WANDB_RUN_ID": "here"}
    assert list(tracker_environment.problems) == ["WANDB_PROJECT", "WANDB_RUN_ID"]


def test_a_secret_is_passed_on_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_ENTITY", "named")
    contract = tracked_contract("slurm", secrets=["WANDB_ENTITY"])

    tracker_environment = read_tracker_environment(OFFLINE, contract, a_plan(contract), NO_PRIOR)

    problem = "and [tracker] states no entity: state it there, or unset the variable"
    assert tracker_environment == TrackerEnvironment(
        {"WANDB_ENTITY": "named"}, {"WANDB_ENTITY": problem}
    )
