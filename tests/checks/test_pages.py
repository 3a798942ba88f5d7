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
    (gate, found.name)
    for gate in Gate
    for found in iter_modules(import_module(f"herorun.checks.{gate}").__path__)
]
PROMISED = {
    Gate.LAUNCH: "missing-dri no-logbook no-remote dirty-tree unpushed-commit output-root-in-use "
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
    "unpushed-logbook "
    "unfinished-tracker-run missing-final-metrics unrecorded-patch babysitter-still-running "
    "surviving-job "
    "incomplete-milestone-checkpoint not-checked-in",
}


def the_check(gate, name):
    module = import_module(f"herorun.checks.{gate}.{name}")
    (found,) = [v for v in vars(module).values() if isinstance(v, Check)]
    return found


CHECKS = [the_check(gate, name) for gate, name in MODULES]


@pytest.mark.parametrize("gate", Gate)
def test_every_promised_check_is_there(gate):
    assert set(PROMISED[gate].split()) <= {check.name for check in CHECKS if check.gate is gate}


@pytest.mark.parametrize(("gate", "name"), MODULES, ids=[name for _, name in MODULES])
def test_a_file_holds_one_check_of_its_gate_and_name(gate, name):
    check = the_check(gate, name)

    assert (check.gate, check.name) == (gate, name.replace("_", "-"))
    assert (Path(__file__).parent / gate / f"test_{name}.py").exists()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_a_page_says_the_problem_why_and_the_mend(check):
    first, second = check.doc.splitlines()[:2]

    assert first == check.problem and first[0].isupper() and first.endswith(".") and not second
    assert len(check.why) > 40 and check.why.endswith(".")
    assert len(check.fix) > 20 and check.fix.endswith(".")


@pytest.mark.parametrize("gate", Gate)
def test_a_healthy_run_has_no_open_finding(gate):
    findings = evaluate([check for check in CHECKS if check.gate is gate], healthy(gate))

    assert [finding for finding in findings if finding.open] == []


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_a_world_that_nobody_could_read_is_never_a_pass(check):
    outcomes = {finding.verdict.outcome for finding in evaluate([check], {})}

    assert outcomes == {Outcome.UNKNOWN}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_what_a_check_needs_is_evidence_that_a_gate_has(check):
    assert set(check.needs) <= healthy(check.gate).keys() | {Gaps, Now}
