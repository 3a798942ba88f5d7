"""What would look regularly, as text; systemd itself reads the units."""

import os
import re
import shlex
import shutil
import subprocess
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from builders import a_contract
from herorun.core.errors import WrongUse
from herorun.core.remote.timer import TimerRequest, actions, argv_of, cron, removal, systemd, when
from herorun.system.templates import template
from services.fixtures import skip_or_fail
from wording import mentions


def a_wish(every: str = "30m", **changes: str) -> TimerRequest:
    minutes = {"1m": 1, "30m": 30, "45m": 45, "1h": 60, "7h": 420, "12h": 720, "24h": 1440}[every]
    fields = {
        "slug": "tiny",
        "top": "/home/dri/work",
        "program": "/usr/bin/herorun",
        "command": "patrol",
        **changes,
    }
    return TimerRequest(**fields, every=timedelta(minutes=minutes))


def units(text: str) -> dict[str, str]:
    """Split as the page itself says."""
    parts = re.split(r"^# ~/\.config/systemd/user/(\S+)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_systemd_takes_the_units_as_they_are(tmp_path: Path) -> None:
    """A folder with a blank, a per cent sign and a dollar in its name."""
    top = tmp_path / "a 100% $work"
    top.mkdir()
    unit_files = units(systemd(a_wish(top=str(top), program=shutil.which("true") or "/bin/true")))
    assert set(unit_files) == {"herorun-patrol-tiny.service", "herorun-patrol-tiny.timer"}
    for name, text in unit_files.items():
        (tmp_path / name).write_text(text)
    if not shutil.which("systemd-analyze"):
        pytest.skip("there is no systemd-analyze here")
    argv = [
        "systemd-analyze",
        "verify",
        "--man=no",
        "--user",
        *(str(tmp_path / name) for name in unit_files),
    ]
    process = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
    complaints = [line for line in process.stderr.splitlines() if "herorun-patrol-tiny" in line]
    assert complaints == []


@pytest.mark.parametrize(
    ("command", "notifies", "argv"),
    [
        ("patrol", False, ["box", "patrol", "tiny"]),
        ("patrol", True, ["box", "patrol", "tiny", "--notify"]),
        ("babysit", True, ["babysit", "tiny", "--once"]),
    ],
)
def test_what_each_timer_runs(command: str, notifies: bool, argv: list[str]) -> None:
    request = replace(a_wish(command=command), notifies=notifies)
    assert argv_of(request) == ["/usr/bin/herorun", "-C", "/home/dri/work", *argv]


def test_the_service_quotes_each_argument_and_stops_a_tick_that_hangs() -> None:
    request = replace(a_wish(top='/a "$b" 5%\\c'), limit=299.6)
    service, timer = units(systemd(request)).values()
    quoted_argv = '"/usr/bin/herorun" "-C" "/a \\"$$b\\" 5%%\\\\c" "box" "patrol" "tiny"'
    assert f"ExecStart={quoted_argv}\nTimeoutStartSec=300\n" in service
    assert 'WorkingDirectory=/a \\"$$b\\" 5%%\\\\c\n' in service
    assert "\nOnUnitInactiveSec=1800s\n" in timer
    with pytest.raises(WrongUse, match="line break"):
        systemd(a_wish(top="/a\nb"))


def test_crons_line_locks_and_limits_the_tick() -> None:
    assert cron(a_wish("1m", top="/a 5%")) == (
        '* * * * * flock -n "${TMPDIR:-/tmp}/herorun-patrol-tiny.lock" timeout 300 '
        "/usr/bin/herorun -C '/a 5\\%' box patrol tiny "
        ">> '/a 5\\%/.herorun/tiny/patrol.log' 2>&1 # herorun patrol tiny\n"
    )


def test_one_command_removes_either_timer() -> None:
    unit, read, write = removal("tiny", "babysit").split("; ")[0], *removal("tiny").split("&&")
    assert unit.split()[-1] == "herorun-babysit-tiny.timer"
    assert read.split()[-2:] == ["table=$(crontab", "-l)"]
    assert [shlex.split(part) for part in write.split(" | ")] == [
        ["echo", "$table"],
        ["grep", "-v", "# herorun patrol tiny$"],
        ["crontab", "-"],
    ]


def test_a_run_with_a_longer_name_keeps_its_line(tmp_path: Path) -> None:
    table = tmp_path / "table"
    others = cron(a_wish(slug="tiny-b")) + "5 4 * * * /usr/bin/true # tiny\n"
    table.write_text(cron(a_wish()) + others)
    program = tmp_path / "crontab"
    program.write_text(f'#!/bin/sh\n[ "$1" = -l ] && exec cat {table}\nexec cat > {table}\n')
    program.chmod(0o755)
    command = removal("tiny").partition("; ")[2]
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    subprocess.run(["sh", "-c", command], env=env, check=True, timeout=60)
    assert table.read_text() == others


@pytest.mark.parametrize("seconds", [59, 60.5])
def test_a_cadence_is_whole_seconds_from_a_minute_on(seconds: float) -> None:
    with pytest.raises(WrongUse, match="--every"):
        systemd(replace(a_wish(), every=timedelta(seconds=seconds)))


@pytest.mark.parametrize(
    ("every", "fields"),
    [
        ("1m", r"\* \* \* \* \*"),
        ("30m", r"(\d+),(\d+) \* \* \* \*"),
        ("1h", r"\d+ \* \* \* \*"),
        ("12h", r"\d+ \*/12 \* \* \*"),
        ("24h", r"\d+ \d+ \* \* \*"),
    ],
)
def test_crons_fields(every: str, fields: str) -> None:
    assert re.fullmatch(fields, when(a_wish(every)))


@pytest.mark.parametrize(
    ("every", "fields"),
    [
        ("30m", "22,52 * * * *"),
        ("1h", "52 * * * *"),
        ("12h", "52 */12 * * *"),
        ("24h", "52 4 * * *"),
    ],
)
def test_a_run_keeps_its_own_minute(every: str, fields: str) -> None:
    assert when(a_wish(every)) == fields


@pytest.mark.parametrize("every", ["45m", "7h"])
def test_a_time_that_cron_cannot_say_is_wrong_use(every: str) -> None:
    with pytest.raises(WrongUse, match=r"fit cron"):
        cron(a_wish(every))


def test_crons_line_is_one_line_with_its_per_cent_signs_escaped() -> None:
    line = cron(a_wish(top="/home/dri/100% work"))
    assert line.count("\n") == 1 and line.endswith("# herorun patrol tiny\n")
    assert not re.search(r"(?<!\\)%", line)
    shell = line.split(" ", 5)[5].replace("\\%", "%")
    assert subprocess.run(["sh", "-n", "-c", shell], check=False).returncode == 0


@pytest.mark.parametrize("every", ["1m", "30m", "1h", "12h", "24h"])
def test_a_real_crontab_takes_the_line(every: str, tmp_path: Path) -> None:
    """By Debian's dry run, which puts nothing in place; another cron's `-n` is something else."""
    usage = ["crontab", "-h"]
    program = shutil.which("crontab")
    errors = (
        subprocess.run(usage, capture_output=True, text=True, timeout=30, check=False).stderr
        if program
        else ""
    )
    if "checks the syntax" not in errors:
        skip_or_fail(
            "there is no crontab here that checks a table and puts none in place: Debian's "
            "package cron"
        )
    table = tmp_path / "table"
    table.write_text(cron(a_wish(every, top="/home/dri/100% work's")))
    process = subprocess.run(
        ["crontab", "-n", str(table)], capture_output=True, text=True, timeout=30, check=False
    )
    assert process.returncode == 0, process.stderr


def test_the_cloud_gets_the_watchdog_of_this_run_alone() -> None:
    document = yaml.safe_load(actions(a_wish(command="watchdog"), template("watchdog.yml")))
    (job,) = document["jobs"].values()
    assert mentions(
        [step["run"] for step in job["steps"] if "run" in step][-1], "tiny", "--comment"
    )
    assert document[True]["schedule"] == [{"cron": when(a_wish())}]


def test_the_cloud_asks_as_often_as_a_run_ticks_by_default() -> None:
    (schedule,) = yaml.safe_load(template("watchdog.yml"))[True]["schedule"]
    minutes = int(schedule["cron"].split()[0].removeprefix("*/"))
    assert timedelta(minutes=minutes) <= a_contract().babysit.cadence


@pytest.mark.parametrize("command", ["patrol", "babysit"])
def test_the_units_page_says_how_to_remove_that_very_timer(command: str) -> None:
    assert removal("tiny", command) in systemd(a_wish(command=command))


def test_a_runs_workflow_shares_no_name_with_the_repositorys() -> None:
    page = template("watchdog.yml")
    ours, all_runs = (yaml.safe_load(text) for text in (actions(a_wish(), page), page))
    assert ours["concurrency"] != all_runs["concurrency"] and ours["name"] != all_runs["name"]
