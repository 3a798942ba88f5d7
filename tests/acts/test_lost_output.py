"""The output folder is deleted while the job runs: every surface says so, in one sentence."""

import json

import pytest

from stories import Story

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
    story.ended()
    sentence = f"tiny-1 is failed: exit code 1; the output root {story.root} is gone"

    said = {}
    log = str(story.jobs / "tiny-1" / "job.log")
    for words in (("babysit", "tiny", "--once"), ("status", "tiny"), ("triage", "tiny"), ("triage", log)):
        capsys.readouterr()
        assert story.herorun(*words) == 1
        said[" ".join(words)] = " ".join(capsys.readouterr().out.split())
    capsys.readouterr()
    story.herorun("report", "tiny", "--json")
    (launched,) = json.loads(capsys.readouterr().out)["instances"]
    said["report"] = launched["diagnosis"]
    page = (story.state / "issue.md").read_text()
    said["issue"] = " ".join(page.replace("\\", "").replace("\n> ", " ").split())

    assert {name: sentence in text for name, text in said.items()} == dict.fromkeys(said, True)
    assert "A bug in the code" not in page and "Nothing is relaunched into an output root" in page
    assert story.herorun("relaunch", "tiny") == 1
    assert story.starts == ["tiny-1 scratch"]

    story.root.joinpath("brought-back").mkdir(parents=True)
    capsys.readouterr()
    assert story.herorun("triage", "tiny") == 1
    told = capsys.readouterr().out
    assert f"the output root {story.root} was gone, and is there again" in told
    assert story.tick() == 1
    assert story.comments[-1] == "escalate/relaunch/tiny-1/output-root-back"
    assert story.starts == ["tiny-1 scratch"]
