"""The script with which a remote machine continues its own work. Pure text from the contract.

The stages are joined by `&&`, so that a marker is made on success alone; each runs in a bash of its
own with `-e` and `pipefail`, so that no `;` and no `| tee` hides a failure in it. It is safe to
start twice and after a power loss: a lock that the kernel frees keeps a second one out, and a stage
whose marker is there is not run again.
"""

import shlex
from collections.abc import Callable

from herorun.core.contract import ChainTable, Contract
from herorun.core.errors import WrongUse
from herorun.core.redaction.scrub import scrub
from herorun.core.remote.target import SshLogin

PUSHING = 60  # seconds that a notification may take
LAST = "exit"  # the script's last line
WAIT = "wait"  # the stage before the first one, as the script writes it down
BUSY, GAVE_UP = 75, 124  # EX_TEMPFAIL of sysexits.h; what `timeout` exits with

_SCRIPT = """\
#!/usr/bin/env bash
# The [chain] of {slug}, as `herorun box chain {slug}` wrote it. Change it in the contract, and write it again.
{when}
#   {start}
set -u
folder={folder}

at() {{ stage=$1; printf '%s\\n' "$1" > "$folder/STAGE"; }}
say() {{ printf '%s %s\\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$*"; }}

wait_for() {{
{wait}
}}

run() {{
  at "$1"
  if [ -e "$folder/$1.DONE" ]; then say "$1 is skipped: $1.DONE exists"; return 0; fi
  say "$1 begins"
  bash -e -o pipefail -c "$2" < /dev/null 9>&- && : > "$folder/$1.DONE" && say "$1 is done"
}}

push() {{
  export HERORUN_SAYS=$1
{push}
}}

main() {{
  mkdir -p "$folder" || exit
  exec 9>> "$folder/lock"
  flock -n 9 || {{ say "another chain of {slug} is running"; exit {busy}; }}
  rm -f "$folder/FAILED"
  at wait
  {cwd}
  wait_for \\
{stages}
  code=$?
  if [ "$code" = 0 ]; then
    say "all stages have ended with exit code 0"
    push "{slug}: all stages of the chain have ended with exit code 0"
  else
    say "$stage ended with exit code $code" | tee "$folder/FAILED"
    push "{slug}: $stage of the chain ended with exit code $code"
  fi
  return "$code"
}}

main
exit
"""  # noqa: E501  # a text that is read as it stands
_WAITS = "# To start it, or again after a reboot, type this on the machine where this file is:"
_WAITS_FOR_NOTHING = """\
# It waits for nothing: start it only once the training is done. To start it then, or again after a
# reboot, type this on the machine where this file is:"""
_WAIT = """\
  local until=$(( $(date +%s) + {most} ))
  until {ready}; do
    if [ "$(date +%s)" -ge "$until" ]; then say "gave up waiting for {what}"; return {gave_up}; fi
    sleep {every}
  done"""


def script_of(contract: Contract) -> str:
    """The whole script. Raises WrongUse for a chain without stages, or one that holds a secret."""
    chain = must_have_stages(contract)
    stages = [
        f"  && run {shlex.quote(stage.name)} {shlex.quote(stage.run)}" for stage in chain.stage
    ]
    text = _SCRIPT.format(
        slug=contract.slug,
        when=_WAITS if waits_for_the_job(chain) else _WAITS_FOR_NOTHING,
        start=start_command(chain),
        folder=shlex.quote(chain.folder or ""),
        wait=_wait(contract),
        push=_push(chain),
        busy=BUSY,
        cwd=f"cd {shlex.quote(chain.cwd)} || exit" if chain.cwd else 'cd "$folder" || exit',
        stages=" \\\n".join(stages),
    )
    if scrub(text) != text:
        raise WrongUse(
            f"[chain] of {contract.slug} contains a secret, which would be written to a file: put "
            "it into a variable of the machine's environment, and use the variable."
        )
    return text


def must_have_stages(contract: Contract) -> ChainTable:
    if not contract.chain.stage:
        raise WrongUse(
            f"The contract of {contract.slug} has no chain: write a [[chain.stage]] with name and "
            "run, and [chain] folder."
        )
    return contract.chain


def waits_for_the_job(chain: ChainTable) -> bool:
    """Whether the script itself waits before its first stage."""
    return bool(chain.after or chain.after_pattern)


def _wait(contract: Contract) -> str:
    chain, log = contract.chain, contract.patrol.log
    if chain.after_pattern and not log:
        raise WrongUse(
            f"[chain] after_pattern of {contract.slug} needs a log to search: set [patrol] log."
        )
    ready = [f"[ -e {shlex.quote(chain.after)} ]"] if chain.after else []
    # Quoted, and with a file: grep can neither become a pipe nor wait for its standard input.
    ready += (
        [f"grep -qE -e {shlex.quote(chain.after_pattern)} -- {shlex.quote(log)} 2> /dev/null"]
        if chain.after_pattern and log
        else []
    )
    if not ready:
        return "  return 0  # [chain] has no after and no after_pattern: nothing to wait for"
    most, every = (round(span.total_seconds()) or 1 for span in (chain.wait_at_most, chain.every))
    what = " and ".join(
        part for part in (chain.after, log if chain.after_pattern else None) if part
    )
    quoted_text = (
        what.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$").replace("`", "\\`")
    )
    return _WAIT.format(
        most=most, every=every, ready=" && ".join(ready), what=quoted_text, gave_up=GAVE_UP
    )


def _push(chain: ChainTable) -> str:
    """At the end, be it good or bad. What it cannot tell undoes nothing."""
    if not chain.notify_command:
        return "  return 0  # [chain] has no notify_command: nobody is notified"
    return (
        f"  timeout -k 5 {PUSHING} bash -o pipefail -c {shlex.quote(chain.notify_command)} "
        '< /dev/null 9>&- || say "the message could not be sent"'
    )


def chain_log(chain: ChainTable) -> str:
    """The path of its log on the job's machine."""
    return f"{chain.folder or ''}/chain.log"


def start_command(chain: ChainTable) -> str:
    """On the box: it outlives the connection, and adds to one log."""
    folder = shlex.quote(chain.folder or "")
    return f"setsid -f bash {folder}/chain.sh >> {folder}/chain.log 2>&1 < /dev/null"


def install(contract: Contract, top: str, login: SshLogin | None) -> str:
    """The command, from here, that brings the script there whole and starts nothing."""
    must_have_stages(contract)
    return _build_upload_command(contract, top, login)


def start_there(contract: Contract, login: SshLogin | None) -> str:
    """The command, from here, that starts the script that was installed there."""
    return _run_there(start_command(must_have_stages(contract)), login)


def install_and_start(contract: Contract, top: str, login: SshLogin | None) -> str:
    """The one command, from here, that brings the script there whole and starts it."""
    chain = must_have_stages(contract)
    return _build_upload_command(contract, top, login, start_command(chain))


def behind_a_job(
    contract: Contract,
    top: str,
    login: SshLogin | None,
    submission: Callable[[str, str, str], str],
) -> str:
    """The same where a login node keeps nobody's processes: a job of its own. `submission` gives
    the command for the script, its log and its name.
    """
    folder = shlex.quote(must_have_stages(contract).folder or "")
    command = submission(f"{folder}/chain.sh", f"{folder}/chain.log", f"{contract.slug}-chain")
    return _build_upload_command(contract, top, login, command)


def _build_upload_command(
    contract: Contract, top: str, login: SshLogin | None, then: str = ""
) -> str:
    """A script that did not come whole, or not at all, replaces nothing and starts nothing: its
    last line is looked at before it is moved to its place.
    """
    folder = shlex.quote(contract.chain.folder or "")
    remote_command = (
        f"mkdir -p {folder} && cat > {folder}/chain.new && "
        f'[ "$(tail -n 1 {folder}/chain.new)" = {LAST} ] && '
        f"mv {folder}/chain.new {folder}/chain.sh{f' && {then}' if then else ''}"
    )
    there = _run_there(remote_command, login)
    return f"herorun -C {shlex.quote(top)} box chain {contract.slug} | {there}"


def _run_there(command: str, login: SshLogin | None) -> str:
    if login and login.host:
        return shlex.join([*ssh_argv(login), command])
    return f"sh -c {shlex.quote(command)}"


def ssh_argv(login: SshLogin) -> list[str]:
    """ssh for people to type: bounded, and by the same login."""
    argv = [
        "ssh",
        "-o",
        "ConnectTimeout=15",
        "-o",
        "ServerAliveInterval=10",
        "-o",
        "ServerAliveCountMax=3",
    ]
    argv += ["-F", login.ssh_config] if login.ssh_config else []
    argv += ["-p", str(login.port)] if login.port else []
    argv += ["-l", login.user] if login.user else []
    return [*argv, login.host] if login.host else argv


def transfer(source: str, path: str, login: SshLogin | None) -> str:
    """An rsync command that resumes a killed transfer and skips files that arrived whole."""
    ends = [f"{source.rstrip('/')}/", f"{path}/"]
    if login is None or not login.host:
        return shlex.join(["rsync", "-a", "--partial", *ends])
    source = shlex.join(ssh_argv(login)[:-1])
    return shlex.join(
        ["rsync", "-a", "--partial", "-e", source, ends[0], f"{login.host}:{ends[1]}"]
    )
