"""A whole run on a real API server, by the command line: what a person would see."""

import json
import os
import signal
import tomllib
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from commands.answers import Answer, ask
from herorun.core.doctor_report import Fit
from herorun.core.evidence import Job, JobState
from herorun.core.ports import Absent, Found, Submission
from herorun.operations.health.rules import evidence_file
from herorun.operations.health.shared_polls import SharedPolls
from ports.scheduler_suite import long_ago
from schedulers.kubernetes_rig import adapter, contract_table
from services.k8s import Space, kubectl
from services.k8s_proxy import Proxy
from stories import WAIT, Story, eventually
from wording import mentions

pytestmark = pytest.mark.back_end

PID = 'echo $$ > "$data/pid-$HERORUN_INSTANCE"'
BATCH = "/apis/batch/v1/namespaces"


@pytest.fixture
def on_k8s(home: Path, space: Space) -> Story:
    """The run of all the other stories, with another scheduler."""
    story = Story(home).begin()
    path = story.work / "runs" / "tiny.toml"
    contract = tomllib.loads(path.read_text())
    path.write_text(tomli_w.dumps({**contract, "scheduler": contract_table(space)}))
    story.publish()
    return story


def job_of(story: Story, instance: str) -> Job:
    run = story.run
    answer = run.scheduler.find(instance, run.record.memory().launchings[instance].at)
    assert isinstance(answer, Found), answer
    return answer.job


def wait_for_end(story: Story, instance: str) -> Job:
    eventually(lambda: job_of(story, instance).state.is_final, within=120)
    return job_of(story, instance)


def kill(story: Story, instance: str) -> None:
    os.kill(int((story.data / f"pid-{instance}").read_text()), signal.SIGKILL)


def test_a_run_is_launched_relaunched_after_a_crash_and_stopped(
    on_k8s: Story, space: Space, capsys: pytest.CaptureFixture[str]
) -> None:
    story = on_k8s
    story.order("tiny-1", f"{PID}; echo begun; {WAIT}")
    story.order("tiny-2", f"{PID}; {WAIT}")
    assert story.init() == 0
    preflight = ask(story, capsys, "preflight", "tiny", "--json").document
    assert preflight["verdict"] == "clear", preflight
    assert story.launch() == 0
    eventually(lambda: (story.data / "pid-tiny-1").exists(), within=120)
    capsys.readouterr()
    story.herorun("babysit", "tiny", "--once", "--json")
    tick = json.loads(capsys.readouterr().out)
    assert tick["monitor"] == "fresh" and tick["run"] == "healthy", tick

    patrol = ask(story, capsys, "patrol", "tiny", "--json")
    assert (patrol.code, patrol.document["state"]) == (0, "running"), patrol
    kill(story, "tiny-1")
    job = wait_for_end(story, "tiny-1")
    assert (job.state, job.exit_code, job.stopped_by) == (JobState.FAILED, 137, None)
    patrol = ask(story, capsys, "patrol", "tiny", "--json")
    assert (patrol.code, patrol.document["state"]) == (1, "down"), patrol
    assert mentions(patrol.document["line"], "exit code 137")
    story.tick()
    eventually(lambda: (story.data / "pid-tiny-2").exists(), within=120)
    assert story.starts == ["tiny-1 scratch", f"tiny-2 {story.root / 'step-2'}"]
    assert "begun\n" in ask(story, capsys, "logs", "--instance", "1").out

    assert story.herorun("stop", "tiny") == 0, capsys.readouterr()
    job = wait_for_end(story, "tiny-2")
    assert job.state is JobState.CANCELLED and job.stopped_by
    story.tick()
    story.tick()
    assert len(story.starts) == 2
    names = [each["metadata"]["name"] for each in space.jobs()]
    assert names == ["tiny-1", "tiny-2"]


def test_logs_are_followed_to_the_end(on_k8s: Story, capsys: pytest.CaptureFixture[str]) -> None:
    story = on_k8s
    story.order("tiny-1", "echo begun; sleep 2; echo over")
    assert story.init() == 0 and story.launch() == 0
    answer = ask(story, capsys, "logs", "tiny", "-f")
    assert answer.code == 0 and "begun\nover\n" in answer.out, answer
    assert mentions(answer.err, "tiny-1", "ended", "succeeded")


def test_a_job_that_kubectl_has_created_is_adopted_watched_and_replaced_after_its_crash(
    on_k8s: Story, space: Space, capsys: pytest.CaptureFixture[str]
) -> None:
    story = on_k8s
    story.order("by-hand", f"{PID}; {WAIT}")
    story.order("tiny-2", f"{PID}; {WAIT}")
    assert story.init() == 0
    argv = ["sh", "train.sh", str(story.data)]
    space.create_job("by-hand", argv, str(story.work), HERORUN_INSTANCE="by-hand")
    eventually(lambda: (story.data / "pid-by-hand").exists(), within=120)
    capsys.readouterr()
    assert story.launch("--adopt", "job.batch/by-hand", "--json") == 0, capsys.readouterr()
    answer = json.loads(capsys.readouterr().out)
    assert (answer["instance"], answer["job"]) == ("tiny-1", "job.batch/by-hand")
    assert answer["adopted"]["command"] == argv
    assert story.starts == ["by-hand scratch"]
    assert job_of(story, "tiny-1").state is JobState.RUNNING
    kill(story, "by-hand")
    assert wait_for_end(story, "tiny-1").state is JobState.FAILED
    story.tick()
    eventually(lambda: (story.data / "pid-tiny-2").exists(), within=120)
    assert story.starts == ["by-hand scratch", f"tiny-2 {story.root / 'step-2'}"]
    capsys.readouterr()
    assert story.launch("--adopt", "job.batch/by-hand") == 1
    assert mentions(capsys.readouterr().err, "by-hand", "tiny-1", "tiny-2", "after")


def kubeconfigs(space: Space) -> dict[str, tuple[str, str]]:
    """What may be wrong with one, and a word that tells it."""
    space.allow("watcher", "jobs", ["get", "list"])
    control = space.control
    return {
        "an unreachable server": (control.kubeconfig(server="https://127.0.0.1:9"), "127.0.0.1:9"),
        "an expired token": (control.kubeconfig(token="expired"), "log in"),
        "forbidden verbs": (control.kubeconfig("watcher"), 'cannot list resource "pods"'),
        "a file that is gone": ("/no/such/kubeconfig", "kubeconfig"),
    }


def findings(answer: Answer) -> str:
    return " ".join(
        each["message"]
        for each in answer.document["findings"]
        if each["outcome"] in ("fail", "unknown")
    )


def test_bad_input_is_a_sentence_and_nothing_is_submitted(
    on_k8s: Story,
    space: Space,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    story = on_k8s
    assert story.init() == 0
    path = story.work / "runs" / "tiny.toml"
    contract = tomllib.loads(path.read_text())
    hook = space.deny("gpus are for Tuesdays")
    hooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
    request.addfinalizer(lambda: space.control.ask("DELETE", f"{hooks}/{hook}"))
    codes = {"forbidden verbs": 1}
    bad = {
        what: ({"kubeconfig": config}, words, codes.get(what, 3))
        for what, (config, words) in kubeconfigs(space).items()
    }
    bad["a wrong namespace"] = ({"namespace": "no-such"}, 'namespaces "no-such" not found', 1)
    bad["a webhook that refuses"] = ({}, "gpus are for Tuesdays", 1)
    for what, (changes, words, code) in bad.items():
        table = {**contract["scheduler"], **changes}
        path.write_text(tomli_w.dumps({**contract, "scheduler": table}))
        story.publish()
        answer = ask(story, capsys, "launch", "tiny", "--json")
        assert (answer.code, words in findings(answer)) == (code, True), (what, answer)
    assert space.jobs() == [] and not story.events("Launching")


def test_doctor_names_what_is_wrong_with_a_cluster(
    on_k8s: Story, space: Space, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server lists nothing in a namespace that does not exist, as in one that is empty."""
    story = on_k8s
    monkeypatch.setenv("PATH", f"{Path(kubectl()).parent}:{os.environ['PATH']}")
    assert story.init() == 0
    path = story.work / "runs" / "tiny.toml"
    contract = tomllib.loads(path.read_text())
    configs = {what: config for what, (config, _) in kubeconfigs(space).items()}
    own, namespace, rights = (
        "kubernetes, tiny",
        f"kubernetes, namespace {space.name}",
        f"kubernetes, rights in {space.name}",
    )
    fits: dict[str, tuple[dict[str, object], dict[str, str]]] = {
        "all well": ({}, {own: "ok", namespace: "ok", rights: "ok"}),
        "a wrong namespace": (
            {"namespace": "no-such"},
            {own: "ok", "kubernetes, namespace no-such": "failed"},
        ),
        **{
            what: ({"kubeconfig": configs[what]}, {own: "unknown"})
            for what in ("an unreachable server", "an expired token", "forbidden verbs")
        },
        "a context that is not there": ({"context": "prod"}, {own: "unknown"}),
    }
    for what, (changes, items) in fits.items():
        table = {**contract["scheduler"], **changes}
        path.write_text(tomli_w.dumps({**contract, "scheduler": table}))
        answer = ask(story, capsys, "doctor", "tiny", "--json")
        parts = {each["name"]: each["status"] for each in answer.document["parts"]}
        assert items.items() <= parts.items(), (what, answer)
        assert (answer.code == 0) == (what == "all well"), (what, answer)


def test_doctor_names_the_rights_that_a_login_lacks(space: Space, tmp_path: Path) -> None:
    verbs = ["get", "list"]
    space.allow_rules("watcher", [{"apiGroups": ["batch", ""], "resources": ["*"], "verbs": verbs}])
    login = space.control.kubeconfig("watcher")
    namespace, rights = adapter(space, tmp_path, kubeconfig=login).examine()
    assert (namespace.status, rights.status) == (Fit.OK, Fit.FAILED)
    assert mentions(rights.message, "create jobs", "patch jobs") and rights.fix
    space.control.ask(
        "DELETE", f"/apis/rbac.authorization.k8s.io/v1/namespaces/{space.name}/roles/watcher"
    )
    namespace, _ = adapter(space, tmp_path, kubeconfig=login).examine()
    assert namespace.status == Fit.SKIPPED


def test_a_cluster_that_may_not_be_read_any_more_makes_a_run_unknown_and_nothing_is_done(
    on_k8s: Story, space: Space, capsys: pytest.CaptureFixture[str]
) -> None:
    """Seen: with forbidden verbs the tick itself ended, with exit code 2, and nobody was told."""
    story = on_k8s
    story.order("tiny-1", f"{PID}; {WAIT}")
    assert story.init() == 0 and story.launch() == 0
    eventually(lambda: (story.data / "pid-tiny-1").exists(), within=120)
    own = Path(space.kubeconfig)
    for what, (config, words) in kubeconfigs(space).items():
        text = own.read_text()
        if Path(config).exists():
            own.write_text(Path(config).read_text())
        else:
            own.unlink()
        tick = ask(story, capsys, "babysit", "tiny", "--once", "--json")
        assert (tick.code, words in findings(tick)) == (3, True), (what, tick)
        assert tick.document["monitor"] != "fresh"
        assert {each["action"] for each in tick.document["actions"]} <= {"tell", "escalate"}
        for command in (("stop", "tiny"), ("logs", "tiny")):
            answer = ask(story, capsys, *command)
            assert answer.code in (2, 3) and words in answer.err, (what, answer)
            assert len(answer.err.splitlines()) == 1, (what, answer)
        own.write_text(text)
    assert story.tick() == 0
    assert story.starts == ["tiny-1 scratch"]
    assert len(space.jobs()) == 1 and "activeDeadlineSeconds" not in space.jobs()[0]["spec"]


def test_the_evidence_keeps_a_warning_that_the_cluster_has_forgotten(
    on_k8s: Story, space: Space, capsys: pytest.CaptureFixture[str]
) -> None:
    """A server keeps an Event for an hour."""
    story = on_k8s
    story.order("tiny-1", f"{PID}; {WAIT}")
    assert story.init() == 0 and story.launch() == 0
    eventually(lambda: (story.data / "pid-tiny-1").exists(), within=120)
    (pod,) = [each["metadata"]["name"] for each in space.control.pods(space.name)]
    about = {"kind": "Pod", "name": pod, "namespace": space.name}
    words = {"type": "Warning", "reason": "NodeNotReady", "message": "its rack lost power"}
    path = f"/api/v1/namespaces/{space.name}/events"
    event = {"metadata": {"name": f"{pod}.1"}, "involvedObject": about, **words}
    space.control.ask("POST", path, event)
    story.tick()
    space.control.ask("DELETE", path)
    assert story.run.scheduler.warnings("tiny-1") == ()
    first, last = story.events("Observed")[0], story.events("Observed")[-1]
    assert first == last and words["message"] in evidence_file(story.run, first.at).read_text()


def test_a_round_of_ticks_asks_a_namespace_once_for_all_its_runs(
    space: Space, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Also for what is live next to them and for the warnings, of which no other asks again."""
    proxy = Proxy(space.control)
    request.addfinalizer(proxy.stop)
    config = space.control.kubeconfig(server=proxy.url)
    intents = {f"tiny-{number}": long_ago() for number in range(1, 4)}
    runs = {name: adapter(space, tmp_path / name, kubeconfig=config) for name in intents}
    for name, scheduler in runs.items():
        submission = Submission(name, ("sleep", "60"), ".", {}, ())
        scheduler.submit(submission, str(tmp_path), "/state/admission.json")
    space.create_job("tiny-by-hand", ["sleep", "60"], str(tmp_path))
    polls = SharedPolls()
    for name, at in intents.items():
        polls.note_intent(name, runs[name], (name, at))

    def round_of_ticks() -> list[str]:
        proxy.requests.clear()
        for name, at in intents.items():
            view: Any = polls.share(name, runs[name], (name, at), timedelta(minutes=7))
            assert isinstance(view.find(name, at), Found)
            assert [job.instance for job in view.live_jobs("tiny")] == list(intents)
            assert [job.instance for job in view.other_jobs("tiny")] == ["tiny-by-hand"]
            assert view.warnings(name) == ()
        return sorted(each.rpartition("/")[2] for each in proxy.requests)

    assert [round_of_ticks() for _ in range(2)] == [["events", "jobs", "jobs", "pods"]] * 2


def test_any_number_of_instances_is_asked_for_by_one_list_of_jobs_and_one_of_pods(
    space: Space, tmp_path: Path
) -> None:
    program, calls = tmp_path / "kubectl", tmp_path / "calls"
    program.write_text(f'#!/bin/sh\necho "$*" >> {calls}\nexec {kubectl()} "$@"\n')
    program.chmod(0o755)
    scheduler = adapter(space, tmp_path, program=str(program))
    times = {f"tiny-{number}": long_ago() for number in range(1, 200)}
    answers = scheduler.find_all(times)
    assert len(answers) == 199 and {type(answer) for answer in answers.values()} == {Absent}
    lines = calls.read_text().splitlines()
    assert [line.rpartition("--raw ")[2].partition("?")[0] for line in lines] == [
        f"/apis/batch/v1/namespaces/{space.name}/jobs",
        f"/api/v1/namespaces/{space.name}/pods",
    ]
