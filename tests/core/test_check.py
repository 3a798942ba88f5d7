"""The engine: what a check asks for, and what stands in for an answer that there is not."""

from dataclasses import dataclass
from datetime import timedelta

import pytest

from herorun.core.check import (
    AtRelaunch,
    Check,
    Gate,
    Hold,
    Mode,
    Response,
    Severity,
    check,
    evaluate,
)
from herorun.core.evidence import Gaps, Job, Metrics, Nothing, Unavailable, WorkTree
from herorun.core.finding import Finding, Outcome, Verdict, Waiver, failed, passed
from herorun.core.gate_findings import GateVerdict, verdict_of
from wording import mentions

TREE = WorkTree(commit="3f2a9c1d0")


@dataclass(frozen=True)
class Limits:
    most: int = 3


@check(Gate.LAUNCH, Response.BLOCK)
def plain(tree: WorkTree) -> Verdict:
    return passed(tree.commit)


@check(Gate.HEALTH, Response.WARN, hold=Hold(timedelta(minutes=5)), at_relaunch=AtRelaunch.WARN)
def choosy(
    tree: WorkTree, job: Job | Nothing, metrics: Metrics | Nothing | Unavailable, limits: Limits
) -> Verdict:
    """This text is not the page: the page is the module's."""
    return passed(f"{type(job).__name__} {type(metrics).__name__} {limits.most}")


@check(Gate.LAUNCH, Response.WARN)
def raise_error(tree: WorkTree) -> Verdict:
    raise ZeroDivisionError("oops")


@check(Gate.LAUNCH, Response.WARN)
def advise(tree: WorkTree) -> Verdict:
    """A page of its own.

    Why: a test.
    Fix: look (`herorun logs RUN`, at its end).
    """
    return passed(tree.commit)


@check(Gate.LAUNCH, Response.BLOCK)
def several(tree: WorkTree) -> list[Verdict]:
    return [failed("a", subject="a"), passed("b", subject="b")]


def ask(rule, evidence, limits=None):
    return [(f.verdict.outcome, f.verdict.message) for f in evaluate([rule], evidence, limits)]


def test_the_next_action_names_the_run_and_no_command_that_a_nameless_job_cannot_take():
    assert advise.next_action("tiny") == "look (`herorun logs tiny`, at its end)."
    assert advise.next_action("") == "look."


def test_the_needs_are_the_annotations():
    assert plain.needs == (WorkTree,)
    assert choosy.needs == (WorkTree, Job, Metrics)
    assert choosy.accepts == (frozenset(), frozenset({Nothing}), frozenset({Nothing, Unavailable}))
    assert choosy.limits is Limits


def test_the_name_is_the_functions():
    @check(Gate.SEAL, Response.INFO)
    def two_words(gaps: Gaps) -> Verdict:
        return passed("")

    assert two_words.name == "two-words"


def test_a_check_can_be_called_as_the_function_it_is():
    assert plain(TREE) == passed("3f2a9c1d0")


def test_what_could_not_be_read_is_unknown_with_its_reason():
    evidence = {WorkTree: Unavailable("git: no answer")}

    ((outcome, message),) = ask(plain, evidence)
    assert outcome is Outcome.UNKNOWN and mentions(message, "git: no answer")


def test_what_nobody_read_is_unknown(notice):
    ((outcome, message),) = ask(plain, {})
    assert outcome is Outcome.UNKNOWN and message == notice


def test_nothing_yet_is_not_applicable(notice):
    assert ask(plain, {WorkTree: Nothing("no tree")}) == [(Outcome.NOT_APPLICABLE, "no tree")]
    ((outcome, message),) = ask(plain, {WorkTree: Nothing()})
    assert outcome is Outcome.NOT_APPLICABLE and message == notice


def test_a_check_may_deal_with_nothing_and_with_what_could_not_be_read():
    evidence = {WorkTree: TREE, Job: Nothing(), Metrics: Unavailable("503")}

    assert ask(choosy, evidence) == [(Outcome.PASS, "Nothing Unavailable 3")]


def test_unavailable_outranks_nothing():
    evidence = {WorkTree: Nothing(), Job: Unavailable("time-out"), Metrics: Nothing()}

    assert ask(choosy, evidence)[0][0] is Outcome.UNKNOWN


def test_thresholds_come_by_the_checks_name():
    evidence = {WorkTree: TREE, Job: Nothing(), Metrics: Nothing()}

    assert ask(choosy, evidence, {"choosy": Limits(7)}) == [(Outcome.PASS, "Nothing Nothing 7")]
    assert ask(choosy, evidence, {"other": Limits(7)}) == [(Outcome.PASS, "Nothing Nothing 3")]


def test_a_broken_check_reads_unknown_and_the_rest_are_still_asked():
    findings = evaluate([raise_error, plain], {WorkTree: TREE})

    assert [f.verdict.outcome for f in findings] == [Outcome.UNKNOWN, Outcome.PASS]
    assert "ZeroDivisionError" in findings[0].verdict.message


def test_several_answers_are_several_findings():
    assert [f.verdict.subject for f in evaluate([several], {WorkTree: TREE})] == ["a", "b"]


@pytest.mark.parametrize(
    ("gate", "response"),
    [
        (Gate.LAUNCH, Response.RELAUNCH),
        (Gate.HEALTH, Response.BLOCK),
        (Gate.SEAL, Response.STOP),
        (Gate.CHECKIN, Response.BLOCK),
    ],
)
def test_a_response_must_make_sense_at_its_gate(gate, response):
    with pytest.raises(ValueError, match=r"makes.*sense"):
        check(gate, response)


@pytest.mark.parametrize(
    ("response", "severity"),
    [
        (Response.INFO, Severity.INFO),
        (Response.WARN, Severity.WARN),
        (Response.RELAUNCH, Severity.CRITICAL),
        (Response.ESCALATE, Severity.CRITICAL),
        (Response.STOP, Severity.CRITICAL),
    ],
)
def test_the_severity_follows_the_response(response, severity):
    @check(Gate.HEALTH, response)
    def some(gaps: Gaps) -> Verdict:
        return passed("")

    assert some.severity is severity


@pytest.mark.parametrize("response", [Response.WARN, Response.INFO])
def test_only_what_blocks_can_insist(response):
    with pytest.raises(ValueError, match=r"makes.*sense"):
        check(Gate.LAUNCH, response, always=True)


def a_finding(rule: Check, outcome: Outcome, waiver: Waiver | None = None) -> Finding:
    return Finding(rule.name, Verdict(outcome=outcome, message=""), waiver)


@pytest.mark.parametrize(
    ("outcomes", "verdict"),
    [
        ([], GateVerdict.CLEAR),
        ([(plain, Outcome.PASS), (plain, Outcome.NOT_APPLICABLE)], GateVerdict.CLEAR),
        ([(plain, Outcome.UNKNOWN), (plain, Outcome.FAIL)], GateVerdict.BLOCKED),
        ([(plain, Outcome.UNKNOWN)], GateVerdict.UNKNOWN),
        (
            [(raise_error, Outcome.FAIL), (raise_error, Outcome.UNKNOWN)],
            GateVerdict.CLEAR,
        ),  # a WARN
    ],
)
def test_the_verdict_of_a_gate(outcomes, verdict):
    checks = {c.name: c for c in (plain, raise_error)}

    assert verdict_of([a_finding(c, outcome) for c, outcome in outcomes], checks) is verdict


@check(Gate.LAUNCH, Response.BLOCK, always=True)
def harmful(tree: WorkTree) -> Verdict:
    return passed("")


@pytest.mark.parametrize("mode", [Mode.WARN, Mode.AUDIT])
@pytest.mark.parametrize(
    ("rule", "outcome", "verdict"),
    [
        (plain, Outcome.FAIL, GateVerdict.CLEAR),
        (plain, Outcome.UNKNOWN, GateVerdict.CLEAR),
        (harmful, Outcome.FAIL, GateVerdict.BLOCKED),
        (harmful, Outcome.UNKNOWN, GateVerdict.UNKNOWN),
    ],
)
def test_a_lenient_mode_lets_pass_what_does_no_harm(mode, rule, outcome, verdict):
    checks = {c.name: c for c in (plain, harmful)}

    assert verdict_of([a_finding(rule, outcome)], checks, mode) is verdict
