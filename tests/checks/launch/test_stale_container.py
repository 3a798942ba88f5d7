import pytest

from builders import COMMIT, a_contract, answer
from herorun.checks.launch.stale_container import stale_container
from herorun.core.evidence import Container, ImportClosure, Unavailable
from herorun.core.finding import Outcome
from wording import mentions

IMAGE = "ghcr.io/lab/train@sha256:" + "ab" * 32
OTHER = "12" * 20


def an_image(revision, **changes):
    return Container(IMAGE, "sha256:" + "ab" * 32, revision, **changes)


def test_without_a_container_there_is_nothing_to_ask():
    assert answer(stale_container).outcome is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize("revision", [COMMIT, COMMIT.upper(), COMMIT[:7], f" {COMMIT[:12]}\n"])
def test_an_image_of_this_commit_passes(revision):
    verdict = answer(stale_container, an_image(revision))

    assert verdict.outcome is Outcome.PASS
    assert verdict.subject == IMAGE


@pytest.mark.parametrize("revision", [OTHER, COMMIT[:6], f"{COMMIT[:9]}-dirty", "main"])
def test_an_image_of_another_commit_fails(revision):
    verdict = answer(stale_container, an_image(revision))

    assert verdict.outcome is Outcome.FAIL
    assert mentions(verdict.message, "built", f"{revision}", "3f2a9c1d0")
    assert mentions(verdict.message, "clone")


def test_what_lies_between_the_two_is_judged_by_its_impact():
    changed_image = an_image(OTHER, known_here=True, changed=("README.md", "model.py"))
    verdict = answer(stale_container, changed_image)

    assert verdict.outcome is Outcome.FAIL
    assert mentions(verdict.message, "model.py")
    assert verdict.details == ("model.py",)


def test_an_image_that_only_documentation_tells_from_this_commit_passes():
    changed_image = an_image(OTHER, known_here=True, changed=("README.md", "tests/a.py"))

    assert answer(stale_container, changed_image).outcome is Outcome.PASS
    rules = a_contract(code={"impact": {"*.md": "block"}})
    assert answer(stale_container, changed_image, rules).outcome is Outcome.FAIL
    closure = ImportClosure(frozenset({"tests/a.py"}))
    assert answer(stale_container, changed_image, closure).outcome is Outcome.FAIL


@pytest.mark.parametrize("revision", [None, "", " "])
def test_an_image_without_the_label_is_unknown(revision):
    verdict = answer(stale_container, an_image(revision))

    assert verdict.outcome is Outcome.UNKNOWN
    assert mentions(verdict.message, "revision", "label")


def test_a_registry_that_does_not_answer_is_unknown():
    assert answer(stale_container, {Container: Unavailable("time-out")}).outcome is Outcome.UNKNOWN
