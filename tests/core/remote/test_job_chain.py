"""The chain's script, run by a real bash."""

import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from herorun.core.contract import Contract, contract_from
from herorun.core.errors import WrongUse
from herorun.core.remote.job_chain import (
    BUSY,
    GAVE_UP,
    behind_a_job,
    install,
    install_and_start,
    script_of,
    ssh_argv,
    start_command,
    start_there,
    transfer,
)
from herorun.core.remote.target import SshLogin
from stories import eventually
from wording import mentions


def a_contract(
    folder: Path, stages: dict[str, str], log: str | None = None, **chain: Any
) -> Contract:
    data = {
        "slug": "tiny",
        "command": {"argv": ["true"]},
        "output": {"root": "/data/tiny"},
        "patrol": {"log": log} if log else {},
        "chain": {
            "folder": str(folder),
            "stage": [{"name": n, "run": r} for n, r in stages.items()],
            **chain,
        },
    }
    return contract_from(data, "runs/tiny.toml")


def run(contract: Contract, **env: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["bash", "-s"],
        input=script_of(contract),
        capture_output=True,
        text=True,
        timeout=20,
        env={**os.environ, **env},
        check=False,
    )


def test_stages_run_in_order_and_each_makes_its_marker(tmp_path: Path) -> None:
    """Their words come through as they are: quotes, pipes, and a name with a space."""
    folder = tmp_path / "the chain"
    contract = a_contract(
        folder,
        {"eval": "echo \"it's\" | tr a-z A-Z > 'out put'", "report": "cat 'out put' > report"},
        notify_command='echo "$HERORUN_SAYS" > pushed',
    )
    process = run(contract)
    assert (process.returncode, process.stderr) == (0, "")
    assert (folder / "report").read_text() == "IT'S\n"
    assert {path.name for path in folder.glob("*.DONE")} == {"eval.DONE", "report.DONE"}
    assert mentions((folder / "pushed").read_text(), "tiny", "exit code 0")
    assert not (folder / "FAILED").exists()


@pytest.mark.parametrize("words", ["exit 3", "false; true", "false | cat", "mkdir /proc/no"])
def test_a_failing_stage_leaves_no_marker_and_starts_nothing_after_it(
    tmp_path: Path, words: str
) -> None:
    contract = a_contract(
        tmp_path,
        {"first": "true", "eval": words, "report": "touch report"},
        notify_command='echo "$HERORUN_SAYS" > pushed',
    )
    process = run(contract)
    assert process.returncode != 0
    assert {path.name for path in tmp_path.glob("*.DONE")} == {"first.DONE"}
    assert not (tmp_path / "report").exists()
    assert mentions((tmp_path / "FAILED").read_text(), "eval", f"{process.returncode}\n")
    assert mentions((tmp_path / "pushed").read_text(), "tiny", "eval", f"{process.returncode}")


def test_started_again_it_continues_behind_its_markers(tmp_path: Path) -> None:
    contract = a_contract(tmp_path, {"eval": "echo once >> evals", "report": '[ "$MENDED" ]'})
    assert run(contract).returncode == 1
    assert run(contract, MENDED="yes").returncode == 0
    assert (tmp_path / "evals").read_text() == "once\n"
    assert not (tmp_path / "FAILED").exists()


def test_it_waits_for_the_words_of_the_log_and_never_for_its_standard_input(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    contract = a_contract(
        tmp_path,
        {"eval": "true"},
        str(log),
        after_pattern="Training completed|QUEUE DONE",
        every="1s",
        wait_at_most="1s",
    )
    process = run(contract)
    assert process.returncode == GAVE_UP and mentions(process.stdout, "gave", "waiting")
    assert not (tmp_path / "eval.DONE").exists()
    log.write_text("QUEUE DONE\n")
    assert run(contract).returncode == 0


def test_two_chains_of_one_run_never_work_at_once(tmp_path: Path) -> None:
    contract = a_contract(tmp_path, {"eval": "echo begun > begun; read -r go < go"})
    os.mkfifo(tmp_path / "go")
    argv = ["bash", "-c", script_of(contract)]
    with subprocess.Popen(
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    ) as first:
        assert first.stdout
        assert first.stdout.readline().endswith("eval begins\n")
        assert run(contract).returncode == BUSY
        (tmp_path / "go").write_text("go\n")
        assert first.wait(60) == 0


def test_a_push_that_fails_undoes_nothing(tmp_path: Path) -> None:
    process = run(a_contract(tmp_path, {"eval": "true"}, notify_command="exit 7"))
    assert process.returncode == 0 and mentions(process.stdout, "message", "sent")
    assert (tmp_path / "eval.DONE").exists()


def test_a_secret_is_not_written_into_a_script(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    with pytest.raises(WrongUse, match=r"secret.*variable"):
        script_of(
            a_contract(
                tmp_path,
                {"eval": "true"},
                notify_command=f"curl -H 'Authorization: Bearer {token}' x",
            )
        )


def test_words_to_wait_for_need_a_log(tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match=r"\[patrol\] log"):
        script_of(a_contract(tmp_path, {"eval": "true"}, after_pattern="done"))


def test_no_stages_are_no_chain(tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match="chain"):
        script_of(a_contract(tmp_path, {}))


@pytest.mark.parametrize("names", [["a", "a"], ["a b"], ["../a"], [""]])
def test_stages_that_could_not_have_a_marker_of_their_own(tmp_path: Path, names: list[str]) -> None:
    stages = [{"name": name, "run": "true"} for name in names]
    with pytest.raises(WrongUse):
        a_contract(tmp_path, {}, stage=stages)


def test_the_command_that_starts_it_runs_the_script_of_its_own_folder(tmp_path: Path) -> None:
    chain = a_contract(tmp_path / "the chain", {"eval": "true"}).chain
    words = shlex.split(start_command(chain))
    assert words.count(f"{tmp_path}/the chain/chain.sh") == 1
    assert words[words.index(">>") + 1] == f"{tmp_path}/the chain/chain.log"


def test_the_command_that_starts_it_goes_over_the_contracts_own_login(tmp_path: Path) -> None:
    contract = a_contract(Path("/data/chain"), {"eval": "true"})
    command = install_and_start(
        contract, "/home/dri/work tree", SshLogin(host="box1", user="dri", port=2222)
    )
    assert command.startswith(
        "herorun -C '/home/dri/work tree' box chain tiny | ssh -o ConnectTimeout=15 "
    )
    assert " -p 2222 -l dri box1 " in command
    local = install_and_start(a_contract(tmp_path, {"eval": "true"}), "/work", None)
    assert "| sh -c " in local


def test_to_install_it_starts_nothing_and_the_start_is_a_command_of_its_own(tmp_path: Path) -> None:
    contract = a_contract(tmp_path / "chain", {"eval": f"touch {tmp_path}/evaluated"})
    there = install(contract, "/work", None).partition(" | ")[2]
    script = script_of(contract)
    assert mentions(script.splitlines()[2], "training", "done")
    subprocess.run(["sh", "-c", there], input=script, text=True, timeout=20, check=True)
    installed_path = tmp_path / "chain" / "chain.sh"
    assert installed_path.read_text() == script and not (tmp_path / "chain" / "chain.log").exists()
    subprocess.run(["sh", "-c", start_there(contract, None)], timeout=20, check=True)
    eventually((tmp_path / "evaluated").exists)


SSH_LIMITS = "-o ConnectTimeout=15 -o ServerAliveInterval=10 -o ServerAliveCountMax=3"


@pytest.mark.parametrize("source", ["/home/dri/data", "/home/dri/data/"])
def test_a_transfer_continues_where_it_ended(source: str) -> None:
    command = transfer(source, "/data/tiny", SshLogin(host="box1"))
    assert command == (f"rsync -a --partial -e 'ssh {SSH_LIMITS}' /home/dri/data/ box1:/data/tiny/")
    for nowhere in (None, SshLogin(port=2222)):
        assert transfer(source, "/b", nowhere) == "rsync -a --partial /home/dri/data/ /b/"


def test_each_option_of_a_login_is_one_of_ssh() -> None:
    login = SshLogin(host="box1", user="dri", port=2222, ssh_config="/etc/box.conf")
    options = ["-F", "/etc/box.conf", "-p", "2222", "-l", "dri"]
    assert ssh_argv(login) == ["ssh", *SSH_LIMITS.split(), *options, "box1"]
    assert ssh_argv(SshLogin()) == ["ssh", *SSH_LIMITS.split()]


def test_behind_a_job_the_submission_starts_it_in_place_of_setsid() -> None:
    contract = a_contract(Path("/data/a chain"), {"eval": "true"})
    command = behind_a_job(contract, "/work", None, lambda *parts: "SUBMIT " + " | ".join(parts))
    _, _, there = command.partition(" | sh -c ")
    assert shlex.split(there)[0].rpartition(" && ")[2] == (
        "SUBMIT '/data/a chain'/chain.sh | '/data/a chain'/chain.log | tiny-chain"
    )
    box = behind_a_job(contract, "/work", SshLogin(host="box1"), lambda *parts: "SUBMIT")
    assert shlex.split(box.partition(" | ")[2])[:-1] == ["ssh", *SSH_LIMITS.split(), "box1"]


def test_what_is_awaited_is_quoted_for_the_message_and_for_the_test() -> None:
    awaited_path = '/data/a"b$c`d\\e'
    script = script_of(
        a_contract(Path("/c"), {"eval": "true"}, after=awaited_path, wait_at_most="90s")
    )
    assert f"  until [ -e '{awaited_path}' ]; do\n" in script
    assert '/data/a\\"b\\$c\\`d\\\\e"; return 124; fi' in script
    assert "  local until=$(( $(date +%s) + 90 ))\n" in script


def test_without_a_wait_or_a_notifier_both_functions_succeed_at_once() -> None:
    script = script_of(a_contract(Path("/data/c"), {"eval": "true"}))
    assert "wait_for() {\n  return 0  #" in script
    assert "export HERORUN_SAYS=$1\n  return 0  #" in script
    assert '  cd "$folder" || exit\n' in script and "folder=/data/c\n" in script
    moved_script = script_of(a_contract(Path("/data/c"), {"eval": "true"}, cwd="/data/my code"))
    assert "  cd '/data/my code' || exit\n" in moved_script


@pytest.mark.parametrize("script_text", ["", "#!/usr/bin/env bash\necho half\n"])
def test_a_script_that_did_not_come_whole_replaces_nothing(
    tmp_path: Path, script_text: str
) -> None:
    folder = tmp_path / "chain"
    folder.mkdir()
    (folder / "chain.sh").write_text("the one before")
    command = install_and_start(a_contract(folder, {"eval": "true"}), "/work", None)
    there = command.partition(" | ")[2]
    process = subprocess.run(
        ["sh", "-c", there], input=script_text, text=True, timeout=20, check=False
    )
    assert process.returncode == 1
    assert mentions((folder / "chain.sh").read_text(), "before")
