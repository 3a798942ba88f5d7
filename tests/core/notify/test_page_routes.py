"""Which channel takes what, what waits for the morning, and what is one message."""

from datetime import timedelta

import pytest
from pydantic import ValidationError

from builders import MINUTE, NOON
from herorun.core.babysit.actions import Escalate
from herorun.core.babysit.alert import Alert, AlertState
from herorun.core.babysit.policy import decide
from herorun.core.canonical_json import timestamp
from herorun.core.check import Gate, Response, check
from herorun.core.contract.notify import Notify
from herorun.core.event import Done
from herorun.core.evidence import Gaps
from herorun.core.finding import Verdict
from herorun.core.journal import fold
from herorun.core.notify.page_policy import (
    GROUPED_RESULT,
    SENT_RESULT,
    Page,
    PageBudget,
    Urgency,
    sending_key,
    urgency,
)
from herorun.core.notify.page_routes import group_pages, group_title, is_held, takers
from herorun.core.recovery.policy import Ledger, RecoveryPolicy
from wording import mentions

ROUTES = Notify(
    page=("PAGER",), targets=("CHAT",), inform=("MAIL",), secondary=("OTHER",), kinds=("terminal",)
)
HOUR = 60 * MINUTE


@pytest.mark.parametrize(
    ("urgency", "names"),
    [
        (Urgency.MUST, ("PAGER", "CHAT", "terminal", "MAIL")),
        (Urgency.AGAIN, ("PAGER", "CHAT", "terminal", "MAIL")),
        (Urgency.SECOND, ("OTHER", "PAGER", "CHAT", "terminal", "MAIL")),
        (Urgency.NEWS, ("MAIL", "CHAT", "terminal")),
        (Urgency.INFORM, ("MAIL", "CHAT", "terminal")),
    ],
)
def test_who_takes_what(urgency, names):
    assert takers(urgency, ROUTES) == names


def test_warnings_go_out_only_where_a_channel_is_for_them():
    assert takers(Urgency.INFORM, Notify(targets=("CHAT",))) == ()
    assert takers(Urgency.NEWS, Notify(targets=("CHAT",))) == ("CHAT",)


def test_a_pager_is_not_woken_for_information():
    assert takers(Urgency.NEWS, Notify(page=("PAGER",))) == ()


@pytest.mark.parametrize(
    ("hours", "clock", "waits"),
    [
        ("21:00-05:30", NOON, False),
        ("21:00-05:30", NOON + 9 * HOUR, True),
        ("21:00-05:30", NOON + 17 * HOUR, True),
        ("21:00-05:30", NOON + 17.5 * HOUR, False),
        ("11:00-13:00", NOON, True),
        ("12:00-13:00", NOON, True),
        ("11:00-12:00", NOON, False),
        (None, NOON, False),
    ],
)
def test_information_waits_for_the_end_of_the_quiet_hours(hours, clock, waits):
    assert is_held(Urgency.INFORM, hours, clock) is waits
    assert is_held(Urgency.NEWS, hours, clock) is waits
    for page in (Urgency.MUST, Urgency.SECOND, Urgency.AGAIN):
        assert not is_held(page, hours, clock)


@pytest.mark.parametrize("hours", ["22-6", "24:00-06:00", "06:00-06:00", "at night"])
def test_hours_that_are_none_are_refused_with_an_example(hours):
    with pytest.raises(ValidationError) as error:
        Notify(quiet_hours=hours)
    assert mentions(str(error.value), "UTC", "21:00-05:30")


def page(key, urgency=Urgency.MUST, at=NOON):
    return Page(key, key, "words", urgency, at)


def test_what_waits_for_the_same_channels_is_one_message():
    pages = [
        page("a"),
        page("b", Urgency.INFORM),
        page("c", Urgency.AGAIN),
        page("d", Urgency.NEWS),
        page("e", Urgency.SECOND),
    ]
    groups = [[each.key for each in group] for group in group_pages(pages, ROUTES)]
    assert groups == [["a", "c"], ["d", "b"], ["e"]]
    assert group_title(pages[:1]) == "a"
    assert group_title(pages[:2]) == "a; b"
    assert mentions(group_title(pages), "a; b", "3 more")


def test_one_message_uses_the_budget_once():
    events = [
        Done(NOON, sending_key("CHAT", f"tell/{n}"), 1, result=GROUPED_RESULT if n else SENT_RESULT)
        for n in range(3)
    ]
    pages = fold(events).pages
    assert pages.has_room("CHAT", PageBudget(2, 2), NOON + MINUTE)
    assert pages.settled_keys == {"tell/0", "tell/1", "tell/2"}


def test_an_incident_began_when_its_alert_did():
    began = f"@{timestamp(NOON)}"
    for key in (
        f"tell/nan[a@b]{began}/firing",
        f"escalate/nan[loss]{began}",
        f"again/nan{began}/2",
    ):
        assert page(key, at=NOON + HOUR).since == NOON, key
    assert page("post/submit/tiny-1", at=NOON).since == NOON


# --- the second person ----------------------------------------------------------------------------


def make(name, response):
    def ask(gaps: Gaps) -> Verdict:
        raise NotImplementedError

    ask.__name__ = name
    return check(Gate.HEALTH, response)(ask)


CHECKS = {c.name: c for c in (make("stalled", Response.ESCALATE), make("slow", Response.WARN))}


def unanswered_actions(
    check="stalled", age=30 * MINUTE, acked_keys=frozenset(), after=30 * MINUTE, keys=()
):
    alert = Alert(
        check=check,
        subject="tiny-1",
        since=NOON,
        seen=NOON + age,
        state=AlertState.FIRING,
        message="no step",
    )
    policy = RecoveryPolicy(second_after=after)
    ledger = Ledger(
        acked=frozenset({alert.key}) if acked_keys else acked_keys, done=frozenset(keys)
    )
    actions = decide({alert.id: alert}, CHECKS, policy, ledger, NOON + age)
    return [each for each in actions if urgency(each, CHECKS) is Urgency.SECOND]


def test_what_nobody_acknowledged_in_time_goes_to_a_second_person_once():
    (question,) = unanswered_actions()
    assert isinstance(question, Escalate)
    assert mentions(question.title, "30m", "stalled")
    assert unanswered_actions(keys=[question.key]) == []
    assert unanswered_actions(age=5 * HOUR, keys=[question.key]) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"age": 29 * MINUTE},
        {"acked_keys": True},
        {"check": "slow"},
        {"after": None},
    ],
)
def test_otherwise_nobody_else_is_woken(changes):
    assert unanswered_actions(**changes) == []


def test_the_second_person_is_never_folded():
    question = page("again/x@2026-01-01T12:00:00Z/unacknowledged", Urgency.SECOND)
    assert not fold([]).pages.is_folded(
        question, "OTHER", PageBudget(1, 1), NOON + timedelta(days=1)
    )
