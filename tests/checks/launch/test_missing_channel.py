from builders import answer, answers
from herorun.checks.launch.missing_channel import missing_channel
from herorun.core.check import AtRelaunch, Response
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


def test_it_stops_a_launch_and_no_relaunch():
    assert missing_channel.response is Response.BLOCK
    assert missing_channel.at_relaunch is AtRelaunch.SKIP
