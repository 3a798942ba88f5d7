import pytest

from builders import ROOT, TEMPORARY, a_contract, answer, answers
from herorun.checks.launch.wrong_region import wrong_region
from herorun.core.check import AtRelaunch
from herorun.core.evidence import RootFacts, Unavailable
from herorun.core.finding import Outcome
from wording import mentions

HERE = a_contract(hardware={"region": "us-central1"})


@pytest.mark.parametrize(
    ("region", "hardware"),
    [
        ("us-central1", "us-central1"),
        ("US-CENTRAL1", " us-central1 "),
        ("us-central1", "us-central1-a"),
        ("us-east-1", "us-east-1a"),
        ("US", "us-east5"),
        ("us-east5", "us"),
        ("EU", "europe-west4"),
        ("asia", "asia-northeast1"),
        ("NAM4", "us-east1"),
        ("us-east1+us-west1", "us-west1-b"),
    ],
)
def test_one_within_the_other_passes(region, hardware):
    contract = a_contract(hardware={"region": hardware})

    assert answer(wrong_region, contract, RootFacts({ROOT: region})).outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("region", "hardware"),
    [
        ("us-central1", "us-central2"),
        ("us-east1", "us-east10"),
        ("us-east-1", "us-east-12"),
        ("EU", "us-east5"),
        ("NAM4", "us-west1"),
        ("us-east1+us-west1", "us-central1"),
    ],
)
def test_another_region_fails(region, hardware):
    contract = a_contract(hardware={"region": hardware})

    verdict = answer(wrong_region, contract, RootFacts({ROOT: region}))

    assert verdict.outcome is Outcome.FAIL
    assert verdict.subject == ROOT
    assert mentions(verdict.message, f"{ROOT}", "lies", f"{region}", "hardware", f"{hardware}")


def test_each_root_and_the_start_checkpoint_is_judged_apart():
    facts = RootFacts({ROOT: "us-central1", TEMPORARY: None, "gs://b/step-9": "us-east1"})

    outcomes = {verdict.subject: verdict.outcome for verdict in answers(wrong_region, HERE, facts)}

    assert outcomes == {ROOT: Outcome.PASS, "gs://b/step-9": Outcome.FAIL}


def test_a_root_whose_region_nobody_may_ask_is_unknown_and_the_others_are_judged():
    facts = RootFacts({ROOT: "us-central1"}, unknown_regions={TEMPORARY: "403 Forbidden"})

    by_root = {verdict.subject: verdict for verdict in answers(wrong_region, HERE, facts)}

    assert by_root[ROOT].outcome is Outcome.PASS
    assert by_root[TEMPORARY].outcome is Outcome.UNKNOWN
    assert "403 Forbidden" in by_root[TEMPORARY].message


@pytest.mark.parametrize("contract", [a_contract(), HERE])
def test_nothing_stated_or_nothing_told_is_not_applicable(contract):
    assert answer(wrong_region, contract).outcome is Outcome.NOT_APPLICABLE


def test_facts_that_could_not_be_read_are_unknown():
    assert (
        answer(wrong_region, HERE, {RootFacts: Unavailable("time-out")}).outcome is Outcome.UNKNOWN
    )


def test_a_relaunch_continues_without_a_reading():
    assert wrong_region.at_relaunch is AtRelaunch.WARN
