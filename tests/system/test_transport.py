"""The road over ssh: what it sends, what it makes of the answers, and a real box whose link, server
and shells misbehave.
"""

import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import ValidationError

from herorun.core.errors import CouldNotLook
from herorun.core.remote.target import SshLogin
from herorun.system import transport
from herorun.system.process import ProcessResult
from herorun.system.transport import (
    SshTransport,
    connection_error,
    remote_command,
    ssh_argv,
    transport_to,
    unframe,
)
from screens.notices import Notice
from services.boxes import Box
from services.fixtures import skip_or_fail
from services.relay import free_port

ODD = ["a b", "it's", '"$HOME"', "!x", "back\\slash", "new\nline", "ünï", "*", "%s", "-n", ""]


def to(box: Box, connect: float = 3, **changes: object) -> transport.Transport:
    return transport_to(
        SshLogin(**{"host": box.name, "ssh_config": str(box.config), **changes}), connect
    )


# --- what is sent ---------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", ["sh", "bash", "tcsh", "fish"])
def test_every_login_shell_reads_the_command_alike(shell: str) -> None:
    if shutil.which(shell) is None:
        skip_or_fail(f"{shell} is not installed: `.ci/install` installs it")
    command = remote_command(["printf", "%s|", *ODD], "MARK", 5)
    process = subprocess.run([shell, "-c", command], capture_output=True, check=True)
    reply = unframe(ProcessResult(0, process.stdout, b""), "MARK")
    assert reply is not None and (reply.code, reply.text) == (0, "|".join([*ODD, ""]))


def test_what_the_login_shell_sees_is_harmless_text() -> None:
    text = remote_command(["printf", "%s", *ODD], "MARK", 5)
    inside = text.removeprefix('exec sh -c \'eval "$(printf %b "$0")"\' \'').removesuffix("'")
    assert inside != text and not set(inside) & set("'\"!$`\n;|&<>*?#~(){}[]^")


def test_nothing_is_asked_or_shared_or_forwarded() -> None:
    argv = ssh_argv(SshLogin(host="box1", user="ada", port=2222, ssh_config="/c"), 7)
    assert argv[:8] == ["ssh", "-T", "-F", "/c", "-p", "2222", "-l", "ada"]
    assert argv[-2:] == ["--", "box1"]
    for option in (
        "BatchMode=yes",
        "ConnectTimeout=7",
        "ControlMaster=no",
        "ControlPath=none",
        "ForwardAgent=no",
    ):
        assert option in argv


@pytest.mark.parametrize("host", ["-oProxyCommand=x", "", "a b", "a;b"])
def test_what_is_no_host_is_not_given_to_ssh(host: str) -> None:
    with pytest.raises(CouldNotLook, match="host"):
        SshTransport(SshLogin.model_construct(host=host))
    for name in ("host", "user"):
        with pytest.raises(ValidationError, match=r"must.*ssh"):
            SshLogin.model_validate({name: host})


# --- what comes back ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("out", "result"),
    [
        (b"\nM\nhello\n\nM 0\n", (0, b"hello\n")),
        (b"\nM\n\nM 3\n", (3, b"")),
        (b"Welcome!\nM is not here\n\nM\nhello\nM 255\n", (255, b"hello")),
        (b"\nM\nhello\nM 0\nbye\n", (0, b"hello")),
        (b"\nM\nhel", None),
        (b"hello\nM 0\n", None),
        (b"", None),
    ],
)
def test_only_what_has_both_marks_is_an_answer(
    out: bytes, result: tuple[int, bytes] | None
) -> None:
    matches = unframe(ProcessResult(255, out, b""), "M")
    assert (matches and (matches.code, matches.out)) == result


@pytest.mark.parametrize(
    "text",
    [
        "ssh: connect to host 10.0.0.1 port 22: Connection timed out",
        "Connection timed out during banner exchange",
        "Timeout, server 10.0.0.1 not responding.",
        "ssh: connect to host 10.0.0.1 port 22: No route to host",
        "ssh: connect to host 10.0.0.1 port 22: Connection refused",
        "Host key verification failed.",
        "root@10.0.0.1: Permission denied (publickey).",
        "kex_exchange_identification: Connection closed by remote host",
        "Connection to 10.0.0.1 closed by remote host.",
        "client_loop: send disconnect: Broken pipe",
        "ssh: Could not resolve hostname box9: Name or service not known",
        "something new",
    ],
)
def test_each_of_sshs_own_failures_is_one_sentence(text: str, notice: Notice) -> None:
    message = connection_error(ProcessResult(255, b"", text.encode()))
    assert message == notice and "\n" not in message


def test_an_ssh_that_ends_without_a_word_has_lost_its_connection() -> None:
    """As with `LogLevel=ERROR` once its keepalives get no answer."""
    message = connection_error(ProcessResult(255, b"half an ans", b""))
    assert "connection" in message and "255" not in message
    assert "7" in connection_error(ProcessResult(7, b"", b""))


# --- a real box -----------------------------------------------------------------------------------


def test_an_exit_code_of_255_is_the_programs_own(box: Box) -> None:
    assert to(box).run(["sh", "-c", "echo out; exit 255"], 5) == ProcessResult(255, b"out\n", b"")


def test_standard_input_goes_there_byte_by_byte(box: Box) -> None:
    data = bytes(range(256)) * 4000
    assert to(box).run(["cat"], 10, data).out == data


@pytest.fixture
def noisy(box: Box) -> Iterator[Box]:
    """Its login says something before every answer, as many do, and to both outputs."""
    if not box.own:
        pytest.skip("the files of this login are not the box's own")
    box.ssh(
        "printf 'echo Welcome to the box; echo oh no >&2; trap \"echo bye\" EXIT\\n' > "
        "/root/.bashrc"
    )
    yield box
    box.ssh("rm /root/.bashrc")


def test_a_login_that_talks_spoils_no_answer(noisy: Box) -> None:
    assert noisy.ssh("true").stdout.startswith("Welcome")
    assert to(noisy).run(["echo", "hello"], 30).out == b"hello\n"


def test_what_hangs_there_is_ended_there_and_said(box: Box) -> None:
    began = time.monotonic()
    with pytest.raises(CouldNotLook, match=r"reached.*sh.*1s"):
        to(box).run(["sh", "-c", "sleep 47; true"], 1)
    assert time.monotonic() - began < 30
    assert box.ssh("pgrep -f '[s]leep 47'", check=False).stdout == ""


def test_a_cut_link_is_reported_in_time_and_forgotten_once_fixed(box: Box) -> None:
    box.cut()
    began = time.monotonic()
    with pytest.raises(CouldNotLook, match=f"{box.name} .*Try again"):
        to(box, connect=2).run(["true"], 2)
    assert time.monotonic() - began < 30
    box.fix()
    assert to(box).run(["true"], 30).code == 0


def test_a_link_that_is_cut_in_the_middle_gives_no_half_an_answer(box: Box) -> None:
    cutting = threading.Timer(1.0, box.cut)
    cutting.start()
    try:
        with pytest.raises(CouldNotLook, match=f"{box.name} .*no answer"):
            to(box, connect=2).run(["sh", "-c", "echo half; sleep 3; echo whole"], 4)
    finally:
        cutting.join()


def test_a_server_that_hangs_is_not_waited_for(box: Box) -> None:
    import signal

    box.hang()
    try:
        began = time.monotonic()
        with pytest.raises(CouldNotLook, match=r"Try again"):
            to(box, connect=2).run(["true"], 2)
        assert time.monotonic() - began < 30
    finally:
        box.hang(signal.SIGCONT)
    assert to(box).run(["true"], 30).code == 0


def test_refused_rejected_and_unknown_are_three_sentences(box: Box, tmp_path: Path) -> None:
    with pytest.raises(CouldNotLook, match=r"refuses.*connection"):
        to(box, port=free_port()).run(["true"], 2)
    stranger = tmp_path / "stranger"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(stranger)], check=True)
    text = box.config.read_text()
    other = tmp_path / "other"
    other.write_text(text.replace(f"{box.folder}/id", str(stranger)))
    with pytest.raises(CouldNotLook, match="rejects"):
        to(box, ssh_config=str(other)).run(["true"], 2)
    other.write_text(text.replace(f"{box.folder}/known_hosts", str(tmp_path / "nothing")))
    with pytest.raises(CouldNotLook, match=r"host.*known"):
        to(box, ssh_config=str(other)).run(["true"], 2)


def test_a_busy_server_is_asked_again_before_it_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As sshd does with MaxStartups: it closes a connection at random before anything is asked."""
    busy = ProcessResult(
        255, b"", b"kex_exchange_identification: Connection closed by remote host\n"
    )
    calls: list[object] = []

    def answer(argv: list[str], timeout: float, stdin: bytes) -> ProcessResult:
        calls.append(argv)
        if len(calls) < 3:
            return busy
        mark = transport.re.search(r"herorun-[0-9a-f]+", argv[-1])
        assert mark
        return ProcessResult(0, f"\n{mark[0]}\nhello\n{mark[0]} 0\n".encode(), b"")

    monkeypatch.setattr(transport, "run", answer)
    assert SshTransport(SshLogin(host="busy1")).run(["echo", "hello"], 5).out == b"hello"
    assert len(calls) == 3


def test_however_many_ask_at_once_each_gets_its_answer(box: Box) -> None:
    answers: dict[int, bytes] = {}

    def ask(number: int) -> None:
        answers[number] = to(box).run(["echo", f"{number}"], 20).out

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert answers == {number: f"{number}\n".encode() for number in range(12)}
