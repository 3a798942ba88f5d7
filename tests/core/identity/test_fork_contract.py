"""A fork's contract: what it takes over, what it must not share, and what a person must look at."""

import pytest

from builders import a_contract
from herorun.core.contract import contract_from
from herorun.core.errors import WrongUse
from herorun.core.evidence import TrackerTraits
from herorun.core.identity.fork_contract import (
    ForkRequest,
    fork_contract,
    leftovers,
    same_identity,
    shared_paths,
)
from herorun.core.identity.tracker_rewind import after_rollback
from wording import mentions

PARENT = a_contract()
DROPS = TrackerTraits(drops_past_steps=True)


def fork_of(parent, **result):
    return fork_contract(
        parent,
        ForkRequest(
            **{"slug": "tiny-b", "start": "/data/tiny/step-100", "reason": "fp8", **result}
        ),
    )


def test_it_shares_neither_identity_nor_root():
    contract = contract_from(fork_of(PARENT), "here")

    assert (contract.tracker.id, contract.tracker.name, contract.output.root) == (
        "tiny-b",
        "tiny-b",
        "/data/tiny-b",
    )
    assert contract.output.temporary_root == "/data/tiny-b-temporary"
    assert same_identity(PARENT, contract) == ""
    assert contract.command == PARENT.command and contract.final_step == PARENT.final_step


@pytest.mark.parametrize(
    ("result", "shared_places"),
    [
        ({"tracker_id": "tiny"}, "tracker id tiny"),
        ({"root": "/data/tiny/"}, "output root /data/tiny"),
    ],
)
def test_what_they_would_share_is_named(result, shared_places):
    assert shared_places in same_identity(PARENT, contract_from(fork_of(PARENT, **result), "here"))


@pytest.mark.parametrize(
    ("path", "is_shared"),
    [
        ("metrics.jsonl", False),
        ("logs/../metrics.jsonl", False),
        ("/data/tiny/metrics.jsonl", True),
        ("../metrics/all.jsonl", True),
        ("logs/../../all.jsonl", True),
        ("../tiny/metrics.jsonl", True),
    ],
)
def test_a_place_of_the_tracker_outside_the_root_is_shared(path, is_shared):
    parent = a_contract(tracker={"kind": "jsonl", "id": "tiny", "path": path})
    shared_places = [f"path = {path!r}"] if is_shared else []
    assert list(shared_paths(parent, fork_of(parent))) == shared_places


def test_a_root_without_the_name_is_not_guessed():
    with pytest.raises(WrongUse, match="--root"):
        fork_of(a_contract(output={"root": "/data/shared"}))


def test_there_is_nothing_to_resume_yet_and_nothing_to_rewind():
    contract = fork_of(a_contract(tracker={"resume": "must", "fork_from": "old?_step=9"}))

    assert contract["tracker"]["resume"] == "allow" and "fork_from" not in contract["tracker"]


def test_it_posts_to_no_issue_of_the_parent():
    parent = a_contract(issue={"kind": "github", "repo": "lab/train", "number": 7})

    assert fork_of(parent)["issue"] == {"kind": "github", "repo": "lab/train"}


@pytest.mark.parametrize("root", ["/data/tiny", "/data/tiny/"])
def test_what_still_names_the_parent_is_shown(root):
    parent = a_contract(
        output={"root": root},
        tracker={"id": "t-7"},
        command={
            "argv": ["python", "train.py", "--out=/data/tiny"],
            "resume_argv": ["python", "go.py", "--run=t-7"],
            "env": {"RUN": "t-7", "SEED": "7"},
        },
    )

    assert leftovers(parent, fork_of(parent)) == ("--out=/data/tiny", "--run=t-7", "t-7")


def test_a_tracker_may_drop_what_is_logged_below_its_last_step():
    assert mentions(after_rollback(DROPS, "x", 100, 300), "passes", "300")
    assert mentions(after_rollback(DROPS, "x", 100, 100), "beyond", "100")
    assert "not known" in after_rollback(DROPS, "x", 100, None)
