"""The launch gate of a run that reports to W&B, by the real command line, on a server on
loopback.
"""

import json
import tomllib
from pathlib import Path

import pytest
import tomli_w

from herorun.core.doctor_report import Fit
from herorun.trackers import wandb as tracker
from services.wandb_service import Reader, WandbService
from stories import SLUG, Story
from wording import mentions

TRACKER_CHECKS = {
    "tracker-identity",
    "ambiguous-tracker-run",
    "invalid-tracker-id",
    "tracker-environment",
    "tracker-resume-auto",
    "hidden-replay",
}


def report_to(story: Story, wandb: WandbService) -> None:
    """Let the contract's run report to this server."""
    path = story.work / "runs" / "tiny.toml"
    document = tomllib.loads(path.read_text())
    document["tracker"] = {
        "kind": "wandb",
        "entity": "ent",
        "project": "proj",
        "base_url": wandb.url,
    }
    path.write_text(tomli_w.dumps(document))
    story.publish()


def preflight_answers(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> dict[str, tuple[str, str]]:
    """What preflight says of the tracker's run, by check."""
    capsys.readouterr()
    story.herorun("preflight", SLUG, "--json")
    document = json.loads(capsys.readouterr().out)
    return {
        f["check"]: (f["outcome"], f["message"])
        for f in document["findings"]
        if f["check"] in TRACKER_CHECKS
    }


@pytest.mark.thorough
def test_a_free_id_is_clear_and_a_strangers_run_blocks(
    story: Story,
    wandb: WandbService,
    wandb_reader: Reader,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = {"displayName": "other", "state": "finished", "history": [{"_step": 7}]}
    wandb.put({"ent/proj/other": other})
    report_to(story, wandb)

    free = preflight_answers(story, capsys)
    assert {name: outcome for name, (outcome, _) in free.items()} == {
        **dict.fromkeys(TRACKER_CHECKS, "pass"),
        "hidden-replay": "n/a",
    }

    wandb.put({"ent/proj/tiny": {**other, "displayName": "tiny"}})
    monkeypatch.setattr(tracker, "ask_client", wandb_reader)
    outcome, output = preflight_answers(story, capsys)["tracker-identity"]
    assert outcome == "fail"
    assert mentions(output, "W&B", "append")


# --- the key --------------------------------------------------------------------------------------


def test_a_key_is_looked_for_where_its_client_looks_and_never_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("WANDB_API_KEY", "WANDB_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    team = tracker.Wandb(tracker.Options(entity="team", project="hero", id="tiny", name="tiny"))
    assert [part.status for part in team.examine()] == [Fit.FAILED]
    (tmp_path / "netrc").write_text("machine api.wandb.ai login user password 0123456789abcdef\n")
    (part,) = team.examine()
    assert part.status is Fit.OK and "0123456789abcdef" not in part.message
    (tmp_path / "netrc").write_text("machine api.wandb.ai login user 0123456789abcdef\n")
    (part,) = team.examine()  # it may hold one all the same
    assert (
        part.status is Fit.UNKNOWN
        and mentions(part.message, "around", "line")
        and "0123456789abcdef" not in part.message
    )
