"""What the text of a job says about where its rows are looked for."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from builders import a_contract, a_plan, a_tree
from herorun import adapters
from herorun.core.evidence import Nothing, Sourced, TrackerMentions
from herorun.core.ports import Place, Tracker
from herorun.sources.import_closure import read_import_closure
from herorun.sources.mentions import read_tracker_mentions
from herorun.system.git import Repository
from screens.notices import Notice

JSONL = {"kind": "jsonl", "path": "metrics.jsonl"}
WANDB = {"kind": "wandb", "entity": "us", "project": "speech", "id": "grug-1"}


def read(
    top: Path,
    script: str,
    tracker: dict[str, Any] = JSONL,
    argv: tuple[str, ...] = (),
    **changes: Any,
) -> TrackerMentions | Nothing:
    (top / "train.py").write_text(script)
    words = ["python", "train.py", *argv]
    contract = a_contract(command={"argv": words}, tracker=tracker, config={"files": []}, **changes)
    planned_tracker = a_plan().tracker.value
    run = {name: tracker.get(name) for name in ("kind", "entity", "project")}
    options = {"path": tracker["path"]} if "path" in tracker else {}
    changed_tracker = type(planned_tracker)(
        **{
            **vars(planned_tracker),
            **run,
            "id": tracker.get("id", contract.slug),
            "options": options,
        }
    )
    plan = replace(
        a_plan(), tracker=Sourced(changed_tracker, "test"), argv=Sourced(tuple(words), "test")
    )
    repository = Repository(top, top / ".git")
    closure = read_import_closure(repository, contract, a_tree())
    return read_tracker_mentions(repository, contract, plan, closure, the_tracker(tracker))


def the_tracker(table: dict[str, str]) -> Tracker:
    kind = table["kind"]
    tracker_options = (
        {"entity": "e", "project": "p", "id": "x", "name": "x"} if kind == "wandb" else {}
    )
    options = {"path": table["path"]} if "path" in table else {}
    return adapters.connect(
        "trackers", kind, options, Place("tiny", "/s", "/o", "/r"), tracker_options
    )


@pytest.mark.parametrize(
    ("script", "tracker", "key", "words"),
    [
        ('open("loss.jsonl", "a")', JSONL, "[tracker] path", "'loss.jsonl' (train.py:1)"),
        ('import wandb\nwandb.init(id="grug-2")', WANDB, "[tracker] id", "'grug-2' (train.py:2)"),
        (
            'import wandb\nwandb.init(project="text")',
            WANDB,
            "[tracker] project",
            "'text' (train.py:2)",
        ),
        (
            'SummaryWriter("tb")',
            {"kind": "tensorboard", "path": "events"},
            "[tracker] path",
            "'tb'",
        ),
    ],
)
def test_another_name_in_the_place_of_the_one_that_is_looked_for_is_reported(
    tmp_path: Path, script: str, tracker: dict[str, Any], key: str, words: str
) -> None:
    mentions = read(tmp_path, script, tracker)
    assert isinstance(mentions, TrackerMentions)
    assert words in mentions.others[key]


@pytest.mark.parametrize(
    ("script", "tracker", "argv"),
    [
        ('open("out/metrics.jsonl", "a")', JSONL, ()),
        ("import sys; open(sys.argv[1])", JSONL, ("metrics.jsonl",)),
        ('import herorun\nherorun.log({"loss": 1})\nopen("corpus.jsonl")', JSONL, ()),
        ('import wandb\nwandb.init(id="grug-1", project="speech")', WANDB, ()),
        ('SummaryWriter(log_dir="/data/events")', {"kind": "tensorboard", "path": "events"}, ()),
    ],
)
def test_what_the_job_names_is_found(
    tmp_path: Path, script: str, tracker: dict[str, Any], argv: tuple[str, ...]
) -> None:
    mentions = read(tmp_path, script, tracker, argv)
    assert isinstance(mentions, TrackerMentions)
    assert mentions.places and not mentions.others


@pytest.mark.parametrize(
    ("script", "tracker"),
    [
        ("print(1)", JSONL),
        ('open(f"{name}.jsonl")', JSONL),
        ('open("loss" + ".jsonl"); open("other.jsonl")', JSONL),
        ('import lightning\nopen("loss.jsonl")', JSONL),
        ('import wandb, os\nwandb.init(id=os.environ["WANDB_RUN_ID"])', WANDB),
        ("import wandb\nwandb.init(**options)", WANDB),
        ("import wandb\nwandb.init()", WANDB),
        ("def broken(", JSONL),
    ],
)
def test_nothing_is_concluded_where_the_text_does_not_tell(
    tmp_path: Path, script: str, tracker: dict[str, Any], notice: Notice
) -> None:
    mentions = read(tmp_path, script, tracker)
    assert isinstance(mentions, Nothing) and mentions.why == notice


def test_a_job_without_a_python_file_of_this_repository_shows_nothing(tmp_path: Path) -> None:
    mentions = read(tmp_path, "", argv=())
    assert isinstance(mentions, Nothing)
    (tmp_path / "train.py").unlink()
    repository = Repository(tmp_path, tmp_path / ".git")
    contract = a_contract(command={"argv": ["python", "-m", "levanter"]})
    closure = read_import_closure(repository, contract, a_tree())
    nothing = read_tracker_mentions(
        repository, contract, a_plan(), closure, the_tracker({"kind": "jsonl"})
    )
    assert isinstance(nothing, Nothing) and "Python" in nothing.why


@pytest.mark.parametrize(
    ("pattern", "others"),
    [
        ("finished training", True),
        ("all steps ended", False),
        ("finished|ended", False),
        ("INFO ended", False),
    ],
)
def test_a_word_that_each_line_needs_must_stand_in_the_job(
    tmp_path: Path, pattern: str, others: bool
) -> None:
    mentions = read(
        tmp_path,
        'open("metrics.jsonl"); print("all steps ended")',
        patrol={"success_pattern": pattern},
    )
    assert isinstance(mentions, TrackerMentions)
    assert ("[patrol] success_pattern" in mentions.others) is others
