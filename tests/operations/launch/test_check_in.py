"""Check-in inside real jobs: what runs is compared with what was admitted, before it trains."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from stories import SLUG, Story
from wording import mentions

SOURCES = str(Path(__file__).parents[3] / "src")
JOB = """\
import json, os, sys
import herorun
told = json.loads(sys.stdin.read() or "{}")
receipt = herorun.check_in(**told)
print(json.dumps({"receipt": receipt, "heavy": sorted({"pydantic", "click", "git", "rich"} & set(sys.modules))}))
"""  # noqa: E501  # a text that is read as it stands
# What the scheduler's job is: the submitted process itself, and not one that it has started.
SUBMITTED_ARGV = ["sh", "-c", 'HERORUN_MAIN_PID=$$ exec "$@"', "sh"]
ARGV = [sys.executable, "-S", "train.py", "--seed", "7"]


@dataclass(frozen=True)
class Ended:
    """How a job ended, and what it said."""

    code: int
    out: str
    err: str

    @property
    def receipt(self) -> Any:
        return json.loads(self.out)["receipt"]

    @property
    def refusals(self) -> list[str]:
        """The items for which it refused."""
        text = [
            line.split(": ")
            for line in self.err.splitlines()
            if line.startswith("herorun: refused: ")
        ]
        return [parts[2] for parts in text]


@dataclass(frozen=True)
class Admitted:
    """A launched instance, whose job is started again as its scheduler did, with one thing
    changed.
    """

    story: Story
    admission: Path

    def run(
        self,
        *argv: str,
        code: Path | None = None,
        env: Mapping[str, str] | None = None,
        main: bool = True,
        **changes: Any,
    ) -> Ended:
        """Run the job in its exported copy, or in another one; `told` is what the script passes to
        check-in.
        """
        admission = json.loads(self.admission.read_text())
        place = self.admission
        if code:
            place = code.parent / "admission.json"
            place.write_text(json.dumps({**admission, "code": str(code)}))
        least = {**admission["environment"]["values"], "HERORUN_ADMISSION": str(place)}
        process = subprocess.run(
            [*(SUBMITTED_ARGV if main else ()), *(argv or ARGV)],
            cwd=code or admission["code"],
            env={**least, **(env or {})},
            input=json.dumps(changes),
            capture_output=True,
            text=True,
            check=False,
        )
        return Ended(process.returncode, process.stdout, process.stderr)

    def copy(self) -> Path:
        """A copy of the code that a test may change."""
        target = self.story.home / "copy" / "code"
        shutil.copytree(json.loads(self.admission.read_text())["code"], target, symlinks=True)
        return target

    @property
    def receipts(self) -> dict[str, Any]:
        folder = self.story.root / "_herorun" / "receipts"
        return {path.name: json.loads(path.read_text()) for path in sorted(folder.glob("*"))}


@pytest.fixture
def real_launch(story: Story) -> Admitted:
    """One real launch of a Python job, whose first check-in has passed."""
    (story.work / "train.py").write_text(JOB)
    (story.work / "README.md").write_text("words\n")
    story.sign(command={"argv": ARGV, "env": {"PYTHONPATH": SOURCES}})
    story.run_first_job()
    return Admitted(story, story.state / "admissions" / "tiny-1" / "admission.json")


@pytest.mark.thorough
def test_the_launched_job_itself_has_checked_in(real_launch: Admitted) -> None:
    (receipt,) = real_launch.receipts.values()
    assert (receipt["instance"], receipt["attempt"], receipt["outcome"]) == (f"{SLUG}-1", 1, "pass")
    outcomes = {item["item"]: item["outcome"] for item in receipt["items"]}
    assert outcomes["argv"] == outcomes["config"] == outcomes["code"] == "pass"
    assert {outcomes[name] for name in ("resolved-config", "start")} == {"unknown"}
    log = (real_launch.story.jobs / "tiny-1" / "job.log").read_text()
    assert log.count("HERORUN_RECEIPT {") == 1 and log.count('"outcome": "pass", "rank"') == 1


@pytest.mark.thorough
def test_it_needs_the_standard_library_alone(real_launch: Admitted) -> None:
    """`-S`: no site-packages. Where there are some, nothing of them is imported either."""
    assert json.loads(real_launch.run().out)["heavy"] == []
    script = f"import sys; sys.argv = ['train.py']\n{JOB}"
    process = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": SOURCES},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert json.loads(process.stdout)["heavy"] == []


@pytest.mark.thorough
def test_all_that_is_reported_and_right_passes(real_launch: Admitted) -> None:
    root = f"{real_launch.story.root}/"
    check_in = real_launch.run(
        config={"trainer": {"seed": 7}}, output_root=root, tracker_id=SLUG, loaded=None
    )
    assert (check_in.code, check_in.receipt["outcome"]) == (0, "pass")
    assert {item["outcome"] for item in check_in.receipt["items"]} == {"pass"}


WRONG: dict[str, tuple[dict[str, Any], str, str]] = {
    "another config": (
        {"config": {"trainer": {"seed": 8}}},
        "resolved-config",
        "trainer.seed is 8, but 7 was admitted",
    ),
    "another output root": (
        {"output_root": "/elsewhere"},
        "output-root",
        "is /elsewhere, but",
    ),
    "another tracker run": (
        {"tracker_id": "other"},
        "tracker-id",
        "is other, but tiny was admitted",
    ),
    "a checkpoint that nobody chose": ({"loaded": "/old/step-9"}, "start", "loaded /old/step-9"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", WRONG)
def test_a_difference_refuses_with_78_before_anything_else_runs(
    real_launch: Admitted, name: str
) -> None:
    changes, item, words = WRONG[name]
    check_in = real_launch.run(**changes)
    assert (check_in.code, check_in.out, check_in.refusals) == (78, "", [item])
    assert words in check_in.err and "Exit code 78" in check_in.err
    assert "Traceback" not in check_in.err
    assert real_launch.receipts["tiny-1.2.json"]["outcome"] == "fail"


@pytest.mark.thorough
def test_an_edited_code_file_is_named(real_launch: Admitted) -> None:
    code = real_launch.copy()
    assert real_launch.run(code=code).code == 0
    (code / "train.py").write_text(f"{JOB}\n# quick fix\n")
    check_in = real_launch.run(code=code)
    assert (check_in.code, check_in.refusals) == (78, ["code"])
    assert "train.py" in check_in.err


@pytest.mark.thorough
def test_a_missing_code_file_is_named_and_prose_is_not_code(real_launch: Admitted) -> None:
    code = real_launch.copy()
    (code / "README.md").write_text("other words\n")
    assert real_launch.run(code=code).code == 0
    (code / "train.sh").unlink()
    assert real_launch.run(code=code).refusals == ["code"]


@pytest.mark.thorough
def test_an_edited_config_file_is_named(real_launch: Admitted) -> None:
    code = real_launch.copy()
    (code / "config.toml").write_text("[trainer]\nseed = 8\n")
    check_in = real_launch.run(code=code)
    assert check_in.code == 78 and "config" in check_in.refusals and "config.toml" in check_in.err


@pytest.mark.thorough
def test_other_arguments_are_refused(real_launch: Admitted) -> None:
    """A launcher's workers have their own: only the submitted process is held to what was
    admitted.
    """
    assert real_launch.run(*ARGV[:-1], "8").refusals == ["argv"]
    worker = real_launch.run(*ARGV[:-1], "8", env={"RANK": "3"}, main=False)
    assert worker.code == 0
    assert real_launch.run(*ARGV).code == 0


def test_every_rank_compares_and_one_writes_unless_it_refuses(real_launch: Admitted) -> None:
    before = len(real_launch.receipts)
    ranks = [real_launch.run(env={"RANK": str(rank)}) for rank in range(4)]
    assert [rank.code for rank in ranks] == [0] * 4
    assert len(real_launch.receipts) == before + 1
    assert ["HERORUN_RECEIPT" in rank.err for rank in ranks] == [True, False, False, False]
    wrong = [real_launch.run(env={"RANK": str(rank)}, tracker_id="other") for rank in range(4)]
    assert [rank.code for rank in wrong] == [78] * 4
    assert len(real_launch.receipts) == before + 1 + 4
    refused_rows = [value for value in real_launch.receipts.values() if value["outcome"] == "fail"]
    assert sorted(value["rank"] for value in refused_rows) == [0, 1, 2, 3]


@pytest.mark.thorough
def test_a_root_that_cannot_be_written_is_reported_and_does_not_stop_the_job(
    real_launch: Admitted,
) -> None:
    shutil.rmtree(real_launch.story.root)
    real_launch.story.root.write_text("a file")
    check_in = real_launch.run()
    assert (
        check_in.code == 0
        and "HERORUN_RECEIPT {" in check_in.err
        and mentions(check_in.err, "written")
    )


@pytest.mark.thorough
@pytest.mark.parametrize("content", [None, "{torn", "[]", "{}"])
def test_an_admission_that_cannot_be_read_refuses(
    real_launch: Admitted, content: str | None
) -> None:
    if content is None:
        real_launch.admission.unlink()
    else:
        real_launch.admission.write_text(content)
    least = {"PYTHONPATH": SOURCES, "HERORUN_ADMISSION": str(real_launch.admission)}
    code = real_launch.story.state / "code"
    (job,) = code.rglob("train.py")
    process = subprocess.run(
        ARGV, cwd=job.parent, env=least, capture_output=True, text=True, check=False
    )
    assert (process.returncode, "Traceback" in process.stderr) == (78, False)
    assert str(real_launch.admission) in process.stderr


def test_without_an_admission_it_says_one_line_and_continues(home: Path) -> None:
    """A script that calls it stays an ordinary script."""
    script = home / "train.py"
    script.write_text(JOB)
    argv = [sys.executable, "-S", str(script)]
    env = {"PYTHONPATH": SOURCES}
    process = subprocess.run(argv, env=env, input="", capture_output=True, text=True, check=False)
    assert (process.returncode, json.loads(process.stdout)["receipt"]) == (0, None)
    (line,) = process.stderr.splitlines()
    assert mentions(line, "herorun: ", "HERORUN_ADMISSION", "not governed")
    required_item = '{"required": true}'
    refused_process = subprocess.run(
        argv, env=env, input=required_item, capture_output=True, text=True, check=False
    )
    assert (refused_process.returncode, refused_process.stdout) == (78, "")


@pytest.mark.thorough
def test_a_refused_job_is_not_relaunched_and_the_reason_is_reported(story: Story) -> None:
    """The whole way: the job's own exit code and receipt, seen by the babysitter."""
    (story.work / "train.py").write_text("import herorun\nherorun.check_in(tracker_id='other')\n")
    env = {"PYTHONPATH": SOURCES}
    story.sign(command={"argv": ARGV, "env": env})
    story.run_first_job()
    assert [story.tick(), story.tick()] == [1, 1]
    page = (story.state / "issue.md").read_text()
    assert mentions(page, "tiny-1", "check-in", "tracker-id", "admitted")
    assert len(story.events("Launched")) == 1
    assert os.listdir(story.root / "_herorun" / "receipts") == ["tiny-1.1.json"]
