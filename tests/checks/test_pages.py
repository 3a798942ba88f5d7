"""Every check is a page: one question a file, named for the problem, with its why, its mend and its
test.
"""

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

from builders import healthy
from herorun.core.check import Check, Gate, evaluate
from herorun.core.evidence import Gaps, Now
from herorun.core.finding import Outcome

MODULES = [
    (gate, module.name)
    for gate in Gate
    for module in iter_modules(import_module(f"herorun.checks.{gate}").__path__)
]
PROMISED_CHECKS = {
    Gate.LAUNCH: "missing-dri no-record no-remote dirty-tree unpushed-commit output-root-in-use "
    "undecided-retention incomplete-start-checkpoint start-checkpoint-not-newest "
    "unknown-final-step "
    "live-duplicate sealed-run missing-issue unpinned-output-root output-root-mismatch "
    "unconfirmed-inference "
    "second-babysitter no-babysitter contract-drift unused-waiver lenient-policy",
    Gate.CHECKIN: "admitted-mismatch",
    Gate.HEALTH: "crashed stopped-by-hand refused-at-check-in not-finite loss-spike stalled-steps "
    "not-checked-in monitor-blind unfinished-action contract-drift repeated-crash pending-too-long "
    "partial-allocation "
    "late-checkpoints stalled-checkpoints incomplete-checkpoint shrinking-rollback "
    "expiring-source nothing-saved "
    "wrong-resume silent-tracker stalled-by-infrastructure tracker-identity-drift "
    "stale-tracker-run second-writer "
    "output-moved "
    "unreported-steps writes-after-end late-tick filling-disk full-disk stale-monitor clock-skew "
    "missing-artefacts past-final-step missing-secret",
    Gate.SEAL: "job-not-succeeded short-of-final-step "
    "incomplete-final-checkpoint open-alerts no-remote "
    "unpushed-record "
    "unfinished-tracker-run missing-final-metrics unrecorded-patch babysitter-still-running "
    "surviving-job "
    "incomplete-milestone-checkpoint not-checked-in",
}


def the_check(gate, name):
    module = import_module(f"herorun.checks.{gate}.{name}")
    (only_check,) = [v for v in vars(module).values() if isinstance(v, Check)]
    return only_check


CHECKS = [the_check(gate, name) for gate, name in MODULES]


@pytest.mark.parametrize("gate", Gate)
def test_every_promised_check_is_there(gate):
    assert set(PROMISED_CHECKS[gate].split()) <= {
        check.name for check in CHECKS if check.gate is gate
    }


def test_a_file_holds_one_check_of_its_gate_and_name():
    names = [(check.gate, check.name) for check in CHECKS]

    assert names == [(gate, name.replace("_", "-")) for gate, name in MODULES]


def test_every_check_has_a_test():
    tests = Path(__file__).parent
    untested_checks = [
        (gate, name) for gate, name in MODULES if not (tests / gate / f"test_{name}.py").exists()
    ]

    assert untested_checks == []


def test_a_page_says_the_problem_why_and_the_fix():
    for check in CHECKS:
        first, second = check.doc.splitlines()[:2]
        a_sentence = first[0].isupper() and first.endswith(".")

        assert first == check.problem and a_sentence and not second, check.name
        assert len(check.why) > 40 and check.why.endswith("."), check.name
        assert len(check.fix) > 20 and check.fix.endswith("."), check.name


@pytest.mark.parametrize("gate", Gate)
def test_a_healthy_run_has_no_open_finding(gate):
    findings = evaluate([check for check in CHECKS if check.gate is gate], healthy(gate))

    assert [finding for finding in findings if finding.open] == []


def test_a_world_that_nobody_could_read_is_never_a_pass():
    outcomes = {
        (check.gate, check.name): {finding.verdict.outcome for finding in evaluate([check], {})}
        for check in CHECKS
    }

    assert outcomes == {key: {Outcome.UNKNOWN} for key in outcomes}


def test_what_a_check_needs_is_evidence_that_a_gate_has():
    evidence = {gate: healthy(gate).keys() | {Gaps, Now} for gate in Gate}
    lacking = {check.name: set(check.needs) - evidence[check.gate] for check in CHECKS}

    assert {name: needs for name, needs in lacking.items() if needs} == {}
