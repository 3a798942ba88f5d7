"""The output folder is deleted while the job runs: every surface says so, in one sentence."""

import json
import shutil
from pathlib import Path

import pytest

from stories import Story, eventually
from wording import mentions

pytestmark = pytest.mark.thorough
CAPTURE = pytest.CaptureFixture[str]
FAIL = """rm -rf "$root"
python3 -c 'import sys
open(sys.argv[1] + "/metrics.jsonl", "a")' "$root"
exit 1"""
ORDER = 'while [ ! -e "$data/go" ]; do sleep 0.05; done\n' + FAIL


def test_every_surface_says_that_the_output_root_is_gone(story: Story, capsys: CAPTURE) -> None:
    story.order("tiny-1", ORDER)
    assert story.init() == 0
    assert story.launch() == 0
    story.reaches(2)
    story.tick()
    (story.data / "go").touch()
    story.wait_for_end()
    sentence = f"tiny-1 ended as failed: exit code 1; the output root {story.root} is gone"

    fields = {}
    log = str(story.jobs / "tiny-1" / "job.log")
    downloaded_path = story.home / "slurm-4711.out"
    receipt = json.dumps({"instance": "tiny-1", "attempt": 1, "outcome": "pass", "items": []})
    downloaded_path.write_text(f"HERORUN_RECEIPT {receipt}\n{Path(log).read_text()}")
    for words in (
        ("babysit", "tiny", "--once"),
        ("status", "tiny"),
        ("triage", "tiny"),
        ("triage", log),
        ("triage", str(downloaded_path)),
    ):
        capsys.readouterr()
        assert story.herorun(*words) == 1
        fields[" ".join(words)] = " ".join(capsys.readouterr().out.split())
    capsys.readouterr()
    story.herorun("report", "tiny", "--json")
    (launch_document,) = json.loads(capsys.readouterr().out)["instances"]
    fields["report"] = launch_document["diagnosis"]
    page = (story.state / "issue.md").read_text()
    fields["issue"] = " ".join(page.replace("\\", "").replace("\n> ", " ").split())

    assert {name: sentence in text for name, text in fields.items()} == dict.fromkeys(fields, True)
    assert not mentions(page, "bug", "code") and mentions(page, "relaunched", "output")
    assert story.herorun("relaunch", "tiny") == 1
    assert story.starts == ["tiny-1 scratch"]

    story.root.joinpath("brought-back").mkdir(parents=True)
    capsys.readouterr()
    assert story.herorun("triage", "tiny") == 1
    output = capsys.readouterr().out
    assert mentions(output, "output", f"{story.root}", "gone")
    assert story.tick() == 1
    assert story.comments[-1] == "escalate/relaunch/tiny-1/output-root-back"
    assert story.starts == ["tiny-1 scratch"]


TEMPORARY = """mkdir -p "$data/tiny-temporary/step-3"
echo '{"step": 3, "timestamp": "2026-01-01T00:00:03", "is_temporary": true}' > "$data/tiny-temporary/step-3/metadata.json"
while [ ! -e "$data/go" ]; do sleep 0.05; done
python3 -c 'import sys
open(sys.argv[1] + "/step-4", "a")' "$data/tiny-temporary"
exit 1"""  # noqa: E501  # a text that is read as it stands


def test_a_root_that_is_lost_while_the_job_lives_is_told_at_the_first_look(
    story: Story, capsys: CAPTURE
) -> None:
    """First the temporary root goes, then the output root with it; at the end the first is back."""
    story.order("tiny-1", TEMPORARY)
    assert story.init() == 0
    assert story.launch() == 0
    temporary = story.data / "tiny-temporary"
    eventually((temporary / "step-3" / "metadata.json").exists)
    story.tick()
    shutil.rmtree(temporary)
    place = f"temporary root {temporary}"

    for words in (("status", "tiny"), ("babysit", "tiny", "--once"), ("status", "tiny")):
        capsys.readouterr()
        assert story.herorun(*words) == 1
        text = " ".join(capsys.readouterr().out.split())
        assert mentions(text, "tiny-1 is running", f"{place} is gone") and "healthy" not in text
    assert "escalate/lost-output%5Btiny-1%5D" in story.comments[-1]

    root = story.root.rename(story.data / "aside")
    capsys.readouterr()
    assert story.herorun("status", "tiny") == 1
    text = " ".join(capsys.readouterr().out.split())
    assert mentions(text, "tiny-1", "running", f"{story.root}") and "healthy" not in text
    root.rename(story.root)

    (story.data / "go").touch()
    story.wait_for_end()
    fields = {}
    for words in (("babysit", "tiny", "--once"), ("status", "tiny"), ("triage", "tiny")):
        capsys.readouterr()
        assert story.herorun(*words) == 1
        fields[" ".join(words)] = " ".join(capsys.readouterr().out.split())
    end_line = ("tiny-1", "failed: exit code 1;", f"{place} is gone")
    assert {name: mentions(text, *end_line) for name, text in fields.items()} == dict.fromkeys(
        fields, True
    )
    assert story.starts == ["tiny-1 scratch"]
