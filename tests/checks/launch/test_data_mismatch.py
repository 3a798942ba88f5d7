import pytest

from builders import a_contract, answer, answers
from herorun.checks.launch.data_mismatch import data_mismatch
from herorun.core.check import AtRelaunch
from herorun.core.errors import WrongUse
from herorun.core.evidence import DataFound, Unavailable
from herorun.core.finding import Outcome

DIGEST = "sha256:" + "a" * 64
PINNED_CONTRACT = a_contract(
    data={"manifests": {"mix.json": DIGEST, "gs://data/mix": "generation:7"}}
)
DIGESTS = {"mix.json": DIGEST, "gs://data/mix": "generation:7"}


def outcomes(value, unread_paths=None):
    verdicts = answers(data_mismatch, PINNED_CONTRACT, DataFound(value, unread_paths or {}))
    return {verdict.subject: verdict.outcome for verdict in verdicts}


def test_a_contract_that_pins_nothing_asks_for_nothing():
    assert answer(data_mismatch).outcome is Outcome.NOT_APPLICABLE


def test_what_is_pinned_and_there_passes():
    assert set(outcomes(DIGESTS).values()) == {Outcome.PASS}


@pytest.mark.parametrize(
    ("now", "outcome"),
    [("sha256:" + "b" * 64, Outcome.FAIL), (None, Outcome.FAIL), ("generation:7", Outcome.FAIL)],
)
def test_other_or_missing_data_fails_by_its_path(now, outcome):
    by_subject = outcomes({**DIGESTS, "mix.json": now})

    assert by_subject == {"mix.json": outcome, "gs://data/mix": Outcome.PASS}


@pytest.mark.parametrize("unread_paths", [{"gs://data/mix": "403"}, {}])
def test_what_nobody_could_read_is_unknown(unread_paths):
    assert outcomes({"mix.json": DIGEST}, unread_paths)["gs://data/mix"] is Outcome.UNKNOWN


def test_a_look_that_failed_whole_is_unknown():
    assert (
        answer(data_mismatch, PINNED_CONTRACT, {DataFound: Unavailable("down")}).outcome
        is Outcome.UNKNOWN
    )


def test_a_relaunch_continues_without_a_reading():
    assert data_mismatch.at_relaunch is AtRelaunch.WARN


@pytest.mark.parametrize("identity", ["", "sha256:abc", "sha256:" + "g" * 64, "generation:", "7"])
def test_an_identity_that_is_none_is_refused(identity):
    with pytest.raises(WrongUse, match="identity"):
        a_contract(data={"manifests": {"mix.json": identity}})
