"""Proving a seal again, and every kind of a seal; signed with real keys."""

import json
import os
import subprocess
from typing import Any

import pytest

from herorun.core.seal.manifest import Manifest, manifest_from
from herorun.core.seal.render import tag_message
from herorun.operations.checkpoints import content
from herorun.operations.seal import seal
from herorun.runs import Run
from herorun.system.files import is_locked
from stories import CRASH, SLUG, TAG, WAIT, Story, eventually, git
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]


def verify(
    story: Story, capsys: CAPTURE, *words: str, code: int = 0, tag: str = TAG
) -> dict[str, Any]:
    capsys.readouterr()
    assert story.herorun("verify-seal", tag, "--json", *words) == code
    fields: dict[str, Any] = json.loads(capsys.readouterr().out)
    return fields


@pytest.fixture
def sealed_story(story: Story) -> Story:
    story.run_to_seal()
    return story


@pytest.mark.thorough
def test_the_statement_is_in_toto_with_the_commit_and_the_checkpoint_as_subjects(
    sealed_story: Story,
) -> None:
    statement_in_tag = sealed_story.statement_in_tag
    assert (statement_in_tag["_type"], statement_in_tag["predicateType"]) == (
        "https://in-toto.io/Statement/v1",
        "https://slsa.dev/provenance/v1",
    )
    commit, checkpoint = statement_in_tag["subject"]
    assert commit["digest"] == {"gitCommit": sealed_story.statement_facts["commit"]}
    assert checkpoint["name"] == f"{sealed_story.root}/step-4"
    assert mentions(checkpoint["annotations"]["proof"], "checksums (sha256)", "all files")
    record = git(
        sealed_story.work, "ls-tree", "-r", "--name-only", "refs/herorun/record/tiny"
    ).split()
    (path,) = [name for name in record if "/manifest-" in name]
    manifest: Manifest = manifest_from(
        json.loads(git(sealed_story.work, "show", f"refs/herorun/record/tiny:{path}"))
    )
    assert (
        manifest.digest
        == f"sha256:{checkpoint['digest']['sha256']}"
        == sealed_story.statement_facts["manifest"]["digest"]
    )
    assert [file.name for file in manifest.files] == ["metadata.json", "weights"]
    definition = statement_in_tag["predicate"]["buildDefinition"]
    assert definition["externalParameters"]["argv"][0] == "sh"
    assert definition["externalParameters"]["config"]
    (lines,) = [event.lines for event in sealed_story.events("Sealed")]
    assert mentions(lines["Checkpoint"], "compared", checkpoint["annotations"]["proof"])
    assert "train/loss 2.5" in lines["Metrics"]


def test_a_fresh_clone_proves_it_and_says_what_it_cannot(
    sealed_story: Story, capsys: CAPTURE
) -> None:
    verification = verify(sealed_story, capsys)
    assert (verification["verdict"], verification["faults"], verification["unproven"]) == (
        "clear",
        [],
        [],
    )
    capsys.readouterr()
    assert sealed_story.herorun("verify-seal", SLUG) == 2
    assert mentions(capsys.readouterr().err, "mean", f"{TAG}", "git fetch", "--tags")
    code, output = run_command(sealed_story, capsys, "verify", TAG)
    code_quiet, quiet_output = run_command(sealed_story, capsys, "verify", TAG, "-q")
    lines = output.splitlines()
    assert code == code_quiet == 0 and any(line.startswith("proven: ") for line in lines)
    assert quiet_output.splitlines() == [a for a in lines if not a.startswith("proven: ")]
    other = sealed_story.clone("elsewhere")
    verification = verify(other, capsys)
    assert (verification["verdict"], verification["faults"]) == ("clear", [])
    (note,) = verification["notes"]
    assert mentions(note, "tag", "not signed", "not proven")
    sealed_story.origin.rename(sealed_story.home / "away")
    verification = verify(other, capsys, code=3)
    assert [words.partition(":")[0] for words in verification["unproven"]] == ["the remote"]
    verification = verify(other, capsys, "--offline", code=3)
    assert [words.partition(":")[0] for words in verification["unproven"]] == [
        "the remote",
        "the checkpoint",
    ]


@pytest.mark.thorough
def test_verifying_a_sealed_run_verifies_its_newest_seal_too(
    sealed_story: Story, capsys: CAPTURE
) -> None:
    code, output = run_command(sealed_story, capsys, "verify", SLUG)
    assert code == 0 and mentions(output, "0 faults", "seal", f"{TAG}")
    code, output = run_command(sealed_story, capsys, "verify", SLUG, "--offline")
    assert code == 3 and mentions(output, f"note: {TAG}: ", "checkpoint", "not read")
    (sealed_story.root / "step-4" / "weights").write_text("other")
    code, output = run_command(sealed_story, capsys, "verify", SLUG)
    assert code == 1 and f"fault: {TAG}: " in output
    git(sealed_story.work, "tag", "-d", TAG)
    code, output = run_command(sealed_story, capsys, "verify", SLUG)
    assert code == 1 and TAG in output


@pytest.mark.thorough
def test_a_clone_without_the_record_says_how_to_get_it(
    sealed_story: Story, capsys: CAPTURE
) -> None:
    one = Story(sealed_story.home / "one-branch")
    git(
        sealed_story.home,
        "clone",
        "-q",
        "--single-branch",
        "--template=",
        f"file://{sealed_story.origin}",
        str(one.work),
    )
    verification = verify(one, capsys, code=3)
    assert (verification["faults"], len(verification["unproven"])) == ([], 2)
    fetch = verification["unproven"][0].split("`")[1]
    assert mentions(fetch, "fetch", "origin")
    git(one.work, *fetch.split()[1:])
    assert verify(one, capsys)["verdict"] == "clear"


@pytest.mark.thorough
def test_a_record_on_a_branch_of_its_own_name_is_found(story: Story, capsys: CAPTURE) -> None:
    story.sign(logbook={"branch": "records/tiny"})
    story.run_first_job()
    assert story.seal() == 0
    assert any(
        "on records/tiny" in words for words in verify(story.clone("elsewhere"), capsys)["proven"]
    )


@pytest.mark.thorough
def test_a_subject_that_is_not_the_stated_checkpoint_is_a_fault(
    sealed_story: Story, capsys: CAPTURE
) -> None:
    statement_in_tag = sealed_story.statement_in_tag
    statement_in_tag["subject"][1]["digest"]["sha256"] = "0" * 64
    retag(sealed_story, tag_message(statement_in_tag, TAG))
    faults = verify(sealed_story, capsys, code=1)["faults"]
    assert mentions(faults[0], "subjects", "sha256", f"{'0' * 64}", "sha256")


@pytest.mark.thorough
def test_a_checkpoint_that_is_not_what_it_was_is_a_fault(
    sealed_story: Story, capsys: CAPTURE
) -> None:
    (sealed_story.root / "step-4/weights").write_text("other weights")
    verification = verify(sealed_story, capsys, code=1)
    (fault,) = verification["faults"]
    assert mentions(fault, "checkpoint: ", "weights", "13 bytes", "8")


def test_three_bytes_that_changed_in_a_file_of_the_same_size_are_a_fault(
    sealed_story: Story, capsys: CAPTURE
) -> None:
    weights = sealed_story.root / "step-4/weights"
    facts = weights.stat()
    weights.write_text("WEIghts\n")
    os.utime(weights, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    (fault,) = verify(sealed_story, capsys, code=1)["faults"]
    assert mentions(fault, "weights", "sha256")


@pytest.mark.thorough
def test_what_is_known_by_size_alone_is_not_proven(story: Story, capsys: CAPTURE) -> None:
    story.sign(seal={"digest": "sizes"})
    story.run_to_seal()
    assert mentions(story.statement_facts["manifest"]["proof"], "sizes", "content")
    assert mentions(story.statement_facts["caveats"], "2 of", "2 files", f"{story.root}", "/step-4")
    verification = verify(story, capsys, code=3)
    (unproven,) = verification["unproven"]
    assert mentions(
        unproven, f"{story.root}", "/step-4", "2 of", "2 files", "metadata.json", "weights"
    )
    (story.root / "step-4/weights").write_text("x")
    (fault,) = verify(story, capsys, code=1)["faults"]
    assert mentions(fault, "checkpoint: ", "weights", "1 byte", "8")


@pytest.mark.thorough
def test_a_large_checkpoint_is_read_while_the_babysitter_may_act(
    story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(content, "AT_ONCE", 0)
    lock_states: list[bool] = []
    ahead = content.digest_now

    def polled_at(run: Run, path: str) -> None:
        lock_states.append(is_locked(run.lock("act")))
        ahead(run, path)

    monkeypatch.setattr(seal, "digest_now", polled_at)
    story.run_to_seal()
    assert lock_states == [False]
    assert mentions(story.statement_facts["manifest"]["proof"], "checksums (sha256)", "all files")
    assert list((story.run.state / "digests").iterdir()) == []
    assert verify(story, capsys)["verdict"] == "clear"


@pytest.mark.thorough
def test_a_tag_whose_words_were_changed_is_a_fault(sealed_story: Story, capsys: CAPTURE) -> None:
    text = git(sealed_story.work, "cat-file", "tag", TAG).replace(
        "train/loss 2.5", "train/loss 1.5", 1
    )
    oid = git(sealed_story.work, "mktag", stdin=text).strip()
    git(sealed_story.work, "update-ref", f"refs/tags/{TAG}", oid)
    verification = verify(sealed_story, capsys, code=1)
    assert mentions(verification["faults"][0], "message", "statement")
    assert any(mentions(fault, "origin", "another") for fault in verification["faults"])


@pytest.mark.thorough
def test_what_is_no_seal_is_wrong_use_or_a_fault(sealed_story: Story, capsys: CAPTURE) -> None:
    assert sealed_story.herorun("verify-seal", "herorun/tiny/seal-9") == 2
    git(sealed_story.work, "tag", "-a", "v1", "-m", "by hand")
    assert mentions(
        verify(sealed_story, capsys, code=1, tag="v1")["faults"][0], "holds", "statement"
    )


# --- what somebody else wrote ---------------------------------------------------------------------

HOSTILE = {
    "nested": '{"a":' * 100_000,
    "deep enough to be read and not to be written": '{"a":' * 900 + "1" + "}" * 900,
    "no number": '{"a": NaN}',
    "twice": '{"schema": 1, "schema": 2}',
    "a list": "{}[1]",
    "large": '{"a": "' + "x" * (17 << 20) + '"}',
}


def run_command(story: Story, capsys: CAPTURE, *words: str) -> tuple[int, str]:
    capsys.readouterr()
    code = story.herorun(*words)
    output = capsys.readouterr()
    assert "Traceback" not in output.err and "internal error" not in output.err, output.err
    return code, output.out + output.err


def retag(story: Story, message: str) -> None:
    """The tag with another message, as whoever may push could make it."""
    head = git(story.work, "cat-file", "tag", TAG).partition("\n\n")[0]
    oid = git(
        story.work, "hash-object", "-t", "tag", "-w", "--stdin", stdin=f"{head}\n\n{message}"
    ).strip()
    git(story.work, "update-ref", f"refs/tags/{TAG}", oid)


@pytest.mark.thorough
def test_whatever_is_in_a_tag_the_answer_is_a_sentence(
    sealed_story: Story, capsys: CAPTURE
) -> None:
    for what, text in HOSTILE.items():
        retag(sealed_story, f"Seal of hero run tiny\n\n- Status: sealed\n\n{text}\n")
        code, output = run_command(sealed_story, capsys, "verify-seal", TAG)
        assert (code, len(output)) < (2, 400), (what, code, output[:400])
        assert run_command(sealed_story, capsys, "logbook", "verify", SLUG)[0] in (0, 1), what
    whole = git(sealed_story.origin, "cat-file", "tag", TAG).partition("\n\n")[2]
    for old, new in (
        (
            f'"launch_commit": "{sealed_story.events("Sealed")[0].commit}"',
            '"launch_commit": "--all"',
        ),
        ('"run": "tiny"', '"run": "../../tiny"'),
        ('"record": "', '"record": "-'),
    ):
        assert old in whole
        retag(sealed_story, whole.replace(old, new))
        code, output = run_command(sealed_story, capsys, "verify-seal", TAG)
        assert code == 1 and mentions(output, "valid", "statement"), output


@pytest.mark.thorough
def test_a_seal_of_another_form_is_not_proven_and_no_fault(
    sealed_story: Story, capsys: CAPTURE
) -> None:
    retag(sealed_story, 'Seal of hero run tiny\n\n{"schema": 1, "run": "tiny", "commit": "abc"}\n')
    code, output = run_command(sealed_story, capsys, "verify-seal", TAG)
    assert code == 3 and mentions(output, "earlier", "form")
    assert "unknown: 0 proven, 1 not proven, 0 faults\n" in output


@pytest.mark.thorough
@pytest.mark.parametrize(
    "text", ["{", "[" * 100_000, '{"files": [], "files": [], "path": ""}', "[1]", '{"files": 5}']
)
def test_a_manifest_or_statement_in_the_record_that_was_changed_is_a_fault(
    sealed_story: Story, capsys: CAPTURE, text: str
) -> None:
    names = git(
        sealed_story.work, "ls-tree", "-r", "--name-only", "refs/herorun/record/tiny"
    ).split()
    for part, fault in (
        ("/manifest-", "is not the manifest that the seal names"),
        ("/seal-", "another statement"),
    ):
        (path,) = [name for name in names if part in name]
        sealed_story.tamper(path, lambda _: text)
        code, output = run_command(sealed_story, capsys, "verify-seal", TAG, "--offline")
        assert code == 1 and fault in output, output


# --- signatures -----------------------------------------------------------------------------------


@pytest.mark.thorough
def test_the_tag_is_signed_with_an_ssh_key_where_git_is_set_up_so(
    story: Story, capsys: CAPTURE
) -> None:
    key = story.home / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    for name, value in (
        ("gpg.format", "ssh"),
        ("user.signingkey", str(key)),
        ("tag.gpgSign", "true"),
    ):
        git(story.work, "config", name, value)
    story.run_to_seal()
    assert mentions(git(story.work, "cat-file", "tag", TAG), "-----BEGIN", "SSH")
    assert story.statement_in_tag == story.statement_in_record
    verification = verify(story, capsys, code=3)
    assert [words.partition(":")[0] for words in verification["unproven"]] == ["the signature"]
    signers_path = story.home / "allowed"
    signers_path.write_text(f"dri@example.org {key.with_suffix('.pub').read_text()}")
    git(story.work, "config", "gpg.ssh.allowedSignersFile", str(signers_path))
    verification = verify(story, capsys)
    assert mentions(verification["proven"], "signature: ", "Good")
    text = git(story.work, "cat-file", "tag", TAG).replace("train/loss 2.5", "train/loss 1.5", 1)
    git(story.work, "update-ref", f"refs/tags/{TAG}", git(story.work, "mktag", stdin=text).strip())
    assert any(mentions(fault, "signature") for fault in verify(story, capsys, code=1)["faults"])


@pytest.mark.thorough
def test_the_tag_is_signed_with_an_openpgp_key(
    story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = story.home / "gpg"
    home.mkdir(mode=0o700)
    monkeypatch.setenv("GNUPGHOME", str(home))
    words = (
        "--batch",
        "--quiet",
        "--passphrase",
        "",
        "--quick-generate-key",
        "Dri <dri@example.org>",
    )
    subprocess.run(["gpg", *words, "ed25519", "sign", "never"], check=True, capture_output=True)
    try:
        git(story.work, "config", "user.signingkey", "dri@example.org")
        story.run_to_seal()
        assert mentions(git(story.work, "cat-file", "tag", TAG), "-----BEGIN", "PGP")
        assert any("the signature: GOODSIG" in words for words in verify(story, capsys)["proven"])
    finally:
        subprocess.run(["gpgconf", "--kill", "gpg-agent"], check=False)


@pytest.mark.thorough
def test_a_demanded_signature_that_cannot_be_made_leaves_no_tag(
    story: Story, capsys: CAPTURE
) -> None:
    for name, value in (("gpg.format", "ssh"), ("user.signingkey", str(story.home / "none"))):
        git(story.work, "config", name, value)
    git(story.work, "config", "tag.gpgSign", "true")
    story.run_to_success()
    capsys.readouterr()
    assert story.seal() == 3
    assert mentions(capsys.readouterr().err, "sign", "tags")
    assert (story.tags(), story.events("Sealed")) == ([], [])
    git(story.work, "config", "--unset", "tag.gpgSign")
    assert story.seal() == 0
    assert mentions(capsys.readouterr().err, "signed")


# --- kinds ----------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_milestone_is_sealed_while_the_run_continues_and_the_end_after_it(
    story: Story, capsys: CAPTURE
) -> None:
    story.run_first_job(WAIT)
    assert story.herorun("seal", SLUG, "--milestone", "step-3") == 1
    assert mentions(capsys.readouterr().out, "checkpoint", "3")
    assert story.herorun("seal", SLUG, "--milestone", "half") == 0
    assert story.herorun("seal", SLUG, "--milestone", "half") == 0
    assert (story.statement_facts["kind"], story.statement_facts["name"]) == ("milestone", "half")
    assert story.statement_facts["final_checkpoint"] == f"{story.root}/step-2"
    assert mentions(story.statement_facts["manifest"]["proof"], "checksums (sha256)", "all files")
    assert (story.root / "_herorun/lease.json").exists()
    (story.data / "go").touch()
    story.wait_for_end()
    assert (story.tick(), story.tick()) == (0, 0)
    assert story.seal() == 0
    assert [event.tag for event in story.events("Sealed")] == [TAG, "herorun/tiny/seal-2"]
    assert not (story.root / "_herorun/lease.json").exists()
    assert story.herorun("seal", SLUG, "--aborted") == 1


@pytest.mark.thorough
def test_an_aborted_run_is_sealed_without_its_end(story: Story, capsys: CAPTURE) -> None:
    story.run_first_job(CRASH)
    assert story.herorun("seal", SLUG, "--aborted") == 0
    assert (story.statement_facts["kind"], story.statement_facts["reached_step"]) == ("aborted", 3)
    assert story.statement_facts["open_alerts"]
    capsys.readouterr()
    assert story.herorun("watchdog", SLUG) == 0
    assert "not-watched" in capsys.readouterr().out


@pytest.mark.thorough
def test_a_run_is_superseded_by_one_that_is_known(story: Story) -> None:
    story.run_first_job(CRASH)
    assert story.herorun("seal", SLUG, "--superseded-by", "nobody") == 2
    text = (story.work / "runs/tiny.toml").read_text().replace('slug = "tiny"', 'slug = "tiny-2"')
    (story.work / "runs/tiny-2.toml").write_text(text)
    assert story.herorun("seal", SLUG, "--superseded-by", "tiny-2") == 0
    assert story.statement_facts["name"] == "tiny-2"


@pytest.mark.thorough
def test_a_living_job_is_not_aborted(story: Story, capsys: CAPTURE) -> None:
    story.run_first_job(WAIT)
    capsys.readouterr()
    assert story.herorun("seal", SLUG, "--aborted") == 1
    assert "tiny-1 is running" in capsys.readouterr().out


# --- what ends with it ----------------------------------------------------------------------------


@pytest.mark.thorough
def test_the_babysitter_ends_with_the_run(story: Story) -> None:
    story.sign(babysit={"cadence": "2s"})
    story.order("tiny-1", WAIT)
    assert story.init() == 0
    assert story.herorun("launch", SLUG) == 0
    story.reaches(2)
    (story.data / "go").touch()
    story.wait_for_end()
    eventually(lambda: any(key.endswith("/finished") for key in story.run.record.memory().done))
    assert story.seal() == 0
    assert not is_locked(story.run.lock("babysitter"))
