"""Who is told beyond the issue: what matters, what the budget folds, and what reached nobody."""

from datetime import timedelta
from types import SimpleNamespace

import pytest

from builders import MINUTE, NOON
from herorun.core.babysit.actions import Escalate, Relaunch, Tell
from herorun.core.canonical_json import timestamp
from herorun.core.check import Gate, Response, check
from herorun.core.event import Done, Failed, Intended, Ordered, Word
from herorun.core.evidence import Gaps
from herorun.core.finding import Verdict
from herorun.core.journal import fold
from herorun.core.notify.page_policy import (
    FOLDED_RESULT,
    SENT_RESULT,
    PageBudget,
    Urgency,
    is_the_dri,
    sending_key,
    urgency,
)
from herorun.core.ports.posts import SendOnlyNotifier
from wording import mentions

HOUR = 60 * MINUTE
BUDGET = PageBudget(hour=2, day=4)


def make(name, response):
    def ask(gaps: Gaps) -> Verdict:
        raise NotImplementedError

    ask.__name__ = name
    return check(Gate.HEALTH, response)(ask)


CHECKS = {
    c.name: c
    for c in (
        make("crashed", Response.RELAUNCH),
        make("stalled_steps", Response.ESCALATE),
        make("burning", Response.STOP),
        make("slow", Response.WARN),
        make("undelivered_escalation", Response.ESCALATE),
    )
}


def alert_key(name="stalled-steps", at=NOON):
    return f"{name}[tiny-1]@{timestamp(at)}"


def post(key, page=Urgency.MUST, at=NOON, title="what"):
    return Intended(
        at=at, key=key, attempt=1, what=title, body=f"**{title}**\n\nthe words", page=page
    )


def sent_page(key, at=NOON, channel="ALERTS", result=SENT_RESULT):
    return Done(at, sending_key(channel, key), 1, result=result)


def failed_sending(key, at=NOON, channel="ALERTS", is_interrupted=False, why="it answered 500"):
    return Failed(at, sending_key(channel, key), 1, why, is_interrupted)


def pages(*events):
    return fold(events).pages


def waiting(*events):
    return list(pages(*events).waiting)


# --- what matters ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("action", "matters"),
    [
        (Tell(f"tell/{alert_key('crashed')}/firing", "t", "w"), Urgency.MUST),
        (Tell(f"tell/{alert_key('burning')}/firing", "t", "w"), Urgency.MUST),
        (Tell(f"tell/{alert_key()}/firing", "t", "w"), None),  # its escalation says it
        (Escalate(key=f"escalate/{alert_key()}", title="t", why="w"), Urgency.MUST),
        (Escalate(key="escalate/relaunch/tiny-1/budget", title="t", why="w"), Urgency.MUST),
        (Escalate(key=f"again/{alert_key()}/2", title="t", why="w"), Urgency.AGAIN),
        (Tell(f"tell/{alert_key('crashed')}/resolved", "t", "w"), Urgency.NEWS),
        (Tell("tell/tiny-1/finished", "t", "w"), Urgency.NEWS),
        (Tell("tell/tiny-1/day-1", "t", "w"), None),
        (Tell(f"tell/{alert_key('slow')}/firing", "t", "w"), Urgency.INFORM),
        (Tell(f"again/{alert_key('slow')}/1", "t", "w"), Urgency.INFORM),
        (Escalate(key=f"escalate/{alert_key('undelivered-escalation')}", title="t", why="w"), None),
        (Relaunch("relaunch/tiny-1", "tiny-1", "w"), None),  # its announcement says it
    ],
)
def test_what_the_dri_is_notified_of(action, matters):
    assert urgency(action, CHECKS) is matters


# --- what waits -----------------------------------------------------------------------------------


def test_a_page_waits_until_one_channel_has_it():
    key = f"escalate/{alert_key()}"
    assert waiting(post(key)) == [key]
    assert waiting(post(key), failed_sending(key)) == [key]
    assert waiting(post(key), failed_sending(key), sent_page(key, channel="MAIL")) == []


def test_a_post_without_a_page_waits_for_nothing():
    assert waiting(post("tell/tiny-1/day-1", page="")) == []


def test_a_post_that_is_intended_again_is_paged_once():
    key = f"escalate/{alert_key()}"
    assert waiting(post(key), sent_page(key), post(key)) == []


@pytest.mark.parametrize(
    ("key", "order"),
    [
        (f"again/{alert_key()}/1", Ordered(NOON, "dri", Word.ACK, (alert_key(),))),
        (
            "escalate/relaunch/tiny-1/budget",
            Ordered(NOON, "dri", Word.DENY, ("escalate/relaunch/tiny-1/budget",)),
        ),
    ],
)
def test_what_a_person_has_answered_is_not_sent_any_more(key, order):
    assert waiting(post(key), order) == []
    assert waiting(post("tell/tiny-1/finished"), order) == ["tell/tiny-1/finished"]


def test_the_oldest_waits_first():
    late, early = post("tell/a", at=NOON + MINUTE), post("tell/b")
    assert [page.key for page in pages(late, early).in_order] == ["tell/b", "tell/a"]


def test_a_launch_that_did_not_happen_is_not_paged_later():
    key = "post/submit/tiny-1"
    assert waiting(post(key), Failed(NOON, "submit/tiny-1", 1, "no room")) == []


# --- the budget -----------------------------------------------------------------------------------


def two_incidents():
    """A flapping alert, told twice within the hour, and firing a third time."""
    keys = [f"tell/{alert_key(at=NOON + n * MINUTE)}/resolved" for n in range(3)]
    events = [
        e
        for n, key in enumerate(keys[:2])
        for e in (post(key, Urgency.NEWS), sent_page(key, NOON + n * MINUTE))
    ]
    return events, keys[2]


def test_repeats_beyond_the_budget_are_folded():
    incidents, third = two_incidents()
    page = pages(*incidents, post(third, Urgency.NEWS))
    assert page.is_folded(page.waiting[third], "ALERTS", BUDGET, NOON + 2 * MINUTE)
    # has its own budget
    assert not page.is_folded(page.waiting[third], "MAIL", BUDGET, NOON + 2 * MINUTE)
    assert not page.is_folded(page.waiting[third], "ALERTS", BUDGET, NOON + 2 * HOUR)
    assert not page.is_folded(page.waiting[third], "ALERTS", PageBudget(3, 4), NOON + 2 * MINUTE)


def test_the_day_has_its_own_budget():
    incidents, third = two_incidents()
    page = pages(*incidents, post(third, Urgency.NEWS))
    assert page.is_folded(page.waiting[third], "ALERTS", PageBudget(2, 2), NOON + 2 * HOUR)


def test_what_is_new_is_never_folded():
    incidents, _ = two_incidents()
    other = f"tell/{alert_key('stalled-by-infrastructure')}/resolved"
    page = pages(*incidents, post(other, Urgency.NEWS))
    assert not page.is_folded(page.waiting[other], "ALERTS", BUDGET, NOON + 2 * MINUTE)


def test_crashes_and_escalations_are_never_folded():
    keys = [f"escalate/{alert_key(at=NOON + n * MINUTE)}" for n in range(20)]
    page = pages(*(e for key in keys[:-1] for e in (post(key), sent_page(key))), post(keys[-1]))
    assert not page.is_folded(page.waiting[keys[-1]], "ALERTS", BUDGET, NOON + 20 * MINUTE)


def test_the_next_page_tells_what_was_folded_and_the_one_after_does_not():
    again = [f"again/{alert_key()}/{n}" for n in range(7)]
    events = [
        e
        for n, key in enumerate(again)
        for e in (post(key, Urgency.AGAIN, NOON + n * MINUTE), sent_page(key, result=FOLDED_RESULT))
    ]
    key = f"escalate/{alert_key('stalled-by-infrastructure')}"
    page = pages(*events, post(key))
    words = page.message_of(page.waiting[key], sending_key("ALERTS", key))
    assert words == "the words\n\n7 more about stalled-steps[tiny-1] since 2026-01-01 12:00 UTC."
    after = pages(*events, post(key), sent_page(key), post("tell/x"))
    assert after.message_of(after.waiting["tell/x"], "page/ALERTS/tell/x") == "the words"


def test_what_was_folded_is_reported_by_itself_when_nothing_else_is():
    key = f"again/{alert_key()}/1"
    folded_events = [post(key, Urgency.AGAIN), sent_page(key, result=FOLDED_RESULT)]
    page = pages(*folded_events).summary(NOON + HOUR)
    assert mentions(page.title, "1", "2026-01-01 12:00 UTC")
    assert pages(*folded_events, sent_page(page.key)).summary(NOON + HOUR) is None
    assert pages(*folded_events, post("tell/x")).summary(NOON + HOUR) is None  # it tells


def test_sendings_older_than_a_day_are_forgotten():
    page = pages(
        post("tell/x"),
        sent_page("tell/x"),
        post("tell/y"),
        sent_page("tell/y", NOON + timedelta(days=1)),
    )
    assert [one.group for one in page.sent_pages] == ["tell/y"]


def test_a_sending_that_was_interrupted_says_so():
    key = f"escalate/{alert_key()}"
    page = pages(post(key), failed_sending(key, is_interrupted=True))
    assert page.interrupted == {sending_key("ALERTS", key): 1}
    assert mentions(page.message_of(page.waiting[key], sending_key("ALERTS", key)), "repeat")
    assert not mentions(page.message_of(page.waiting[key], sending_key("MAIL", key)), "repeat")


# --- what reached nobody --------------------------------------------------------------------------


def test_what_no_channel_took_is_not_told():
    key = f"escalate/{alert_key()}"
    (missed_page,) = fold(
        [post(key), failed_sending(key, why="ALERTS did not accept it: it answered 500")]
    ).undelivered_alerts
    assert (missed_page.title, missed_page.since) == ("what", NOON)
    assert mentions(missed_page.why, "ALERTS", "answered", "500")


def test_what_was_not_tried_yet_is_not_missed():
    assert fold([post(f"escalate/{alert_key()}")]).undelivered_alerts == ()


def test_news_need_reach_nobody():
    key = f"tell/{alert_key()}/resolved"
    assert fold([post(key, Urgency.NEWS), failed_sending(key)]).undelivered_alerts == ()


def test_an_escalation_that_the_issue_did_not_take_and_a_channel_did_is_reported():
    key = f"escalate/{alert_key()}"
    failure = Failed(NOON, key, 1, "the post failed: no answer")
    assert fold([post(key), failure, sent_page(key)]).undelivered_alerts == ()
    (missed_page,) = fold([post(key, page=""), failure]).undelivered_alerts  # without a channel
    assert mentions(missed_page.why, "post", "failed")


def test_that_something_is_undelivered_is_not_missed_itself():
    key = f"escalate/{alert_key('undelivered-escalation')}"
    assert fold([post(key, page=""), Failed(NOON, key, 1, "no answer")]).undelivered_alerts == ()


# --- the DRI --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dri", "names", "same"),
    [
        (None, [], True),
        ("@dri", ["Dri"], True),
        ("dri@example.org", ["Other", "dri@example.org"], True),
        ("@dri", ["driver"], False),
        ("@dri", ["", None], False),
    ],
)
def test_who_the_dri_is(dri, names, same):
    assert is_the_dri(dri, names) is same


def test_a_notifier_that_only_sends_says_itself_what_is_wrong():
    broken_notifier = SendOnlyNotifier("mail", SimpleNamespace(problem=lambda: "no address"))

    assert broken_notifier.problem() == "no address"
    assert SendOnlyNotifier("mail", SimpleNamespace()).problem() == ""
