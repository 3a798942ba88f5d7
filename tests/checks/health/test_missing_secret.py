from builders import a_contract, a_job, answer, answers
from herorun.checks.health.missing_secret import missing_secret
from herorun.core.check import Response, Topic
from herorun.core.evidence import JobState, Nothing, OwnSecrets
from herorun.core.finding import Outcome

TWO = a_contract(command={"secrets": ["WANDB_API_KEY", "HF_TOKEN"]})


def test_a_contract_without_secrets_needs_none():
    assert answer(missing_secret).outcome is Outcome.NOT_APPLICABLE


def test_each_name_has_its_answer():
    verdicts = answers(missing_secret, TWO, OwnSecrets(frozenset({"HF_TOKEN"})))

    assert {v.subject: v.outcome for v in verdicts} == {
        "WANDB_API_KEY": Outcome.FAIL,
        "HF_TOKEN": Outcome.PASS,
    }


def test_after_a_good_end_nothing_is_relaunched():
    assert answer(missing_secret, TWO, a_job(JobState.SUCCEEDED)).outcome is Outcome.NOT_APPLICABLE


def test_secrets_that_travel_by_another_road_are_the_launch_gates():
    assert (
        answer(missing_secret, TWO, {OwnSecrets: Nothing("from the cluster")}).outcome
        is Outcome.NOT_APPLICABLE
    )


def test_it_warns_about_the_monitor():
    assert (missing_secret.response, missing_secret.topic) == (Response.WARN, Topic.MONITOR)
