import shlex

import pytest

from builders import COMMIT, answer
from herorun.checks.launch.no_record import no_record
from herorun.core.evidence import History, RemoteTips, Unavailable
from herorun.core.finding import Outcome


def test_an_initialised_run_passes():
    assert answer(no_record).outcome is Outcome.PASS


def test_without_a_record_it_names_the_command():
    verdict = answer(no_record, History())

    assert verdict.outcome is Outcome.FAIL
    assert "herorun init tiny" in no_record.next_action("tiny")


def test_an_unread_record_is_unknown():
    assert answer(no_record, {History: Unavailable("damaged")}).outcome is Outcome.UNKNOWN


@pytest.mark.parametrize(
    ("branch", "blocks"),
    [
        ("herorun", True),
        ("herorun/tiny/old", True),
        ("herorun/tiny", False),
        ("herorun/tiny-2", False),
        ("hero", False),
    ],
)
def test_a_branch_in_the_way_of_the_records_own(branch, blocks):
    verdict = answer(no_record, RemoteTips("origin", {f"refs/heads/{branch}": COMMIT}))

    assert verdict.outcome is (Outcome.FAIL if blocks else Outcome.PASS)
    assert (branch in verdict.message) is blocks


def test_a_branch_of_another_remote_is_in_nobodys_way():
    tips = RemoteTips("upstream", {"refs/heads/herorun": COMMIT})
    assert answer(no_record, tips).outcome is Outcome.PASS


def test_the_shell_runs_nothing_that_the_name_of_a_branch_says():
    branch = "herorun/tiny/$(id>x)"
    verdict = answer(no_record, RemoteTips("origin", {f"refs/heads/{branch}": COMMIT}))
    *_, push = verdict.message.split("`")[1].split(" && ")
    assert push.endswith(shlex.quote(f":refs/heads/{branch}"))
