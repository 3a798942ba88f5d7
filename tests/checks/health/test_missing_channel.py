from builders import answer, answers
from herorun.checks.health.missing_channel import missing_channel
from herorun.core.check import Response, Topic
from herorun.core.evidence import ChannelState
from herorun.core.finding import Outcome

REASON = "MAIL is not set, or is empty"
STATE = ChannelState({"ALERTS": "", "MAIL": REASON})


def test_a_contract_without_channels_needs_none():
    assert answer(missing_channel).outcome is Outcome.NOT_APPLICABLE


def test_each_name_has_its_answer():
    good, bad = answers(missing_channel, STATE)
    assert (good.subject, good.outcome) == ("ALERTS", Outcome.PASS)
    assert (bad.subject, bad.outcome, bad.message) == ("MAIL", Outcome.FAIL, REASON)


def test_it_warns_about_the_monitor():
    assert (missing_channel.response, missing_channel.topic) == (Response.WARN, Topic.MONITOR)
