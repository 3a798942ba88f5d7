"""The colour, the sentence and the estimate of a report: never better than what was seen."""

from typing import Any

import pytest

from herorun.operations.report.verdict import LEVELS, level_of, no_estimate, verdict_text
from herorun.schemas.status import Status
from screens.states import AWAITED_ROW, ENDED_ALERT, HEALTHY, NAN, SLOW, alert, status
from wording import mentions


def of(run: str = "healthy", **changes: Any) -> Status:
    document: Status = status(HEALTHY, **{"run": run, **changes})[0]
    return document


OVER = NAN.model_copy(update={"state": "resolved"})
STALL = alert("stalled-steps", "critical", "no step for an hour")


@pytest.mark.parametrize(
    ("document", "level"),
    [
        (of(), "good"),
        (of("finished"), "good"),
        (of(alerts=[OVER]), "good"),
        (of("finished", alerts=[ENDED_ALERT]), "warn"),
        (of("finished", alerts=[ENDED_ALERT.model_copy(update={"severity": "info"})]), "good"),
        (of(alerts=[SLOW]), "warn"),
        (of("degraded"), "warn"),
        (of("degraded", missing_evidence=[AWAITED_ROW]), "warn"),
        (of(alerts=[SLOW, NAN]), "bad"),
        (of("starting", alerts=[NAN]), "bad"),
        (of("down"), "bad"),
        (of("down", monitor="stale"), "bad"),
        (of(monitor="stale"), "unknown"),
        (of(monitor="partial", alerts=[SLOW]), "unknown"),
        (of("degraded", monitor="stale"), "unknown"),
        (of(missing_evidence=[AWAITED_ROW]), "unknown"),
        (of("starting"), "unknown"),
        (of("unknown"), "unknown"),
    ],
)
def test_green_is_only_what_was_seen_to_be_well(document: Status, level: str) -> None:
    assert level_of(document) == level


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (of(stage="initialised"), ["none"]),
        (of("down"), ["none", "down"]),
        (of("finished"), ["none", "finished"]),
        (of(alerts=[SLOW, STALL]), ["none", "stalled-steps"]),
        (of("starting", alerts=[STALL]), ["none", "stalled-steps"]),
        (of("starting"), ["unknown", "starting"]),
        (of("unknown"), ["unknown"]),
    ],
)
def test_without_training_there_is_no_estimate(document: Status, reason: list[str]) -> None:
    assert mentions(no_estimate(document), *reason)


@pytest.mark.parametrize(
    "document",
    [
        of(),
        of("degraded"),
        of(alerts=[NAN]),
        of(alerts=[STALL.model_copy(update={"state": "pending"})]),
    ],
)
def test_a_run_that_makes_steps_has_one(document: Status) -> None:
    assert no_estimate(document) == ""


def names_in(document: Status) -> list[str]:
    """The alerts that the sentence names, in its order."""
    text = verdict_text("tiny", document, "~3/4")
    return sorted((a.check for a in document.alerts if a.check in text), key=text.index)


def test_the_sentence_names_what_fires_the_worst_first() -> None:
    more = [alert(name, "warn", "so") for name in ("a-check", "b-check")]
    info = alert("instability-precursor", "info", "so")

    assert names_in(of(alerts=[info, SLOW, NAN, ENDED_ALERT])) == [
        "not-finite",
        "throughput-leak",
        "instability-precursor",
        "stalled-steps",
    ]
    assert names_in(of(alerts=[SLOW, *more, NAN, STALL])) == [
        "not-finite",
        "stalled-steps",
        "a-check",
    ]
    assert mentions(verdict_text("tiny", of(alerts=[SLOW, *more, NAN, STALL]), ""), "2 more")
    assert names_in(of(alerts=[OVER])) == []


def test_the_sentence_says_what_nobody_saw_and_what_a_person_is_asked() -> None:
    blind = of(monitor="stale", missing_evidence=[AWAITED_ROW], questions=["relaunch/tiny-1"])
    unknown, calm = (verdict_text("tiny", document, "~3/4") for document in (blind, of()))

    assert mentions(unknown, "~3/4", "missing", AWAITED_ROW.message, "stale", "decision")
    assert not any(mentions(calm, word) for word in ("stale", "missing", "decision"))


def test_a_healthy_run_whose_rows_could_not_be_read_is_so_by_the_rest() -> None:
    calm, without_rows = (
        verdict_text("tiny", of(), "~3/4", is_blind) for is_blind in (False, True)
    )

    assert mentions(without_rows, "could", "read") and not mentions(calm, "could", "read")


def test_before_the_launch_and_after_the_seal_it_says_so_whatever_fires() -> None:
    assert names_in(of(stage="initialised", alerts=[NAN])) == []
    sealed_memory = verdict_text("tiny", of(stage="sealed", seal_tag="herorun/tiny/seal-1"), "~4/4")
    assert mentions(sealed_memory, "herorun/tiny/seal-1", "~4/4")


def test_every_state_has_a_colour() -> None:
    assert set(Status.model_json_schema()["properties"]["run"]["enum"]) == set(LEVELS)
