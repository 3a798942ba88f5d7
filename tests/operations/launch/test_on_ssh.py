"""One whole run on a box, told by the real commands: its link is cut and fixed, and its trainer is
killed. Another one adopts a process that was started there by hand.

The box, its ssh server, the repository and the job are real. Everything that the job writes lies on
the box's own disk.
"""

import json
import shlex
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import herorun
from commands.answers import ask
from herorun.core.errors import CouldNotLook
from herorun.core.ports import Absent
from herorun.operations.launch import start_instance
from herorun.schedulers.external.local import LocalById
from operations.in_memory import fails
from services.boxes import Box
from stories import JOB, SLUG, WAIT, Story, contract_of, eventually
from wording import mentions

pytestmark = pytest.mark.back_end

CAPTURE = pytest.CaptureFixture[str]


@pytest.fixture
def data(box: Box, home: Path) -> Iterator[str]:
    """A folder on the box; what still runs there is ended."""
    folder = f"{box.home}/{home.name}"
    box.ssh(f"mkdir -p {folder}/orders")
    yield folder
    box.fix()
    names = f"sed -n 's/.*\"pid\": \\([0-9]*\\).*/\\1/p' {folder}/jobs/*/started.json 2>/dev/null"
    box.ssh(
        f"for pid in $({names}); do kill -9 -$pid 2>/dev/null; done; rm -rf {folder}", check=False
    )


@pytest.fixture
def box_story(home: Path, box: Box, data: str) -> Story:
    """A world whose run is to be launched on the box."""
    story = Story(home)
    story.begin(**tables(box, data))
    bring_check_in(story)
    story.publish()
    return story


def tables(box: Box, data: str) -> dict[str, Any]:
    """Those of its contract that name the box."""
    contract = contract_of(Path(data))
    scheduler = {
        "kind": "ssh",
        "host": box.name,
        "ssh_config": str(box.config),
        "folder": f"{data}/jobs",
        "settle": "20s",
        "grace": "200ms",
        "connect_timeout": "2s",
        "timeout": "5s",
    }
    return {"command": contract["command"], "output": contract["output"], "scheduler": scheduler}


def bring_check_in(story: Story) -> None:
    """The job checks in, by what of herorun a job needs: it travels with the code."""
    package = Path(herorun.__file__).parent
    names = (
        "__init__.py",
        "checkin.py",
        "process_facts.py",
        "receipt_file.py",
        "core/__init__.py",
        "core/admission/*.py",
        "core/module_provenance.py",
    )
    for path in (each for name in names for each in package.glob(name)):
        target = story.work / "herorun" / path.relative_to(package)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    script = story.work / "train.sh"
    script.write_text(
        f"python3 -c 'import herorun; herorun.check_in()' || exit 78\n{script.read_text()}"
    )


def status_of(box_story: Story, capsys: CAPTURE) -> tuple[int, Any]:
    """The exit code of a tick, and what it saw."""
    capsys.readouterr()
    code = box_story.tick("--json")
    return code, json.loads(capsys.readouterr().out)


def starts(box: Box, data: str) -> list[str]:
    return box.ssh(f"cat {data}/started", check=False).stdout.splitlines()


def test_a_run_on_a_box_outlives_a_cut_link_and_is_relaunched_after_a_crash(
    box_story: Story, box: Box, data: str, capsys: CAPTURE
) -> None:
    box.ssh(f"echo {shlex.quote(WAIT)} > {data}/orders/tiny-1")
    assert box_story.init() == 0
    assert box_story.herorun("preflight", SLUG, "--probe") == 0
    assert box_story.launch() == 0
    eventually(lambda: box.ssh(f"ls {data}/tiny/step-2/metadata.json", check=False).returncode == 0)
    assert not (box_story.root).exists()  # nothing was written, or looked for, under that path here

    code, tick = status_of(box_story, capsys)
    assert (code, tick["run"], tick["monitor"]) == (0, "healthy", "fresh"), tick["alerts"]
    assert tick["progress"] == "~3/4"

    box.cut()
    code, tick = status_of(box_story, capsys)
    assert (code, tick["run"]) == (3, "unknown")
    assert tick["monitor"] != "fresh"
    assert {action["action"] for action in tick["actions"]} <= {"tell", "escalate"}
    box.fix()
    assert starts(box, data) == ["tiny-1 scratch"]

    code, tick = status_of(box_story, capsys)
    assert (code, tick["run"], tick["monitor"]) == (0, "healthy", "fresh"), tick["alerts"]

    box.ssh(
        f"kill -9 $(sed -n 's/.*\"pid\": \\([0-9]*\\).*/\\1/p' {data}/jobs/tiny-1/started.json)"
    )
    eventually(lambda: box.ssh(f"ls {data}/jobs/tiny-1/exit.json", check=False).returncode == 0)
    code, tick = status_of(box_story, capsys)
    assert [action["action"] for action in tick["actions"] if action["action"] == "relaunch"] == [
        "relaunch"
    ]
    assert [event.outcome for event in box_story.events("CheckedIn")] == ["pass"]
    eventually(lambda: len(starts(box, data)) == 2)
    assert starts(box, data) == ["tiny-1 scratch", f"tiny-2 {data}/tiny/step-2"]

    eventually(lambda: box.ssh(f"ls {data}/jobs/tiny-2/exit.json", check=False).returncode == 0)
    box_story.tick()
    code, tick = status_of(box_story, capsys)
    assert (code, tick["run"], tick["progress"]) == (0, "finished", "~4/4")
    assert box_story.seal() == 0


@pytest.fixture
def interrupted_launch(
    box_story: Story, box: Box, data: str, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    """A launch was cut off after the job had started; returns its contract with another scheduler
    and another output root.
    """
    box.ssh(f"echo {shlex.quote(WAIT)} > {data}/orders/tiny-1")
    monkeypatch.setattr(start_instance, "SETTLING", 0.0)
    assert box_story.init() == 0
    with monkeypatch.context() as patch:
        patch.setattr(start_instance, "_confirm", fails(CouldNotLook("cut here")))
        assert box_story.launch() == 3
    eventually(lambda: starts(box, data) == ["tiny-1 scratch"])
    other = tables(box, data)
    other["output"] = {name: f"{root}-new" for name, root in other["output"].items()}
    other["scheduler"] |= {"folder": f"{data}/elsewhere", "settle": "2s"}
    return other


def test_an_interrupted_launch_is_found_where_it_was_submitted_whatever_the_contract_names_since(
    box_story: Story, box: Box, data: str, interrupted_launch: dict[str, Any]
) -> None:
    box_story.sign(**interrupted_launch)
    assert box_story.launch() == 0
    assert [event.instance for event in box_story.events("Launched")] == ["tiny-1"]
    assert starts(box, data) == ["tiny-1 scratch"]


def test_an_interrupted_launch_on_a_silent_box_starts_no_second_job_until_a_person_signs(
    box_story: Story, box: Box, data: str, interrupted_launch: dict[str, Any], capsys: CAPTURE
) -> None:
    elsewhere = {"output": {}, "command": {}, "scheduler": {"kind": "local"}}
    box.cut()
    box_story.sign(**elsewhere)
    preflight = ask(box_story, capsys, "preflight", SLUG, "--json")
    finding = preflight.finding("live-duplicate")
    assert (preflight.code, finding["outcome"], finding["subject"]) == (3, "unknown", "tiny-1")
    assert box_story.launch() == 3
    command = "herorun waive live-duplicate tiny --subject tiny-1 --unknown"
    assert box_story.shown_commands(f"`{command}`") in capsys.readouterr().err
    assert box_story.starts == []
    assert box_story.herorun(*command.split()[1:], "--reason", "the box is gone") == 0
    waiver = tomllib.loads(capsys.readouterr().out)["waiver"][0] | {"approved_by": "@dri"}
    for narrower in ({"subject": "tiny-2"}, {"covers_unknown": False}):
        box_story.sign(**elsewhere, waiver=[waiver | narrower])
        assert box_story.launch() == 3
    every_subject = {key: value for key, value in waiver.items() if key != "subject"}
    box_story.sign(**elsewhere, waiver=[every_subject])
    assert box_story.launch() == 3
    assert box_story.starts == []
    box_story.sign(**elsewhere, waiver=[waiver])
    assert box_story.launch() == 0
    eventually(lambda: box_story.starts == ["tiny-2 scratch"])
    assert [event.instance for event in box_story.events("Launched")] == ["tiny-2"]


def test_an_interrupted_adoption_is_continued_where_the_job_runs(
    box_story: Story, box: Box, data: str, monkeypatch: pytest.MonkeyPatch, capsys: CAPTURE
) -> None:
    """The present scheduler has no such process, which is no end of the job."""
    box.ssh(f"echo {shlex.quote(WAIT)} > {data}/orders/by-hand")
    box.ssh(f"echo {shlex.quote(JOB)} > {data}/train.sh")
    job = f"HERORUN_INSTANCE=by-hand nohup {shlex.join(['sh', 'train.sh', data])}"
    pid = box.ssh(f"cd {data}; {job} > log 2>&1 & echo $!").stdout.strip()
    eventually(lambda: starts(box, data) == ["by-hand scratch"])
    assert box_story.init() == 0
    with monkeypatch.context() as patch:
        patch.setattr(start_instance, "_adopt_job", fails(CouldNotLook("cut here")))
        assert box_story.launch("--adopt", pid) == 3
    box_story.sign(output={}, command={}, scheduler={"kind": "local"})
    # the box of this test is this machine, so that the process is here, too
    monkeypatch.setattr(LocalById, "find_job", lambda *_: Absent())
    capsys.readouterr()
    assert box_story.launch() == 0
    assert mentions(capsys.readouterr().out, "adopted", "tiny-1", pid)
    assert [(event.instance, event.job) for event in box_story.events("Launched")] == [
        ("tiny-1", pid)
    ]
    assert box_story.starts == []


def test_a_process_on_a_box_is_adopted_and_after_its_end_a_person_launches_the_next_instance(
    box_story: Story, box: Box, data: str, capsys: CAPTURE
) -> None:
    argv = ["sh", "train.sh", data]
    box.ssh(f"echo {shlex.quote(WAIT)} | tee {data}/orders/by-hand {data}/orders/tiny-2")
    box.ssh(f"echo {shlex.quote(JOB)} > {data}/train.sh")
    job = f"HERORUN_INSTANCE=by-hand nohup {shlex.join(argv)}"
    pid = box.ssh(f"cd {data}; {job} > log 2>&1 & echo $!").stdout.strip()
    eventually(lambda: box.ssh(f"ls {data}/tiny/step-2/metadata.json", check=False).returncode == 0)
    assert box_story.init() == 0
    capsys.readouterr()
    assert box_story.launch("--adopt", pid, "--json") == 0, capsys.readouterr()
    answer = json.loads(capsys.readouterr().out)
    assert (answer["instance"], answer["job"]) == ("tiny-1", pid)
    assert answer["adopted"]["command"] == argv
    assert starts(box, data) == ["by-hand scratch"]

    code, tick = status_of(box_story, capsys)
    assert (code, tick["run"], tick["monitor"]) == (3, "unknown", "fresh")  # nobody compared it
    box.ssh(f"kill -9 {pid}")
    code, tick = status_of(box_story, capsys)
    assert (code, tick["run"], tick["actions"]) == (3, "unknown", [])  # it left no exit code
    assert box_story.launch() == 0
    eventually(lambda: len(starts(box, data)) == 2)
    assert starts(box, data) == ["by-hand scratch", f"tiny-2 {data}/tiny/step-2"]
