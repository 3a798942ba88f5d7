import pytest

from builders import a_contract, answer
from herorun.checks.launch.unpinned_container import unpinned_container
from herorun.core.evidence import Container, RequestReview, Unavailable
from herorun.core.finding import Outcome

DIGEST = "sha256:" + "ab" * 32


def named_contract(image, hero=True):
    return a_contract(hero=hero, runtime={"container": image})


def test_without_a_container_there_is_nothing_to_ask():
    assert answer(unpinned_container).outcome is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize(
    "image", [f"ghcr.io/lab/train@{DIGEST}", f"docker://ghcr.io/lab/train:v1@{DIGEST}"]
)
def test_a_digest_passes(image):
    assert answer(unpinned_container, named_contract(image)).outcome is Outcome.PASS


@pytest.mark.parametrize("image", ["ghcr.io/lab/train:v1", "ghcr.io/lab/train", "train@sha256:abc"])
def test_the_tag_of_a_hero_run_fails(image):
    verdict = answer(unpinned_container, named_contract(image))

    assert verdict.outcome is Outcome.FAIL
    assert verdict.subject == image


def test_the_finding_says_which_digest_it_is_now():
    container = Container("ghcr.io/lab/train:v1", DIGEST)

    assert DIGEST in answer(unpinned_container, named_contract(container.image), container).message


def test_whether_the_registry_answers_does_not_matter():
    silent = {Container: Unavailable("time-out")}

    assert (
        answer(unpinned_container, named_contract("ghcr.io/lab/train:v1"), silent).outcome
        is Outcome.FAIL
    )


def test_an_ordinary_run_may_use_a_tag():
    assert (
        answer(unpinned_container, named_contract("ghcr.io/lab/train:v1", hero=False)).outcome
        is Outcome.PASS
    )


def test_an_image_file_has_no_tag():
    assert (
        answer(unpinned_container, named_contract("/images/train.sif")).outcome
        is Outcome.NOT_APPLICABLE
    )


@pytest.mark.parametrize(("image", "outcome"), [("x:1", "FAIL"), (f"x@{DIGEST}", "PASS")])
def test_the_image_of_the_request_is_the_one_that_runs(image, outcome):
    contract = a_contract(hero=True)
    verdict = answer(unpinned_container, contract, RequestReview(where="prod", image=image))

    assert verdict.outcome.name == outcome
