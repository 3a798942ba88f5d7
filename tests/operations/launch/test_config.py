"""The resolved config on its way through init, preflight, launch and check-in."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from commands.answers import Answer, ask
from herorun.operations.launch.admitted_plan import admitted_plan
from screens.notices import Notice
from stories import SLUG, Story
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]
PRINTS = """\
import json, os, sys, time
print(json.dumps({"run": {"stamp": time.time_ns(), "pid": os.getpid()}, "trainer": {"seed": 7, "lr": 1e-3}}))
"""  # noqa: E501  # a text that is read as it stands
COMMAND = {"files": [], "command": [sys.executable, "show_config.py"]}


def printing(story: Story, text: str = PRINTS, **config: object) -> Story:
    """The run's config is printed by a command."""
    (story.work / "show_config.py").write_text(text)
    story.sign(config={**COMMAND, **config})
    return story


def test_init_names_the_keys_that_the_command_prints_otherwise_each_time(
    story: Story, capsys: CAPTURE
) -> None:
    answer = ask(printing(story), capsys, "init", SLUG)

    assert answer.code == 0
    assert 'Add to [config]: volatile = ["run.pid", "run.stamp"].' in answer.err


def test_declared_volatile_they_are_no_longer_named(story: Story, capsys: CAPTURE) -> None:
    answer = ask(printing(story, volatile=["run"]), capsys, "init", SLUG, "--json")

    assert (answer.code, answer.err, answer.document["unstable_keys"]) == (0, "", [])


def test_a_command_that_fails_is_reported_and_the_record_is_begun(
    story: Story, capsys: CAPTURE
) -> None:
    reason = "no such key"
    answer = ask(printing(story, f"raise SystemExit({reason!r})"), capsys, "init", SLUG)

    assert answer.code == 0 and mentions(answer.err, "tried") and reason in answer.err
    assert story.run.record.tip


@pytest.mark.thorough
def test_two_preflights_are_one_plan_and_check_in_does_not_mind(
    story: Story, capsys: CAPTURE
) -> None:
    printing(story, volatile=["run.*"])
    story.init()
    plans = [ask(story, capsys, "preflight", SLUG, "--json").document for _ in range(2)]
    assert plans[0]["plan_digest"] == plans[1]["plan_digest"]
    assert plans[0]["plan"]["config"]["value"] == {"trainer": {"seed": 7, "lr": 0.001}}

    assert story.launch() == 0
    story.wait_for_end()
    launching = story.run.record.memory().launchings["tiny-1"]
    assert admitted_plan(story.run, launching).digest == launching.plan_digest
    assert checked_in(story, '{"run": {"stamp": 1}, "trainer": {"seed": 7, "lr": 1e-3}}') == 0
    assert checked_in(story, '{"trainer": {"seed": 8}}') == 78


def checked_in(story: Story, config: str) -> int:
    """The exit code of a process that checks in with this config."""
    admission = story.state / "admissions" / "tiny-1" / "admission.json"
    document = json.loads(admission.read_text())
    aside = story.home / "admission.json"
    aside.write_text(json.dumps({**document, "output_root": str(story.home)}))
    words = (
        f"import json, herorun; herorun.check_in(config=json.loads({config!r}), "
        f"output_root={str(story.home)!r})"
    )
    sources = str(Path(__file__).parents[3] / "src")
    env = {
        "PYTHONPATH": sources,
        **document["environment"]["values"],
        "HERORUN_ADMISSION": str(aside),
    }
    process = subprocess.run(
        [sys.executable, "-c", words], env=env, capture_output=True, check=False
    )
    return process.returncode


def problem(answer: Answer) -> str:
    """Why the plan could not be made."""
    messages = {f["message"] for f in answer.document["findings"] if f["outcome"] == "unknown"}
    (message,) = (message for message in messages if "onfig" in message)
    return re.sub(r"\b[0-9a-f]{9,40}\b", "COMMIT", message).replace(sys.executable, "python")


@pytest.mark.parametrize(
    "printed_text",
    [
        '{"a": 1, "a": 2}',
        "[1]",
        "a: 1",
        "x" * 16_000_001,
    ],
)
def test_what_a_command_may_print(
    story: Story, capsys: CAPTURE, printed_text: str, notice: Notice
) -> None:
    printing(
        story, f"print({printed_text!r})" if len(printed_text) < 1000 else "print('x' * 16_000_001)"
    )
    answer = ask(story, capsys, "preflight", SLUG, "--json")

    assert answer.document["plan"] is None
    assert problem(answer) == notice


@pytest.mark.parametrize(
    "name",
    [
        "../away.yaml",
        "/etc/config.yaml",
        "missing.yaml",
    ],
)
def test_a_config_that_is_no_file_of_the_commit(
    story: Story, capsys: CAPTURE, name: str, notice: Notice
) -> None:
    story.sign(config={"files": [name]})
    answer = ask(story, capsys, "preflight", SLUG, "--json")

    assert answer.document["plan"] is None
    assert problem(answer) == notice


def test_a_hydra_output_is_a_config(story: Story, capsys: CAPTURE) -> None:
    folder = story.work / ".hydra"
    folder.mkdir()
    (folder / "config.yaml").write_text("seed: 7\nmodel: {seed: '${seed}'}\nout: 'x/${now:%Y}'\n")
    (folder / "overrides.yaml").write_text("- model=big\n- seed=7\n")
    story.sign(config={"files": [".hydra/config.yaml", ".hydra/overrides.yaml"]})
    value = ask(story, capsys, "preflight", SLUG, "--json").document["plan"]["config"]["value"]

    assert value == {
        "seed": 7,
        "model": {"seed": 7},
        "out": "x/${now:%Y}",
        "overrides": {"model": "big", "seed": "7"},
    }


@pytest.mark.thorough
def test_a_second_launch_with_another_seed_is_blocked_by_name_and_may_be_waived(
    story: Story, capsys: CAPTURE
) -> None:
    story.init()
    assert story.launch() == 0
    story.wait_for_end()
    (story.work / "config.toml").write_text("[trainer]\nseed = 8\n")
    story.publish()
    answer = ask(story, capsys, "preflight", SLUG, "--json")
    finding = answer.finding("config-drift")
    assert answer.code == 1
    assert (finding["subject"], finding["message"]) == (
        "trainer.seed",
        "trainer.seed: 7 -> 8 (trajectory)",
    )

    waiver = {
        "check": "config-drift",
        "subject": "trainer.seed",
        "reason": "r",
        "approved_by": "@dri",
    }
    story.sign(waiver=[{**waiver, "expires": "2999-01-01T00:00:00Z"}])
    finding = ask(story, capsys, "preflight", SLUG, "--json").finding("config-drift")
    assert finding["waiver"]["approved_by"] == "@dri"


def test_the_estimate_is_shown(story: Story, capsys: CAPTURE) -> None:
    story.sign(
        params=1e9, tokens=1e10, budget={"accelerator_hours": 80, "rate": 2}, hardware={"count": 8}
    )
    estimate = ask(story, capsys, "preflight", SLUG, "--json").document["estimate"]
    output = ask(story, capsys, "preflight", SLUG).out

    assert (estimate["flops"], estimate["cost"], estimate["wall_hours"], estimate["hero"]) == (
        6e19,
        160,
        10,
        False,
    )
    assert "6 x 1e+09 parameters x 1e+10 tokens" in output and "160.00" in output


def test_a_secret_that_a_failing_command_prints_is_not_told(story: Story, capsys: CAPTURE) -> None:
    answer = ask(
        printing(story, "raise SystemExit('API_TOKEN=hunter2hunter2')"), capsys, "init", SLUG
    )

    assert mentions(answer.err, "tried") and "hunter2" not in answer.err


@pytest.mark.thorough
def test_a_launch_whose_plan_no_relaunch_could_make_again_is_blocked(
    story: Story, capsys: CAPTURE
) -> None:
    printing(story)
    story.init()
    answer = ask(story, capsys, "launch", SLUG, "--no-babysit")

    assert (answer.code, story.starts) == (1, [])
    assert 'Add to [config]: volatile = ["run.pid", "run.stamp"].' in answer.err


@pytest.mark.thorough
def test_a_changed_key_of_no_weight_does_not_block_the_next_launch(
    story: Story, capsys: CAPTURE
) -> None:
    (story.work / "config.toml").write_text("[trainer]\nseed = 7\nlog_interval = 5\n")
    story.publish()
    story.run_first_job()
    (story.work / "config.toml").write_text("[trainer]\nseed = 7\nlog_interval = 9\n")
    story.publish()
    findings = ask(story, capsys, "preflight", SLUG, "--json").document["findings"]

    assert {
        f["outcome"] for f in findings if f["check"] in ("config-drift", "changed-trajectory")
    } == {"pass"}


def test_one_reason_is_reported_once(story: Story, capsys: CAPTURE) -> None:
    output = ask(printing(story, "print('no config')"), capsys, "preflight", SLUG).out

    assert output.count("JSON object") == 1
    assert mentions(output, "unknown", "reason")


def test_a_secret_in_the_environment_of_the_command_is_not_shown(
    story: Story, capsys: CAPTURE
) -> None:
    story.sign(command={"env": {"WANDB_API_KEY": "hunter2hunter2"}})
    output = ask(story, capsys, "preflight", SLUG).out

    assert "WANDB_API_KEY=[scrubbed]" in output and "hunter2" not in output
