"""The plan: what a launch is, and the digest that says whether it is still the same."""

import math
from dataclasses import fields, replace

import pytest

from builders import COMMIT, NOON, PARENT, ROOT, a_checkpoint, a_contract, a_history, a_plan, a_tree
from herorun.core.config.trainer_keys import look_up
from herorun.core.evidence import (
    Checkpoints,
    History,
    Nothing,
    Snapshot,
    Sourced,
    StartSiblings,
    Taint,
)
from herorun.core.lineage import is_rejected
from herorun.core.plan import Patch, Plan, StartPoint, describe_differences
from herorun.core.plan.build import Sources, make_plan
from herorun.core.ports import submission_of
from wording import mentions

NAMES = [field.name for field in fields(Plan)]


def other(value):
    """Another value of about the same kind."""
    match value:
        case None:
            return "something"
        case bool():
            return not value
        case int():
            return value + 1
        case str():
            return value + "x"
        case dict():
            return {**value, "further": 1}
        case tuple():
            return (*value, "x")
    return replace(value, kind="other") if hasattr(value, "kind") else replace(value, keep=99)


def test_the_digest_is_the_same_for_the_same_values():
    assert a_plan().digest == a_plan().digest
    assert a_plan().digest.startswith("sha256:")


@pytest.mark.parametrize("name", NAMES)
def test_every_value_moves_the_digest(name):
    plan = a_plan()
    planned_value = getattr(plan, name)

    assert (
        replace(plan, **{name: replace(planned_value, value=other(planned_value.value))}).digest
        != plan.digest
    )


@pytest.mark.parametrize("name", NAMES)
def test_no_source_moves_the_digest(name):
    plan = a_plan()
    planned_value = getattr(plan, name)

    assert (
        replace(
            plan,
            **{
                name: replace(
                    planned_value, source="elsewhere", inferred=not planned_value.inferred
                )
            },
        ).digest
        == plan.digest
    )


def test_the_digest_does_not_depend_on_where_the_contract_lies():
    assert a_plan(a_contract(goal="another", dri=None, stop_when="x")).digest == a_plan().digest


def test_non_finite_numbers_of_the_config_are_strings():
    plan = a_plan(config={"clip": math.inf, "drop": math.nan})

    assert plan.values["config"] == {"clip": "inf", "drop": "nan"}
    assert plan.digest == a_plan(config={"clip": math.inf, "drop": math.nan}).digest
    assert plan.digest != a_plan(config={"clip": -math.inf, "drop": math.nan}).digest


def test_what_moved_is_named_with_both_values():
    before, after = a_plan(), a_plan(a_contract(final_step=300))

    assert describe_differences(before.values, after.values) == ("final_step: 200 -> 300",)
    assert describe_differences(before.values, before.values) == ()


# --- the start ------------------------------------------------------------------------------------


def test_a_first_launch_starts_from_scratch():
    assert a_plan().start.value is None and "from scratch" in a_plan().start.source


def test_a_first_launch_starts_where_the_contract_says():
    contract = a_contract(start={"from": f"{PARENT}/step-100/", "kind": "weights-only"})
    start = a_plan(contract, beside=[a_checkpoint(100, PARENT)]).start

    assert start.value == StartPoint(f"{PARENT}/step-100", 100, "weights-only")
    assert start.source == "runs/tiny.toml"


def test_a_start_that_is_not_there_has_no_step():
    contract = a_contract(start={"from": f"{PARENT}/step-100"})

    assert a_plan(contract).start.value == StartPoint(f"{PARENT}/step-100", None)


def test_a_first_launch_takes_no_checkpoint_that_happens_to_lie_in_its_root():
    assert a_plan(own=[a_checkpoint(100)]).start.value is None


def test_a_later_launch_continues_from_the_newest_complete_one_by_number():
    own = [a_checkpoint(1000), a_checkpoint(900), a_checkpoint(1100, problem="no metadata.json")]

    assert a_plan(own=own, history=a_history()).start.value == StartPoint(f"{ROOT}/step-1000", 1000)


def test_a_rejected_lineage_is_never_chosen():
    contract = a_contract(start={"rejected": [f"{ROOT}/step-150"]})
    own = [a_checkpoint(100), a_checkpoint(150)]

    assert a_plan(contract, own, history=a_history()).start.value.step == 100


def test_a_foreign_one_is_never_chosen():
    own = [a_checkpoint(100), a_checkpoint(150)]
    history = a_history(foreign=frozenset({f"{ROOT}/step-150"}))

    assert a_plan(own=own, history=history).start.value.step == 100


def test_one_that_was_written_after_an_unresolved_alert_is_never_chosen():
    own = [a_checkpoint(100), a_checkpoint(150)]
    history = a_history(taints=(Taint(check="not-finite", since=NOON, step=120),))

    assert a_plan(own=own, history=history).start.value.step == 100


def test_where_all_are_refused_none_is_chosen():
    history = a_history(taints=(Taint(check="not-finite", since=NOON, step=0),))

    assert a_plan(own=[a_checkpoint(100)], history=history).start.value is None


def test_one_of_its_own_that_a_person_names_with_a_reason_is_chosen():
    start = {"from": f"{ROOT}/step-100"}
    own, history = [a_checkpoint(100), a_checkpoint(150)], a_history()

    assert a_plan(a_contract(start=start), own, history=history).start.value.step == 150
    decided_contract = a_contract(start={**start, "reason": "before the bad data"})
    path = a_plan(decided_contract, own, history=history).start.value
    assert path == StartPoint(f"{ROOT}/step-100", 100, "full-state")


def test_one_that_nobody_looked_into_is_never_chosen():
    own = [a_checkpoint(100), replace(a_checkpoint(150), examined=False)]

    assert a_plan(own=own, history=a_history()).start.value.step == 100


@pytest.mark.parametrize(
    ("path", "rejected_paths"),
    [
        ("/a/b", True),
        ("/a/b/", False),
        ("/a/b/step-1", True),
        ("/a/bc", False),
        ("/a", False),
        ("/c/step-1", True),
    ],
)
def test_a_lineage_is_a_path_and_all_below_it(path, rejected_paths):
    assert is_rejected(path.rstrip("/"), ("/a/b", "/c/")) is (rejected_paths or path == "/a/b/")


def test_a_relaunch_is_the_same_plan_from_another_checkpoint():
    plan = a_plan()
    again = plan.started_from(a_checkpoint(150), "newest")

    assert (
        describe_differences(plan.values, again.values)[0].startswith("start: ")
        and len(describe_differences(plan.values, again.values)) == 1
    )


# --- the command line and the rest ----------------------------------------------------------------


RESUME_COMMAND = {
    "argv": ["python", "t.py"],
    "resume_argv": ["python", "t.py", "--from={start}", "{start}"],
}


def test_the_resume_command_line_gets_the_start():
    contract = a_contract(command=RESUME_COMMAND)
    plan = a_plan(contract)

    assert plan.command_line == ("python", "t.py")
    path = f"{ROOT}/step-150"
    assert plan.started_from(a_checkpoint(150), "").command_line == (
        "python",
        "t.py",
        f"--from={path}",
        path,
    )


def test_without_one_the_command_line_stays():
    assert a_plan().started_from(a_checkpoint(150), "").command_line == a_plan().argv.value


def test_the_roots_come_without_a_slash_at_the_end():
    contract = a_contract(output={"root": "/data/a/", "temporary_root": "/data/b//"})

    assert a_plan(contract).roots == ("/data/a", "/data/b")
    assert a_plan(a_contract(output={"temporary_root": None})).roots == (ROOT,)


def test_what_is_inferred_is_labelled():
    assert str(a_plan().tracker).endswith("(runs/tiny.toml)")
    inferred_plan = a_plan(a_contract(tracker={"id": None, "name": None})).tracker
    assert inferred_plan.inferred and inferred_plan.value.id == "tiny"


def test_the_retention_of_an_ordinary_run_is_labelled():
    bare = a_plan(
        a_contract(checkpoints={"permanent_every": None, "temporary_every": None, "keep": None})
    )

    assert mentions(str(bare.retention), "rolling", "ordinary")
    retention = a_plan().retention.value
    assert mentions(str(retention), "100 steps", "15m", "10")


@pytest.mark.parametrize(
    ("key", "value"),
    [("a.b", 1), ("a.c", None), ("a.b.c", None), ("x.y", 2), ("z", None), ("a", {"b": 1})],
)
def test_a_key_of_the_config(key, value):
    assert look_up({"a": {"b": 1}, "x.y": 2}, key) == value


def test_a_final_step_is_read_from_the_config_and_says_so():
    plan = a_plan(a_contract(final_step="trainer.steps"), config={"trainer": {"steps": 5155}})

    assert plan.final_step == Sourced(5155, "trainer.steps in config.toml")


# --- an approved dirty tree -----------------------------------------------------------------------


EDITS = Snapshot("5e1f", "7ree", "sha256:d1ff", ("train.py",), 9)


def an_edited_plan(snapshot=EDITS):
    return make_plan(
        contract=a_contract(),
        tree=a_tree(),
        sources=Sources("sha256:c0de", {"seed": 7}, "config.toml", "runs/tiny.toml"),
        checkpoints=Checkpoints(),
        siblings=StartSiblings(),
        history=History(initialised=True),
        snapshot=snapshot,
    )


def test_the_commit_stays_and_what_runs_is_the_snapshot():
    plan = an_edited_plan()

    assert plan.patch.value == Patch("5e1f", "7ree", "sha256:d1ff")
    assert str(plan.patch.value) == "tree:7ree diff:sha256:d1ff"
    assert (plan.commit.value, plan.code_commit) == (COMMIT, "5e1f")


def test_without_edits_the_commit_runs_and_the_digest_is_what_it_was():
    plan = an_edited_plan(Nothing())

    assert plan == a_plan()
    assert plan.code_commit == COMMIT
    assert plan.digest == "sha256:069e73357fb7e25536908a7000365af2dddbb5beacb728c2c8385a2a1bf4adb4"


@pytest.mark.parametrize("change", [{"commit": "x"}, {"tree": "x"}, {"diff": "x"}])
def test_other_edits_are_another_plan(change):
    assert an_edited_plan(replace(EDITS, **change)).digest != an_edited_plan().digest


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        ({"a": None}, {"a": "x"}, ("a: none -> x",)),
        (
            {"a": {"b": 1, "c": 2}},
            {"a": {"b": 1, "d": [1, None]}},
            ("a.c: 2 -> absent", "a.d: absent -> [1, none]"),
        ),
        ({"a": 1}, {"a": True}, ("a: 1 -> true",)),
        ({"a": {}}, {"a": {"b": {"c": 0.5}}}, ("a.b: absent -> c 0.5",)),
        ({"a": {"b": 1}}, {"a": None}, ("a: b 1 -> none",)),
        ({"a": ""}, {"a": "x"}, ("a: (empty) -> x",)),
        ({"a": 1}, {"a": 1.0}, ("a: 1 -> 1.0",)),
        ({"a": [1, "x"]}, {"a": [1, "x"]}, ()),
    ],
)
def test_what_moved_in_words(before, after, text):
    assert describe_differences(before, after) == text


def test_of_a_long_list_only_what_differs_is_shown():
    before = [f"package-{number}==1.0.0" for number in range(40)]
    after = [*before[:20], "package-20==1.1.0", *before[21:]]
    (line,) = describe_differences({"packages": before}, {"packages": after})
    assert line.startswith("packages: [package-20==1.0.0] -> [package-20==1.1.0]")
    assert "39" in line and "package-19" not in line
    (argv,) = describe_differences({"argv": before}, {"argv": after})
    assert "package-19" in argv  # the words around it name what differs
    (move,) = describe_differences({"packages": before}, {"packages": before[::-1]})
    assert all(move.count(f"{name},") + move.count(f"{name}]") == 2 for name in before)


def test_a_submission_takes_the_plans_command_folder_and_start():
    plan = a_plan()
    started_plan = replace(
        plan, start=Sourced(StartPoint("/data/step-7", 7, "full-state"), "contract")
    )
    submission = submission_of(started_plan, "tiny-1")

    assert (submission.instance, submission.argv) == ("tiny-1", plan.command_line)
    assert (submission.cwd, submission.secrets) == (plan.cwd.value, plan.secrets.value)
    assert submission.env["HERORUN_START"] == "/data/step-7"
    assert "HERORUN_START" not in submission_of(plan, "tiny-1").env
