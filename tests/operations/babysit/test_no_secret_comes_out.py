"""A whole run with a fresh secret in each field that somebody else fills: none of them comes out
anywhere.

Each text stands in its field as a person, a trainer or a remote would leave it there. What herorun
keeps, prints and starts is then searched: the record with all its history, the issue, the state
folder, the screen, and the command line of each process. What the user keeps is the user's: the
contract, the code, the job's own log and its output.
"""

import json
import random
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

import planted
from stories import CRASH, SLUG, WAIT, Story, git

SIGNED_WAIVER = {
    "check": "secret-in-command",
    "reason": "to see where it goes",
    "approved_by": "@dri",
    "expires": "2999-01-01T00:00:00Z",
}
FIELDS = (
    "goal",
    "stop_when",
    "reason",
    "env",
    "config",
    "changed",
    "log",
    "raised",
    "row",
    "metadata",
    "note",
    "remote",
    "receipt",
    "name",
    "pause",
)
BLOCKS = ("pem", "pem-cut", "pem-ssh2")
# On one line, since a field holds one; a cookie goes to the end of its line.
ONE_LINE = [kind for kind in planted.PLACES if "\n" not in planted.PLACES[kind][1]]


def _plant_secrets(seed: str) -> dict[str, tuple[str, str]]:
    """For each field the text to put there and the secret in it."""
    draw = random.Random(seed)
    fields = {}
    for field in FIELDS:
        if draw.random() < 0.4:
            kind = draw.choice([kind for kind in planted.SECRET_SHAPES if kind not in BLOCKS])
            secret = planted.SECRET_SHAPES[kind](draw)
            fields[field] = (f"got {secret} here", secret)
        else:
            fields[field] = planted.place_secret(draw.choice(ONE_LINE), draw)
    return fields


def _stored_texts(story: Story) -> Iterator[tuple[str, str]]:
    """Every text that herorun keeps, by where."""
    for path in sorted((story.work / ".herorun").rglob("*")):
        own = path.name == "job.log" or "code" in path.relative_to(story.work).parts
        if path.is_file() and not path.is_symlink() and not own:
            yield str(path.relative_to(story.work)), path.read_bytes().decode("utf-8", "replace")
    for path in sorted((story.work / ".git" / "herorun").rglob("*")):
        if path.is_file():
            yield str(path.relative_to(story.work)), path.read_bytes().decode("utf-8", "replace")
    for where, refs in ((story.work, "refs/herorun"), (story.origin, "refs/heads/herorun")):
        yield (
            f"{refs} of {where.name}",
            git(where, "log", "-p", "--text", "--format=%B", f"--glob={refs}"),
        )
    for tag in git(story.work, "tag", "-l").split():
        yield tag, git(story.work, "cat-file", "tag", tag)
    for path in sorted((story.root / "_herorun").rglob("*.json")):
        yield str(path), path.read_text()


def _running() -> Iterator[tuple[str, str]]:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            yield str(path), path.read_bytes().decode("utf-8", "replace")
        except OSError:
            continue  # it has ended


def _leaks(values: dict[str, tuple[str, str]], texts: Iterator[tuple[str, str]]) -> list[str]:
    return [
        f"{field} in {where}"
        for where, text in texts
        for field, (_, secret) in values.items()
        if secret in text or json.dumps(secret)[1:-1] in text
    ]


@pytest.mark.thorough
@pytest.mark.parametrize("seed", ["one", "two", "three"])
def test_what_is_planted_in_any_field_stays_there(
    home: Path, seed: str, capfd: pytest.CaptureFixture[str]
) -> None:
    secrets = _plant_secrets(seed)
    text = {field: both[0] for field, both in secrets.items()}
    story = Story(home).begin(
        goal=text["goal"],
        stop_when=text["stop_when"],
        waiver=[{**SIGNED_WAIVER, "reason": text["reason"]}],
        command={"env": {"NOTE": text["env"]}},
        tracker={"name": text["name"]},
    )
    try:
        (story.work / "config.toml").write_text(
            f"[trainer]\nseed = 7\nnote = {json.dumps(text['config'])}\n"
        )
        story.publish()
        git(
            story.work,
            "remote",
            "add",
            "mirror",
            f"https://ada:{secrets['remote'][1][:40]}@127.0.0.1:9/x.git",
        )
        secrets["remote"] = (text["remote"], secrets["remote"][1][:40])
        receipt = {
            "instance": "tiny-1",
            "attempt": 1,
            "outcome": "pass",
            "items": [],
            "loaded": text["receipt"],
        }
        lines = (
            text["log"],
            f"RuntimeError: {text['raised']}",
            f"HERORUN_RECEIPT {json.dumps(receipt)}",
        )
        row = json.dumps({"step": 2, "train/loss": 2.5, text["row"]: 1.0})
        says = "; ".join(f"printf '%s\\n' {shlex.quote(line)} >&2" for line in lines)
        damage = (
            f"printf '%s\\n' {shlex.quote(row)} >> $root/metrics.jsonl; mkdir -p $root/step-3; "
            f"printf %s {shlex.quote(text['metadata'])} > $root/step-3/metadata.json"
        )
        story.order("tiny-1", f"{says}; {damage}; {CRASH}")
        story.order("tiny-2", f"{says}; {WAIT}")

        story.init()
        story.herorun("preflight", SLUG, "--json")
        story.herorun("preflight", SLUG)
        assert story.launch() == 0
        story.wait_for_end()
        texts = [
            f"{word}={text['note']}"
            for word in ("--status", "--evidence", "--decision", "--next", "--caveat")
        ]
        assert story.herorun("note", SLUG, *texts) == 0
        assert story.herorun("pause", SLUG, "--until", "2h", "--reason", text["pause"]) == 0
        story.tick("--json")
        (story.work / "config.toml").write_text(
            f"[trainer]\nseed = 8\nnote = {json.dumps(text['changed'])}\n"
        )
        story.publish()
        story.herorun("preflight", SLUG, "--json")
        assert story.herorun("resume", SLUG) == 0
        story.tick()
        story.tick("--json")
        running = _leaks(secrets, _running())
        for words in (
            ("status", SLUG, "--json"),
            ("status", SLUG),
            ("logbook", "show", SLUG),
            ("logbook", "verify", SLUG),
            ("triage", str(story.jobs / "tiny-1" / "job.log"), "--json"),
            ("launch", text["note"]),
            ("seal", SLUG),
        ):
            story.herorun(*words)
        screen = capfd.readouterr()

        assert running == []
        assert _leaks(secrets, _stored_texts(story)) == []
        assert (
            _leaks(secrets, iter([("standard output", screen.out), ("standard error", screen.err)]))
            == []
        )
        assert story.events("Noted") and story.starts  # it was a run
    finally:
        story.end()


@pytest.mark.thorough
@pytest.mark.parametrize("seed", ["one", "two"])
def test_a_blocked_launch_shows_nothing_of_what_blocks_it(
    home: Path, seed: str, capfd: pytest.CaptureFixture[str]
) -> None:
    draw = random.Random(seed)
    secret = planted.SECRET_SHAPES[draw.choice(["huggingface", "github", "wandb_v1", "openai"])](
        draw
    )
    plain = planted.chars(draw, planted.ALNUM, 24)
    fields = {"shaped": ("", secret), "named": ("", plain)}
    story = Story(home).begin(
        command={
            "argv": [
                "sh",
                "train.sh",
                str(home / "data"),
                secret,
                "--x-token",
                plain,
                f"--pass={plain}",
            ]
        }
    )
    story.init()

    assert story.launch() == 1
    assert story.herorun("preflight", SLUG, "--json") == 1
    screen = capfd.readouterr()
    assert story.starts == []
    assert _leaks(fields, _stored_texts(story)) == []
    assert (
        _leaks(fields, iter([("standard output", screen.out), ("standard error", screen.err)]))
        == []
    )


def test_a_launch_that_somebody_signed_for_keeps_its_command_line_masked(home: Path) -> None:
    """The job gets it; nothing that herorun keeps has it."""
    secret, plain = "hf_" + "aB3d" * 9, "Zq7" * 8
    argv = ["sh", "train.sh", str(home / "data"), secret, "--x-token", plain, f"--pass={plain}"]
    story = Story(home).begin(waiver=[SIGNED_WAIVER], command={"argv": argv})
    try:
        story.run_first_job()
        assert len(story.starts) == 1
        assert _leaks({"shaped": ("", secret), "named": ("", plain)}, _stored_texts(story)) == []
    finally:
        story.end()
