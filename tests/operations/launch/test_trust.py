"""Nobody takes over a machine through the record's branch, or through a cloned contract."""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from herorun.core.canonical_json import digest
from herorun.core.errors import Blocked
from herorun.core.event import HandedOff, Intended, Launched, Sealed
from herorun.core.evidence import LaunchProof, Sourced
from herorun.operations.babysit.batch import slugs_to_watch
from herorun.operations.launch.admitted_plan import admitted_plan
from herorun.runs import watched_run
from herorun.runs.recorded_plan import plan_again
from herorun.system import user_trust
from herorun.system.clock import now
from herorun.system.git import find_repository
from herorun.system.git.plumbing import commit_files
from herorun.system.git.remote_refs import recent_tips
from stories import SLUG, WAIT, Story, git
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]


def run_json(story: Story, capsys: CAPTURE, *words: str) -> tuple[int, Any]:
    capsys.readouterr()
    code = story.herorun(*words, "--json")
    return code, json.loads(capsys.readouterr().out)


def evil_contract(story: Story, mark: Path) -> str:
    """A contract whose scheduler is a shell."""
    text = (story.work / "runs" / "tiny.toml").read_text()
    start = text.index("[scheduler]")
    end = text.index("\n[", start)
    program = json.dumps(["sh", "-c", f"touch {mark}"])
    evil = f'[scheduler]\nkind = "iris"\ncluster = "x"\nuser = "y"\nprogram = {program}\n'
    return text[:start] + evil + text[end:]


def forge_launch(story: Story, mark: Path, number: int = 2, name: str = "tiny-2") -> None:
    """What somebody can do who may push the record's branch and no other: a launch by a commit that
    nobody published.
    """
    attacker = story.clone("attacker")
    run = attacker.run
    run.record.fetch()
    parent = git(attacker.work, "rev-parse", "HEAD").strip()
    files = {"runs/tiny.toml": evil_contract(attacker, mark).encode()}
    commit = commit_files(run.repository, "refs/heads/evil", parent, files, "evil", now())
    git(attacker.work, "push", "-q", "origin", f"{commit}:refs/heads/herorun/evil")
    (first,) = run.record.memory().launchings.values()
    plan = {**first.plan, "commit": {**first.plan["commit"], "value": commit}}
    at = now()
    forged_event = replace(
        first, at=at, instance=name, number=number, plan=plan, plan_digest=digest("x")
    )
    started_event = Launched(
        at=at,
        instance=name,
        number=number,
        job="/y/tiny-2",
        plan_digest=forged_event.plan_digest,
        output_root=first.plan["output_root"]["value"],
        commit=commit,
        entry={},
    )
    run.record.append(forged_event, started_event)
    assert run.record.push()


def forge_seal(story: Story) -> None:
    run = story.clone("forger").run
    run.record.fetch()
    launching = run.record.memory().launchings["tiny-1"]
    commit = str(launching.plan["commit"]["value"])
    run.record.append(
        Sealed(at=now(), tag="herorun/tiny/seal-1", commit=commit, statement_digest=digest("x"))
    )
    assert run.record.push()


def forge_environment(story: Story, folder: Path) -> None:
    """A launch of the published commit, with a digest that is right, by a shell that nobody had."""
    run = story.clone("attacker").run
    run.record.fetch()
    (first,) = run.record.memory().launchings.values()
    honest = plan_again(run.repository, SLUG, first, "origin")
    env = {**honest.env.value, "PYTHONPATH": str(folder), "NCCL_NET_PLUGIN": "x"}
    plan = {**first.plan, "env": {**first.plan["env"], "value": env}}
    evil = replace(honest, env=Sourced(env, honest.env.source)).digest
    at = now()
    forged_event = replace(first, at=at, instance="tiny-2", number=2, plan=plan, plan_digest=evil)
    commit, root = first.plan["commit"]["value"], first.plan["output_root"]["value"]
    run.record.append(
        forged_event,
        Launched(
            at=at,
            instance="tiny-2",
            number=2,
            job="999999",
            plan_digest=evil,
            output_root=root,
            commit=commit,
            entry={},
        ),
    )
    assert run.record.push()


# --- the record's branch ------------------------------------------------------------------------


def test_a_forged_launch_runs_nothing_in_a_fresh_clone(
    story: Story, home: Path, capsys: CAPTURE
) -> None:
    story.run_first_job(WAIT)
    mark = home / "ran"
    forge_launch(story, mark)
    fresh = story.clone("fresh")
    git(fresh.work, "fetch", "-q", "origin", "+refs/heads/*:refs/remotes/origin/*")
    for words in (
        ("status", SLUG),
        ("report", SLUG),
        ("babysit", SLUG, "--once"),
        ("goodput", SLUG),
    ):
        fresh.herorun(*words)
    assert fresh.seal() == 1
    code, verify_document = run_json(fresh, capsys, "logbook", "verify", SLUG)
    assert not mark.exists()
    assert code == 1 and verify_document["verdict"] == "blocked"
    assert any(mentions(f, "tiny-2", "count") for f in verify_document["faults"])


@pytest.mark.parametrize(
    ("number", "name"), [(1, "tiny-2"), (0, "tiny-0"), (-5, "tiny--5"), (-5, "tiny-2")]
)
def test_a_forged_launch_of_a_low_number_does_not_count(
    story: Story, home: Path, number: int, name: str
) -> None:
    """Launches are proven from the highest number down to the first that counts."""
    story.run_first_job(WAIT)
    forge_launch(story, home / "ran", number, name)
    run = story.run
    git(story.work, "fetch", "-q", "origin", "refs/heads/herorun/tiny")
    git(story.work, "update-ref", run.record.ref, "FETCH_HEAD")
    git(story.work, "update-ref", run.record.pushed_ref, "FETCH_HEAD")
    run_there, _ = watched_run(SLUG, story.work)
    assert [each.name for each in run_there.record.memory().instances] == ["tiny-1"]
    assert isinstance(run_there.unproven, LaunchProof)
    assert any(mentions(doubt, name, "count") for doubt in run_there.unproven.doubts)


def test_verify_judges_what_was_forged_after_this_clone_took_the_record(
    story: Story, home: Path, capsys: CAPTURE
) -> None:
    story.run_first_job(WAIT)
    fresh = story.clone("fresh")
    assert run_json(fresh, capsys, "logbook", "verify", SLUG)[1]["verdict"] == "clear"
    forge_launch(story, home / "ran")
    forge_seal(story)
    code, verify_document = run_json(fresh, capsys, "logbook", "verify", SLUG)
    assert (code, verify_document["verdict"]) == (1, "blocked")
    for forged_event in ("tiny-2", "seal-1"):
        assert any(mentions(fault, forged_event, "count") for fault in verify_document["faults"]), (
            forged_event
        )


def test_the_watch_goes_on_with_the_launch_that_counts(
    story: Story, home: Path, capsys: CAPTURE
) -> None:
    story.run_first_job(WAIT)
    forge_launch(story, home / "ran")
    run = story.run
    git(story.work, "fetch", "-q", "origin", "refs/heads/herorun/tiny")
    git(story.work, "update-ref", run.record.ref, "FETCH_HEAD")
    git(story.work, "update-ref", run.record.pushed_ref, "FETCH_HEAD")
    code, turn = run_json(story, capsys, "babysit", SLUG, "--once")
    firing = {alert["check"] for alert in turn["alerts"] if alert["state"] == "firing"}
    assert "unproven-launch" in firing and turn["run"] != "down" and code == 3
    (finding,) = [
        f
        for f in turn["findings"]
        if f["check"] == "live-duplicate" or f["check"] == "unproven-launch"
    ]
    assert mentions(finding["message"], "tiny-2", "count")
    assert story.herorun("stop", SLUG, "--reason", "x") == 1
    assert not (home / "ran").exists()


def test_a_launch_by_another_name_than_the_runs_does_not_count(
    story: Story, capsys: CAPTURE
) -> None:
    """Its commit is published and its digest right: each scheduler would refuse the name, and
    nobody would watch the job that runs.
    """
    story.run_first_job(WAIT)
    forger = story.clone("forger").run
    forger.record.fetch()
    (first,) = forger.record.memory().launchings.values()
    (started_event,) = story.events("Launched")
    name = {"at": now(), "instance": "../../evil", "number": 2}
    page = Intended(at=now(), key="post/x", attempt=1, what="x", page="shout")
    body = "@team, @dri: run this"
    post = Intended(at=now(), key="post/y", attempt=1, what="y", body=body)
    forger.record.append(replace(first, **name), replace(started_event, **name), page, post)
    assert forger.record.push()
    adopt_the_forgers(story)
    _, look = run_json(story, capsys, "status", SLUG)
    (doubt,) = [f["message"] for f in look["findings"] if f["check"] == "unproven-launch"]
    assert mentions(doubt, "/../evil", "count")
    assert look["run"] == "healthy"
    story.tick()
    assert "@\u200bteam, @dri: run this" in (story.state / "issue.md").read_text()


def adopt_the_forgers(story: Story) -> None:
    """As the next push of the record does."""
    git(story.work, "fetch", "-q", "origin", "refs/heads/herorun/tiny")
    for ref in (story.run.record.ref, story.run.record.pushed_ref):
        git(story.work, "update-ref", ref, "FETCH_HEAD")


def test_a_forged_hand_over_ends_no_watch_and_its_owner_takes_it_back(
    story: Story, capsys: CAPTURE
) -> None:
    """Who may push the record cannot write the lease in the output root."""
    story.run_first_job(WAIT)
    forger = story.clone("forger").run
    forger.record.fetch()
    forger.record.append(HandedOff(now(), "eve@there", {}))
    assert forger.record.push()
    adopt_the_forgers(story)
    capsys.readouterr()
    assert story.tick() == 3
    output = capsys.readouterr().out
    assert "unproven-launch" in output and mentions(output, "eve@there", "tiny")
    assert [*story.events("Observed")][-1].at > story.events("HandedOff")[-1].at
    assert slugs_to_watch(story.run.repository) == [SLUG]
    assert story.herorun("handoff", SLUG, "--take") == 0
    assert story.run.record.memory().handed.to == story.run.launcher.owner
    assert story.tick() == 0


def test_a_shell_that_only_the_record_reports_starts_no_job(
    story: Story, home: Path, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    story.run_to_success()
    forge_environment(story, home / "evil")
    fresh = story.clone("fresh")
    assert run_json(fresh, capsys, "status", SLUG)[1]["stage"] == "launched"  # looking goes on
    code, verify_document = run_json(fresh, capsys, "logbook", "verify", SLUG)
    assert code == 0 and any(
        "NCCL_NET_PLUGIN=x, PYTHONPATH=" in note for note in verify_document["notes"]
    )
    run_there, _ = watched_run(SLUG, fresh.work)
    forged_launching = run_there.record.memory().launchings["tiny-2"]
    for _ in range(2):  # the second time by the proof that was kept
        with pytest.raises(
            Blocked, match=r"NCCL_NET_PLUGIN=x, PYTHONPATH=.*evil.*`herorun trust tiny`"
        ):
            admitted_plan(run_there, forged_launching)
    capsys.readouterr()
    assert fresh.herorun("relaunch", SLUG, "--reason", "x") != 0
    assert "PYTHONPATH" in capsys.readouterr().err and len(story.starts) == 1
    assert fresh.herorun("trust", SLUG, "--yes") == 0
    assert f"PYTHONPATH={home / 'evil'}" in capsys.readouterr().out
    assert admitted_plan(run_there, forged_launching).env.value["NCCL_NET_PLUGIN"] == "x"
    assert admitted_plan(
        story.run, story.run.record.memory().launchings["tiny-1"]
    )  # its own needs nobody's word


def test_a_rejected_shell_is_left_out(
    story: Story, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    story.run_to_success()
    forge_environment(story, home / "evil")
    fresh = story.clone("fresh")
    assert fresh.herorun("trust", SLUG, "--reject") == 0
    run_there, _ = watched_run(SLUG, fresh.work)
    assert [i.name for i in run_there.record.memory().instances] == ["tiny-1"]


def test_a_rejected_forgery_is_left_out_and_said_no_more(
    story: Story, home: Path, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    story.run_first_job(WAIT)
    forge_launch(story, home / "ran")
    fresh = story.clone("fresh")
    git(fresh.work, "fetch", "-q", "origin", "+refs/heads/*:refs/remotes/origin/*")
    assert fresh.herorun("trust", SLUG, "--reject") == 0
    _, verify_document = run_json(fresh, capsys, "logbook", "verify", SLUG)
    assert not [f for f in verify_document["faults"] if "tiny-2" in f]
    _, second_answer = run_json(fresh, capsys, "trust", SLUG, "--reject")
    assert second_answer["result"] == "nothing"  # it is rejected once
    run = fresh.run
    run_there, _ = watched_run(SLUG, fresh.work)
    memory = run_there.record.memory()
    assert [i.name for i in memory.instances] == ["tiny-1"] and memory.next_number == 3
    assert run.slug == SLUG


def test_a_fresh_clone_proves_an_honest_launch_and_looks(story: Story, capsys: CAPTURE) -> None:
    story.run_first_job(WAIT)
    fresh = story.clone("fresh")
    _, standing = run_json(fresh, capsys, "status", SLUG)
    assert standing["stage"] == "launched" and not [d for d in standing["doubts"] if "count" in d]
    assert (fresh.work / ".git" / "herorun" / "tiny.proven.json").exists(), standing


def test_what_was_published_after_the_remote_was_listed_is_proven(
    story: Story, capsys: CAPTURE
) -> None:
    story.run_first_job()
    other = story.clone("other")
    git(story.origin, "update-ref", "refs/kept/main", "refs/heads/main")
    git(story.origin, "update-ref", "-d", "refs/heads/main")
    recent_tips(find_repository(other.work), "origin")
    git(story.origin, "update-ref", "refs/heads/main", "refs/kept/main")
    run, _ = watched_run(SLUG, other.work)
    assert run.unproven == LaunchProof() and not run.closed


def test_a_launch_that_cannot_be_asked_about_is_shown_from_the_record(
    story: Story, capsys: CAPTURE
) -> None:
    story.run_first_job(WAIT)
    fresh = story.clone("fresh")
    fresh.run.record.fetch()
    story.origin.rename(story.home / "away")
    code, standing = run_json(fresh, capsys, "status", SLUG)
    (story.home / "away").rename(story.origin)
    assert code == 3 and standing["run"] == "unknown" and standing["monitor"] == "stale"
    assert any(mentions(doubt, "only", "record") for doubt in standing["doubts"])


def test_a_forged_seal_ends_no_watch(story: Story, capsys: CAPTURE) -> None:
    story.run_first_job(WAIT)
    forge_seal(story)
    fresh = story.clone("fresh")
    _, standing = run_json(fresh, capsys, "status", SLUG)
    assert standing["seal_tag"] is None and standing["stage"] == "launched"
    assert any(mentions(doubt, "herorun/tiny/seal-1", "count") for doubt in standing["doubts"])
    assert any(
        "seal-1" in each for each in run_json(fresh, capsys, "logbook", "show", SLUG)[1]["doubts"]
    )
    code, verify_document = run_json(fresh, capsys, "logbook", "verify", SLUG)
    assert code == 1 and any(mentions(fault, "count") for fault in verify_document["faults"])
    assert fresh.launch() == 1


def test_a_seal_is_believed_by_its_tag_which_is_fetched(story: Story, capsys: CAPTURE) -> None:
    story.run_to_seal()
    fresh = story.clone("fresh")
    git(fresh.work, "tag", "-d", "herorun/tiny/seal-1")
    assert run_json(fresh, capsys, "status", SLUG)[1]["seal_tag"] == "herorun/tiny/seal-1"
    git(fresh.work, "tag", "-d", "herorun/tiny/seal-1")
    git(fresh.work, "tag", "-a", "-m", "another", "herorun/tiny/seal-1")
    assert run_json(fresh, capsys, "status", SLUG)[1]["seal_tag"] is None


def test_a_record_that_fills_the_memory_is_not_read(story: Story, capsys: CAPTURE) -> None:
    story.init()
    run = story.run
    day = f"{now() + timedelta(days=1):%Y%m%d}"
    bomb = {f".agents/logbooks/tiny.journal/{day}.jsonl": b"0" * (65 << 20)}
    commit_files(run.repository, run.record.ref, run.record.tip, bomb, "a bomb", now())
    capsys.readouterr()
    assert story.herorun("status", SLUG) == 3
    assert mentions(capsys.readouterr().err, "large", "65", "MiB")


# --- what a cloned contract names -----------------------------------------------------------------


@pytest.fixture
def untrusting(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user who has trusted nothing yet."""
    monkeypatch.delenv(user_trust.VARIABLE)
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    return home / "state" / "herorun" / "trust.json"


def test_what_a_cloned_contract_names_is_not_run_before_it_is_trusted(
    story: Story, home: Path, untrusting: Path, capsys: CAPTURE
) -> None:
    mark = home / "ran"
    (story.work / "runs" / "tiny.toml").write_text(evil_contract(story, mark))
    story.publish()
    capsys.readouterr()
    assert story.herorun("preflight", SLUG) == 3
    assert (
        story.shown_commands("`herorun trust tiny`") in capsys.readouterr().err
        and not mark.exists()
    )
    assert story.herorun("trust", SLUG) == 3  # nobody at a terminal
    assert not untrusting.exists()
    assert story.herorun("trust", SLUG, "--yes") == 0
    assert "touch" in capsys.readouterr().out and untrusting.exists()
    story.herorun("preflight", SLUG)
    assert mark.exists()
    mark.unlink()
    (story.work / "runs" / "tiny.toml").write_text(evil_contract(story, home / "other"))
    assert story.herorun("preflight", SLUG) == 3  # another program is asked about again
    elsewhere = story.clone("elsewhere")
    # and so is another clone
    assert elsewhere.herorun("preflight", SLUG) == 3 and not mark.exists()


def test_a_plain_contract_needs_no_trust(story: Story, untrusting: Path, capsys: CAPTURE) -> None:
    story.init()
    assert story.herorun("preflight", SLUG) == 0
    assert story.herorun("trust", SLUG) == 0 and not untrusting.exists()
    assert mentions(capsys.readouterr().out, "nothing", "trust")


def test_a_config_command_is_not_run_before_it_is_trusted(
    story: Story, home: Path, untrusting: Path, capsys: CAPTURE
) -> None:
    mark = home / "ran"
    command = ["sh", "-c", f"touch {mark}; echo '{{}}'"]
    story.sign(config={"files": [], "command": command}, final_step=4)
    for argv in (["preflight", SLUG], ["init", SLUG], ["init", SLUG, "--json"], ["doctor", SLUG]):
        capsys.readouterr()
        code = story.herorun(*argv)
        assert not mark.exists(), argv
        if argv[0] != "doctor":
            assert code == 3 and '[config] command = ["sh","-c"' in capsys.readouterr().err
    assert story.herorun("trust", SLUG, "--yes") == 0 and story.herorun("init", SLUG) == 0
    assert mark.exists()


def test_an_ssh_configuration_in_the_repository_is_refused(
    story: Story, untrusting: Path, capsys: CAPTURE
) -> None:
    scheduler = {"kind": "ssh", "host": "box", "folder": "/x", "ssh_config": "ssh_config"}
    text = (story.work / "runs" / "tiny.toml").read_text()
    start = text.index("[scheduler]")
    rows = "".join(f"{key} = {json.dumps(value)}\n" for key, value in scheduler.items())
    (story.work / "runs" / "tiny.toml").write_text(
        text[:start] + "[scheduler]\n" + rows + text[text.index("\n[", start) :]
    )
    assert story.herorun("preflight", SLUG) == 2
    assert mentions(capsys.readouterr().err, "lies", "inside")
    assert story.herorun("trust", SLUG, "--yes") == 2


@pytest.mark.parametrize("path", ["../../outside/x.md", "/etc/x.md", "-x", "runs/tiny.toml"])
def test_a_second_beginning_moves_neither_the_logbook_nor_the_issue(
    story: Story, path: str, capsys: CAPTURE
) -> None:
    story.run_first_job(WAIT)
    initialised_at = story.run.record.memory().initialised
    assert initialised_at is not None
    forged_event = replace(initialised_at, at=now(), logbook=path, issue="evil/other#1")
    record = story.clone("attacker").run.record
    record.fetch()
    record.append(forged_event)
    assert record.push()
    assert story.tick() == 0, capsys.readouterr()
    assert story.run.record.logbook_path == ".agents/logbooks/tiny.md"
    assert story.run.record.memory().initialised == initialised_at
    assert story.herorun("logbook", "show", SLUG) == 0
