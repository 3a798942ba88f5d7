import pytest

from builders import a_contract, a_history, an_instance, answers
from herorun.checks.launch.unpinned_output_root import unpinned_output_root
from herorun.core.evidence import Launcher
from herorun.core.finding import Outcome
from wording import mentions

TEMPORARY = (
    "/tmp/tiny",
    "/var/tmp/tiny",
    "/dev/shm/tiny",
    "gs://b/tmp/tiny",
    "gs://b/ttl=14d/tiny",
    "s3://my-tmp-us/tiny",
)


def ask(root, *changes, hero=None, temporary=None):
    contract = a_contract(output={"root": root, "temporary_root": temporary}, hero=hero)
    return answers(unpinned_output_root, contract, *changes)


@pytest.mark.parametrize(
    "root", ["/data/tiny", "gs://bucket/runs/tiny", "/data/a~b", "/data/100%20done", "/data/x..y"]
)
@pytest.mark.parametrize("hero", [None, True])
def test_a_literal_root_passes(root, hero):
    (verdict,) = ask(root, hero=hero)

    assert (verdict.outcome, verdict.subject) == (Outcome.PASS, root)


@pytest.mark.parametrize(
    "root",
    [
        "/data/{run_name}",
        "/data/${RUN}",
        "/data/$USER/tiny",
        "/data/$(date)",
        "/data/`date`",
        "/data/%(name)s",
        "/data/<run>",
        "/~ada/tiny",
        "/data/run-%Y-%m-%d",
        "gs://b/YYYY-MM-DD/tiny",
        "/data/../tiny",
        "/data/*/tiny",
    ],
)
def test_a_template_fails_for_every_run(root):
    (verdict,) = ask(root)

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, root)


@pytest.mark.parametrize("root", TEMPORARY)
def test_a_temporary_place_is_reported_and_only_fails_a_hero_run(root):
    (ordinary,), (hero,) = ask(root), ask(root, hero=True)

    assert (ordinary.outcome, hero.outcome) == (Outcome.PASS, Outcome.FAIL)
    assert "is temporary" in ordinary.message


def test_what_only_begins_like_a_temporary_place_is_none():
    (verdict,) = ask("/tmpfs-of-ours/tiny", hero=True)

    assert verdict.outcome is Outcome.PASS


def test_the_machines_own_temporary_folder_counts():
    (verdict,) = ask("/scratch/t/tiny", Launcher("dri@here", "Dri", "/scratch/t"), hero=True)

    assert mentions(verdict.message, "lies", "/scratch/t")


def test_a_temporary_root_may_have_a_time_limit_of_its_store_and_no_temporary_folder():
    record, local_verdict = (
        ask("/data/tiny", hero=True, temporary=t)[1] for t in ("gs://b/ttl=14d/x", "/tmp/x")
    )

    assert (record.outcome, local_verdict.outcome) == (Outcome.PASS, Outcome.FAIL)


@pytest.mark.parametrize(
    ("root", "outcome"),
    [
        ("/home/dri/runs/tiny", Outcome.FAIL),
        ("/home/dri/runs/other", Outcome.PASS),
        ("/home/eve/runs/tiny", Outcome.PASS),
    ],
)
def test_a_root_that_only_changed_hands_fails(root, outcome):
    past = a_history(instances=(an_instance(output_root="/home/ada/runs/tiny"),))
    (verdict,) = ask(root, past)

    assert verdict.outcome is outcome


def test_a_hero_runs_root_belongs_to_no_person():
    (ordinary,), (hero,) = ask("/home/dri/tiny"), ask("/home/dri/tiny", hero=True)

    assert (ordinary.outcome, hero.outcome) == (Outcome.PASS, Outcome.FAIL)
