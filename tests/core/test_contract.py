"""The contract: what parses, and what a person reads when it does not."""

import tomllib
from datetime import UTC, datetime, timedelta

import pytest
import tomli_w

from herorun.core.contract import (
    Contract,
    Recovery,
    contract_from,
    parse_contract,
    plan_part,
)
from herorun.core.durations import format_duration
from herorun.core.errors import WrongUse
from herorun.core.lazy_pydantic import BaseModel
from wording import mentions

SMALL = """
slug = "tiny"
goal = "show the whole path"
dri = "@dri"
stop_when = "loss above 4 after 1,000 steps"
final_step = 200                          # or "trainer.num_train_steps", resolved from [config]

[command]
argv = ["python", "train.py", "--config", "config.toml"]

[config]
files = ["config.toml"]

[output]
root = "/data/tiny"                       # absolute path or URL
temporary_root = "/data/tiny-temporary"

[checkpoints]
layout = "levanter"
permanent_every = 100                     # steps
temporary_every = "15m"
keep = 10

[tracker]
kind = "jsonl"
path = "metrics.jsonl"                    # relative to the output root
id = "tiny"
name = "tiny"
resume = "allow"

[scheduler]
kind = "local"

[babysit]
cadence = "15m"
recovery = "relaunch"

[issue]
kind = "local"
"""
REQUIRED_ONLY = {"slug": "tiny", "command": {"argv": ["true"]}, "output": {"root": "/data/tiny"}}
WAIVER = {
    "check": "dirty-tree",
    "reason": "r",
    "approved_by": "@dri",
    "expires": "2026-12-01T12:00:00Z",
}


def unvalidated_defaults(model):
    """The tables that stand for an absent one, which are made without validation; nested too."""
    for field in model.model_fields.values():
        if isinstance(field.default, BaseModel):
            yield field.default
            yield from unvalidated_defaults(type(field.default))


def test_an_absent_table_is_what_an_empty_one_is():
    """Validation waits until a contract is read, so a default that it would change is wrong."""
    tables = list(unvalidated_defaults(Contract))

    assert len(tables) > 10
    assert [table for table in tables if table != type(table).model_validate({})] == []


def least(**changes):
    return contract_from({**REQUIRED_ONLY, **changes}, "runs/tiny.toml")


def complaint(**changes):
    with pytest.raises(WrongUse) as error:
        least(**changes)
    return str(error.value)


def test_the_small_contract_of_the_design_parses():
    contract = parse_contract(SMALL, "runs/tiny.toml")

    assert contract.slug == "tiny" and contract.final_step == 200
    assert contract.checkpoints.temporary_every == timedelta(minutes=15)
    assert contract.tracker.options == {"path": "metrics.jsonl"}
    assert contract.path == "runs/tiny.toml"


def test_the_least_contract_has_the_stated_defaults():
    contract = least()

    assert (contract.schema_, contract.dri, contract.final_step) == (1, None, None)
    assert (contract.babysit.cadence, contract.babysit.recovery) == (
        timedelta(minutes=15),
        Recovery.RELAUNCH,
    )
    assert (contract.babysit.budgets.relaunches, contract.babysit.budgets.window) == (
        6,
        timedelta(hours=24),
    )
    assert (contract.scheduler.kind, contract.tracker.kind, contract.issue.kind) == (
        "local",
        "jsonl",
        "local",
    )
    assert contract.issue.labels == ("experiment", "agent-generated")
    assert contract.start.kind == "full-state" and contract.tracker.first_step == 0
    assert contract.record_branch == "herorun/tiny" and contract.record_remote == "origin"


def test_a_contract_survives_toml():
    contract = parse_contract(SMALL, "runs/tiny.toml")
    again = parse_contract(tomli_w.dumps(contract.data_for_toml()), "runs/tiny.toml")

    assert again == contract
    assert tomllib.loads(SMALL)["checkpoints"] == contract.data_for_toml()["checkpoints"]


def test_it_can_be_built_in_python():
    built_contract = Contract(
        slug="tiny", command={"argv": ["true"]}, output={"root": "/data/tiny"}
    )

    assert built_contract == least()


def test_it_cannot_be_changed():
    with pytest.raises(ValueError, match="frozen"):
        least().slug = "other"


@pytest.mark.parametrize(
    ("changes", "facts"),
    [
        ({"sluggish": 1}, ["unknown key `sluggish`", "mean `slug`?"]),
        ({"zzz": 1}, ["unknown key `zzz`; remove it", "`herorun schema`"]),
        ({"checkpoints": {"kep": 3}}, ["unknown key `checkpoints.kep`"]),
        ({"command": {}}, ["missing key `command.argv`"]),
        ({"command": {"argv": []}}, ["`command.argv`"]),
        ({"command": {"argv": ["python", 3]}}, ["`command.argv.1`"]),
        ({"command": {"argv": "python train.py"}}, ["`command.argv`: input should be a list"]),
        ({"command": {"argv": ["--config=a"]}}, ["`command.argv`", "--config:", "program"]),
        (
            {"command": {"argv": ["python"], "resume_argv": ["--resume", "{start}"]}},
            ["`command.resume_argv`", "--resume:", "program"],
        ),
        ({"output": {"root": ""}}, ["`output.root`"]),
        ({"slug": "Tiny"}, ["`slug`"]),
        ({"slug": "-tiny"}, ["`slug`"]),
        ({"slug": "tiny\n"}, ["`slug`"]),
        ({"slug": "a" * 49}, ["`slug`"]),
        ({"slug": "../tiny"}, ["`slug`"]),
        ({"schema": 2}, ["`schema`"]),
        ({"dri": ""}, ["`dri`"]),
        ({"dri": 7}, ["`dri`"]),
        ({"flops": -1}, ["`flops`"]),
        ({"final_step": True}, ["`final_step"]),
        ({"final_step": 200.5}, ["`final_step"]),
        ({"final_step": ["x"]}, ["`final_step"]),
        ({"checkpoints": {"keep": True}}, ["`checkpoints.keep`"]),
        ({"checkpoints": {"permanent_every": "100"}}, ["`checkpoints.permanent_every`"]),
        ({"checkpoints": {"keep": 0}}, ["`checkpoints.keep`"]),
        (
            {"checkpoints": {"temporary_every": "15"}},
            ["`checkpoints.temporary_every`", "'15'", "like", "15m"],
        ),
        (
            {"checkpoints": {"temporary_every": 15}},
            ["`checkpoints.temporary_every`", 'like "15s" or "15m"'],
        ),
        ({"babysit": {"cadence": "0s"}}, ["`babysit.cadence`"]),
        ({"babysit": {"cadence": "-5m"}}, ["`babysit.cadence`"]),
        ({"babysit": {"cadence": "5 minutes"}}, ["`babysit.cadence`"]),
        ({"babysit": {"recovery": "always"}}, ["`babysit.recovery`"]),
        ({"babysit": {"declined": ""}}, ["`babysit.declined`"]),
        ({"tracker": {"kind": "../x"}}, ["`tracker.kind`"]),
        ({"tracker": {"first_step": 2}}, ["`tracker.first_step`"]),
        ({"start": {"kind": "half"}}, ["`start.kind`"]),
        (
            {"waiver": [{**WAIVER, "expires": "2026-12-01T12:00:00"}]},
            ["`waiver.0.expires`", "time zone"],
        ),
        (  # "for ever", written down west of Greenwich
            {"waiver": [{**WAIVER, "expires": "9999-12-31T23:59:59-05:00"}]},
            ["`waiver.0.expires`", "years"],
        ),
        ({"waiver": [{**WAIVER, "approved_by": ""}]}, ["`waiver.0.approved_by`"]),
        ({"waiver": [{**WAIVER, "approved_by": " "}]}, ["`waiver.0.approved_by`: is blank"]),
        ({"waiver": [{"check": "dirty-tree"}]}, ["missing key `waiver.0.reason`"]),
    ],
)
def test_a_fault_names_its_key_and_the_fix(changes, facts):
    text = complaint(**changes)

    assert text.startswith("runs/tiny.toml")
    assert mentions(text, *facts)
    assert "pydantic" not in text and "None" not in text


def test_every_fault_is_named_at_once_each_on_its_line():
    lines = complaint(sluggish=1, checkpoints={"kep": 3}).splitlines()

    assert mentions(lines[0], "runs/tiny.toml", "2")
    assert sorted(line.split("`")[1] for line in lines[1:]) == ["checkpoints.kep", "sluggish"]


MISTYPED_CONTRACT = """\
slug = "tiny"
final_stepp = 3
stop_when = '''
cadense = "no key, but a line of a text"
'''

[babysit]
cadense = "4m"       # a comment
cadence = "soon"

[[waiver]]
check = "dirty-tree"
reason = "a"
approved_by = "@a"
expires = 2026-01-01

[[waiver]]
"chek" = "b"
"""


def test_a_fault_names_the_line_of_the_file():
    with pytest.raises(WrongUse) as error:
        parse_contract(MISTYPED_CONTRACT, "runs/tiny.toml")
    lines = str(error.value).splitlines()
    assert mentions(lines, "2", "final_stepp", "mean", "final_step")
    assert mentions(lines, "8", "babysit.cadense", "mean", "babysit.cadence")
    assert any(line.startswith("  line 9: `babysit.cadence`: ") for line in lines)
    assert mentions(lines, "18", "waiver.1.chek", "mean", "waiver.1.check")
    assert mentions(lines, "17", "`waiver.1.reason`")


def test_a_long_input_is_cut():
    assert len(complaint(slug="x" * 10_000)) < 300


@pytest.mark.parametrize("text", ["slug = ", "slug = 'a'\nslug = 'b'", "[[", "\x00"])
def test_what_is_no_toml_says_so(text):
    with pytest.raises(WrongUse, match=r"runs/tiny\.toml.*valid.*TOML") as error:
        parse_contract(text, "runs/tiny.toml")
    assert error.value.exit_code == 2


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("570s", 570), ("15m", 900), ("1.5h", 5400), ("2d", 172800), ("250ms", 0.25), (" 15 m ", 900)],
)
def test_durations_have_a_unit(text, seconds):
    temporary_every = least(checkpoints={"temporary_every": text}).checkpoints.temporary_every
    assert temporary_every == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["570s", "15m", "2d", "36h", "0.25s"])
def test_durations_are_reported_as_they_are_written(text):
    temporary_every = least(checkpoints={"temporary_every": text}).checkpoints.temporary_every

    assert format_duration(temporary_every) == text
    again = least(
        checkpoints={"temporary_every": format_duration(temporary_every)}
    ).checkpoints.temporary_every
    assert again == temporary_every


@pytest.mark.parametrize("text", ["1ms", "250ms", "0.9s"])
def test_a_cadence_is_at_least_a_second(text):
    with pytest.raises(WrongUse, match=r"shorter.*second"):
        least(babysit={"cadence": text})
    assert least(babysit={"cadence": "1s"}).babysit.cadence == timedelta(seconds=1)


def test_nothing_is_deleted_without_a_zone():
    with pytest.raises(WrongUse, match="needs tpu_zone"):
        least(babysit={"tpu_bad_node": "delete"})
    assert least(babysit={"tpu_bad_node": "delete", "tpu_zone": "z"}).babysit.tpu_zone == "z"


@pytest.mark.parametrize(
    ("size", "hero"),
    [
        ({}, False),
        ({"flops": 1e22}, True),
        ({"flops": 9.99e21}, False),
        ({"params": 1e12, "tokens": 2e9}, True),
        ({"params": 1e12, "tokens": 1.6e9}, False),
        ({"params": 1e13}, False),
        ({"flops": 1e25, "hero": False}, False),
        ({"hero": True}, True),
    ],
)
def test_what_counts_as_a_hero_run(size, hero):
    assert least(**size).is_hero is hero


def test_a_waiver_is_signed_with_a_zoned_end():
    (waiver,) = least(waiver=[{**WAIVER, "subject": "train.py"}]).waiver
    signed_waiver = waiver.as_signed_waiver()

    assert signed_waiver.expires == datetime(2026, 12, 1, 12, tzinfo=UTC)
    assert (signed_waiver.check, signed_waiver.subject, signed_waiver.unknown) == (
        "dirty-tree",
        "train.py",
        False,
    )


def test_what_enters_the_plan():
    before = plan_part(least())

    assert (
        plan_part(least(goal="other", dri="@x", waiver=[WAIVER], babysit={"cadence": "1m"}))
        == before
    )
    assert plan_part(least(final_step=7)) != before
    assert plan_part(least(runtime={"container": "sha256:1"})) != before


def test_channels_are_named_by_their_variables():
    assert least(notify={"targets": ["HERORUN_SLACK", "mail2"]}).notify.targets == (
        "HERORUN_SLACK",
        "mail2",
    )


@pytest.mark.parametrize(
    "targets",
    [
        ["slack://T1JJ3T3L2/A1BRTD4JD/s3cr3t-t0ken"],
        "slack://T1JJ3T3L2/A1BRTD4JD/s3cr3t-t0ken",
        ["OK", {"url": "s3cr3t-t0ken"}],
        ["A B s3cr3t-t0ken"],
    ],
)
def test_an_address_in_the_contract_is_an_error_that_names_the_key_and_never_the_address(targets):
    text = complaint(notify={"targets": targets})
    assert "`notify.targets" in text
    assert "s3cr3t" not in text


def test_a_channel_is_named_once():
    assert "twice" in complaint(notify={"targets": ["A", "A"]})
