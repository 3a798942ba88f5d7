"""What can be said of a job that runs already."""

from builders import a_job
from herorun.core.adoption import if_it_runs, runs, unproven_facts
from herorun.core.evidence import Adoptee, Nothing
from herorun.core.finding import Finding, Outcome, failed, passed, unknown
from wording import mentions

ADOPTED_EVIDENCE = {Adoptee: Adoptee(a_job(), "slurm")}
IN_USE = Finding(
    "output-root-in-use", failed("no instance wrote step-2", "step-2", subject="/data")
)


def test_what_it_wrote_itself_stops_nothing_and_stays_visible() -> None:
    (in_use,) = if_it_runs([IN_USE], ADOPTED_EVIDENCE)
    assert in_use.verdict.outcome is Outcome.NOT_APPLICABLE
    assert (in_use.verdict.subject, in_use.verdict.details) == ("/data", ("step-2",))
    (unproven_fact,) = unproven_facts([in_use])
    assert mentions(unproven_fact, "output-root-in-use", "step-2")


def test_without_an_adoption_the_same_finding_stands() -> None:
    assert if_it_runs([IN_USE], {Adoptee: Nothing()}) == [IN_USE]
    assert if_it_runs([IN_USE], {}) == [IN_USE]


def test_what_could_not_be_read_stays_unknown() -> None:
    finding = Finding("tracker-identity", unknown("W&B did not answer"))
    assert if_it_runs([finding], ADOPTED_EVIDENCE) == [finding]


def test_what_is_wrong_of_a_running_job_too_stands() -> None:
    finding = Finding("root-not-empty", failed("it holds step-2"))
    assert if_it_runs([finding], ADOPTED_EVIDENCE) == [finding]


def test_a_changed_tree_blocks_an_adoption_with_advice_for_a_running_job() -> None:
    finding = Finding("dirty-tree", failed("train.py was edited"))
    (running,) = if_it_runs([finding], ADOPTED_EVIDENCE)
    assert running.open and running.verdict.message == finding.verdict.message
    assert mentions(running.verdict.fix, "job", "commit", "`herorun waive`")
    assert finding.verdict.fix == ""


def test_what_is_unproven_facts_is_told_whether_signed_for_or_not() -> None:
    findings = [
        Finding("unverified-job", failed("no receipt")),
        Finding("unverified-job", passed("it is ada's")),
    ]
    assert unproven_facts(findings) == ("no receipt",)


def test_a_command_is_compared_word_by_word_from_its_end() -> None:
    assert runs(["python", "train.py"], ["python", "train.py"])
    assert runs(["/bin/sh", "./train.sh"], ["./train.sh"])
    assert not runs(["python", "train.py", "--lr", "3"], ["python", "train.py"])
    assert not runs([], ["train.py"]) and not runs(["train.py"], [])
