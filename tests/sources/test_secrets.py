"""Whether the job would get its secrets; never what they are."""

import pytest

from builders import a_contract
from herorun.core.errors import CouldNotLook
from herorun.core.evidence import Nothing, SecretNames
from herorun.schedulers.local import Local, Options
from herorun.sources.secrets import read_secret_names
from stories import SLUG, Story
from wording import mentions

NEEDS = a_contract(command={"secrets": ["SET_TOKEN", "EMPTY_TOKEN", "UNSET_TOKEN"]})


@pytest.fixture
def local(tmp_path, monkeypatch):
    monkeypatch.setenv("SET_TOKEN", "correct-horse")
    monkeypatch.setenv("EMPTY_TOKEN", "")
    monkeypatch.delenv("UNSET_TOKEN", raising=False)
    return Local(Options(), tmp_path)


def test_only_names_with_a_value_are_present(local):
    secret_names = read_secret_names(NEEDS, local)

    assert secret_names == SecretNames(frozenset({"SET_TOKEN"}), "this environment")
    assert "correct-horse" not in repr(secret_names)


def test_a_contract_without_secrets_has_none(local):
    assert isinstance(read_secret_names(a_contract(), local), Nothing)


def test_a_scheduler_whose_jobs_get_them_elsewhere_cannot_be_looked_into(local):
    local.secrets_source = "the runtime environment of the cluster"

    with pytest.raises(CouldNotLook, match=r"SET_TOKEN.*runtime"):
        read_secret_names(NEEDS, local)


def test_where_a_person_vouches_for_them_they_count_as_set_by_that_word(local):
    local.secrets_source, local.secrets_vouched = "the environment of the cluster", True

    secret_names = read_secret_names(NEEDS, local)

    assert secret_names.present == {"SET_TOKEN", "EMPTY_TOKEN", "UNSET_TOKEN"}
    assert mentions(secret_names.source, "environment", "word")


@pytest.mark.thorough
def test_a_launch_without_its_secret_is_blocked(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TRAINING_TOKEN", raising=False)
    story.sign(command={"secrets": ["TRAINING_TOKEN"]})
    story.init()
    assert story.launch() == 1
    monkeypatch.setenv("TRAINING_TOKEN", "correct-horse")
    assert story.launch() == 0


@pytest.mark.thorough
def test_a_relaunch_whose_babysitter_lacks_it_is_put_to_a_person(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The babysitter submits it, so its environment is the one that counts, not that of the first
    launch.
    """
    monkeypatch.setenv("TRAINING_TOKEN", "correct-horse")
    story.sign(command={"secrets": ["TRAINING_TOKEN"]})
    story.run_first_job("kill -9 $$")
    monkeypatch.delenv("TRAINING_TOKEN")
    assert story.tick() == 1
    assert len(story.starts) == 1
    assert any(
        mentions(event.why, "missing-secret", "TRAINING_TOKEN") for event in story.events("Failed")
    )


def test_a_secret_in_the_command_blocks_and_is_told_nowhere(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = "ghp_" + "a1B2" * 9
    story.sign(command={"env": {"WANDB_API_KEY": secret}})
    story.init()
    assert story.herorun("preflight", SLUG) == 1
    assert story.launch("--json") == 1
    output = capsys.readouterr()
    assert mentions(output.out, "env.WANDB_API_KEY", "like")
    assert secret not in output.out + output.err
