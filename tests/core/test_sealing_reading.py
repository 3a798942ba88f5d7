"""A tag's statement that somebody wrote by hand, or to bring its reader down: one sentence each,
and never another error.
"""

import copy
import json
from typing import Any

import pytest

from herorun.core.seal.manifest import FileRecord, Manifest
from herorun.core.seal.parse import OtherForm, parse_statement, statement_in, statement_of
from herorun.core.seal.render import seal_lines, split_tag, tag_message
from herorun.core.seal.statement import SealFacts, statement
from screens.notices import Notice
from wording import mentions

COMMIT = "a" * 40
MANIFEST = Manifest("/data/step-4", (FileRecord("weights", 8),))
FACTS = {
    **{
        "run": "tiny",
        "kind": "final",
        "name": "",
        "commit": COMMIT,
        "launch_commit": COMMIT,
        "record": "b" * 40,
    },
    **{
        "edits": {},
        "instances": [{"name": "tiny-1"}],
        "plan_digest": "sha256:c",
        "launch_command": ["true"],
    },
    **{
        "output_root": "/data",
        "tracker": {"id": "tiny", "name": None},
        "tracker_links": [],
        "waivers": [],
    },
    **{"final_checkpoint": "/data/step-4", "final_checkpoint_temporary": False, "final_step": 4},
    **{
        "reached_step": 4,
        "final_metrics": {"loss": 2.5},
        "manifest": MANIFEST.facts,
        "caveats": [],
    },
}


def statement_with(**changes: Any) -> dict[str, Any]:
    """A whole statement with some facts changed."""
    fields: dict[str, Any] = json.loads(
        json.dumps(statement(SealFacts(facts=FACTS, plan={}, commit=COMMIT, manifest=MANIFEST)))
    )
    fields["predicate"]["herorun_seal"] |= changes
    return fields


PLAN = {
    **{"argv": ["true"], "config": {"lr": 0.1}, "final_step": 4, "output_root": "/data"},
    **{"temporary_root": "/scratch", "hardware": {"count": 8}, "env": {"A": "b"}},
    **{"code_tree": "c" * 40, "retention": {"keep": 3}, "scheduler": {"kind": "slurm"}},
    **{"tracker": {"id": "tiny"}, "secrets": ["HF_TOKEN"], "commit": "d" * 40},
    **{"data": {"gs://b/mix": "sha256:e", "gs://b/more": "generation:7", "local.json": ""}},
    **{"container": "ghcr.io/lab/train@sha256:f", "bundle": "b.zip@sha256:9"},
    **{"packages": ["torch==2.9.1"], "start": {"path": "/data/parent/step-1"}},
}


def in_tag(text: str) -> str:
    return (
        f"object {COMMIT}\ntag herorun/tiny/seal-1\n\nSeal of hero run tiny\n\n- Status: sealed\n"
        f"\n{text}\n"
    )


def why(text: str) -> str:
    with pytest.raises(ValueError, match=r"it is|it holds") as error:
        statement_in(in_tag(text))
    output = str(error.value)
    assert "\n" not in output and len(output) < 300, output
    return output


def test_a_statement_is_as_the_standards_and_older_readers_know_it(notice: Notice) -> None:
    """Its fields are on record in tags: what is renamed here, no verifier of an older tag finds."""
    facts = SealFacts(
        facts={**FACTS, "herorun": "1.2"},
        plan=PLAN,
        commit=COMMIT,
        remote="https://example.org/lab/train",
        manifest=MANIFEST,
        record="b" * 40,
        times=("2026-01-01T00:00:00Z", "2026-01-09T00:00:00Z"),
        further=({"name": "seal", "digest": {"gitCommit": "1" * 40}},),
    )
    assert json.dumps(statement(facts), indent=1) == notice


def test_a_statement_of_little_holds_nothing_empty(notice: Notice) -> None:
    facts = SealFacts(facts={"run": "tiny"}, plan={}, commit=COMMIT)
    assert json.dumps(statement(facts), indent=1) == notice


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"kind": "milestone", "name": "half", "caveats": ["one", "two"]},
        {"final_metrics": {"loss": 2.5, "tokens": 9}, "tracker_links": ["https://x/y"]},
        {
            **{"kind": "aborted", "final_metrics": {}, "manifest": None},
            **{"final_checkpoint": None, "final_step": None},
        },
    ],
)
def test_the_lines_of_a_seal(changes: dict[str, Any], notice: Notice) -> None:
    lines = seal_lines(statement_with(tracker_label="W&B", **changes), "herorun/tiny/seal-1")
    assert "\n".join(f"{name}: {text}" for name, text in lines.items()) == notice


@pytest.mark.parametrize(
    ("tracker", "label"),
    [
        ({"kind": "wandb"}, "W&B"),
        ({"kind": "wandb_offline"}, "W&B"),
        ({}, "W&B"),
        ({"kind": "jsonl"}, "Tracker"),
        ({"kind": "wandbish"}, "Tracker"),
    ],
)
def test_a_tag_of_an_earlier_version_has_the_label_that_it_had(
    tracker: dict[str, Any], label: str
) -> None:
    of_run = {"id": "tiny", "name": "tiny", **tracker}
    assert label in seal_lines(statement_with(tracker=of_run), "x")


def test_a_trackers_label_is_a_text() -> None:
    assert mentions(why(json.dumps(statement_with(tracker_label=7))), "valid", "tracker_label")


def test_what_was_written_is_read() -> None:
    statement = statement_with()
    assert (
        statement_of(f"object {COMMIT}\n\n{tag_message(statement, 'herorun/tiny/seal-1')}")
        == statement
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[" * 200_000,
        '{"a":' * 200_000,
        '{"a":' * 500 + "1" + "}" * 500,
        '{"a": NaN}',
        '{"a": -Infinity}',
        '{"a": 1e999}',
        '{"run": "a", "run": "b"}',
        "{}",
        '{"_type": [], "predicate": []}',
    ],
)
def test_what_states_nothing_is_one_sentence(text: str, notice: Notice) -> None:
    assert why(text) == notice


@pytest.mark.parametrize("text", ["{", '{"a": ' + "9" * 5_000 + "}"])
def test_what_is_no_json_states_nothing(text: str) -> None:
    assert mentions(why(text), "statement", "changed", "(")


@pytest.mark.parametrize("value", [[["x"]], {"x": {}}, 7, True, "-x", "../x\n"])
def test_no_fact_of_another_type_is_used(value: Any) -> None:
    """A text where a text belongs is no fault of shape; what git or a path would read otherwise
    is.
    """
    texts = {"name", "plan_digest", "output_root", "final_checkpoint"}
    fitting = {("final_step", int), ("reached_step", int), ("final_checkpoint_temporary", bool)}
    fitting |= {(name, str) for name in texts} | {("final_metrics", dict)}
    for name in FACTS:
        statement = statement_with(**{name: value})
        if (name, type(value)) in fitting:
            assert parse_statement(json.dumps(statement)) == statement
        else:
            assert mentions(why(json.dumps(statement)), "valid", "statement"), name


@pytest.mark.parametrize("name", FACTS)
def test_no_fact_is_lacking(name: str) -> None:
    statement = statement_with()
    del statement["predicate"]["herorun_seal"][name]
    assert mentions(why(json.dumps(statement)), "valid", "statement")


@pytest.mark.parametrize(
    "subject", [None, [], {}, [{}], [{"digest": 5}], [{"digest": {"gitCommit": 5}}]]
)
def test_a_statement_without_its_subjects_is_none(subject: Any) -> None:
    fields = {**copy.deepcopy(statement_with()), "subject": subject}
    assert mentions(why(json.dumps(fields)), "valid", "statement")


def test_another_form_of_a_seal_is_no_fault_and_says_what_it_names() -> None:
    flat = {"schema": 1, "run": "tiny", "commit": COMMIT, "final_checkpoint": "/data/step-4"}
    with pytest.raises(OtherForm, match=f"flat.*{COMMIT}.*/data/step-4"):
        statement_in(in_tag(json.dumps(flat)))
    newer = statement_with()
    newer["predicate"]["herorun_seal"]["schema"] = 2
    with pytest.raises(OtherForm, match=r"2.*1.*upgrade"):
        statement_in(in_tag(json.dumps(newer)))


def test_the_lines_for_people_carry_each_fact_of_the_seal() -> None:
    waiver = {"check": "dirty-tree", "reason": "known", "approved_by": "@dri"}
    facts = {"caveats": ["one", "two"], "waivers": [waiver], "dirty_tree": "yes"}
    lines = seal_lines(statement_with(**facts), "herorun/tiny/seal-1")
    assert mentions(lines["Status"], "herorun/tiny/seal-1", COMMIT)
    assert mentions(lines["Checkpoint"], "/data/step-4", "1 file", "8 bytes", MANIFEST.digest)
    assert (lines["Output root"], lines["Metrics"]) == ("/data", "loss 2.5")
    assert (lines["Launch command"], lines["Dirty tree"]) == ("true", "yes")
    assert lines["Caveats"] == "one; two"
    assert lines["Waivers"] == "dirty-tree: known (@dri)"
    assert mentions(lines["Evidence"], "/data/step-4", "4 of 4", "loss 2.5")
    assert "temporary" not in lines["Evidence"]
    kept_for_a_time = seal_lines(statement_with(final_checkpoint_temporary=True), "x")["Evidence"]
    assert mentions(kept_for_a_time, "/data/step-4 (temporary)")


def test_a_seal_of_nothing_says_so_in_each_line() -> None:
    empty = {"final_metrics": {}, "manifest": None, "final_checkpoint": None, "final_step": None}
    lines = seal_lines(statement_with(**empty), "x")
    assert [lines[name] for name in ("Checkpoint", "Metrics", "Caveats")] == ["none"] * 3
    assert mentions(lines["Evidence"], "no complete", "4 of unknown", "no metrics")


def test_a_signed_tag_is_split_into_what_was_signed_and_the_signature() -> None:
    """A verifier gets the message to its last line break, as git signs it."""
    text = tag_message(statement_with(), "x")
    signature = "-----BEGIN SSH SIGNATURE-----\nU1NI\n-----END SSH SIGNATURE-----\n"
    head = f"object {COMMIT}\ntype commit"
    fields, message, signed_tag = split_tag(f"{head}\n\n{text}{signature}")
    assert (fields, message, signed_tag) == (
        {"object": COMMIT, "type": "commit"},
        text,
        signature,
    )
    assert split_tag(f"{head}\n\n{text}") == (fields, text, "")
