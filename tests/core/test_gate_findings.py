"""What follows from one problem is shown under it, and each finding is counted once."""

from dataclasses import replace
from datetime import timedelta

from builders import NOON
from herorun.core.check import Gate, Mode, Response, check, evaluate
from herorun.core.evidence import Unavailable, WorkTree
from herorun.core.finding import Finding, Waiver, failed, not_applicable, passed, unknown
from herorun.core.gate_findings import FindingMark, group_findings, mark_of, tally
from wording import mentions


@check(Gate.LAUNCH, Response.BLOCK)
def dirty(tree: WorkTree):
    """Dirty.

    Why: x
    Fix: y
    """
    return passed("clean")


@check(Gate.LAUNCH, Response.WARN)
def mild(tree: WorkTree):
    """Mild.

    Why: x
    Fix: y
    """
    return passed("clean")


@check(Gate.LAUNCH, Response.BLOCK, always=True)
def grave(tree: WorkTree):
    """Grave.

    Why: x
    Fix: y
    """
    return passed("clean")


CHECKS = {each.name: each for each in (dirty, mild, grave)}
SIGNED_WAIVER = Waiver("dirty", "reviewed", "@ana", NOON + timedelta(days=1))


def finding(name, verdict, waiver=None):
    return Finding(name, verdict, waiver)


def blind(name, *causes, message="could not look: x"):
    return finding(name, replace(unknown(message), causes=causes))


def names(groups):
    return [(group.cause.check, [effect.check for effect in group.effects]) for group in groups]


def test_what_a_failure_explains_stands_under_it_and_it_comes_first():
    root = finding(
        "dirty", replace(failed("config.toml is untracked"), explains=("file config.toml",))
    )
    other = finding("grave", failed("something else"))

    groups = group_findings([blind("mild", "file config.toml"), other, root], CHECKS)

    assert names(groups) == [("dirty", ["mild"]), ("grave", [])]


def test_a_chain_of_causes_ends_at_its_root():
    root = finding("grave", replace(failed("a"), explains=("a",)))
    middle = finding("dirty", replace(failed("b"), causes=("a",), explains=("b",)))

    assert names(group_findings([blind("mild", "b"), middle, root], CHECKS)) == [
        ("grave", ["mild", "dirty"])
    ]


def test_two_that_explain_each_other_are_both_shown():
    one = finding("dirty", replace(failed("a"), causes=("b",), explains=("a",)))
    two = finding("grave", replace(failed("b"), causes=("a",), explains=("b",)))
    groups = group_findings([one, two], CHECKS)

    assert sorted(f.check for group in groups for f in (group.cause, *group.effects)) == [
        "dirty",
        "grave",
    ]


def test_an_unreachable_remote_is_one_group_whatever_each_says_of_it():
    groups = group_findings(
        [
            blind("dirty", "remote origin", message="ls-remote failed"),
            blind("mild", "remote origin", message="fetch failed"),
            blind("grave", "file a", message="no a"),
        ],
        CHECKS,
    )

    assert names(groups) == [("dirty", ["mild"]), ("grave", [])]


def test_a_cause_that_is_waived_explains_nothing_any_more():
    root = finding("dirty", replace(failed("x"), explains=("file a",)), SIGNED_WAIVER)

    assert names(group_findings([root, blind("mild", "file a")], CHECKS)) == [("mild", [])]


def test_each_finding_has_one_of_six_marks():
    findings = [
        finding("dirty", failed("x")),
        finding("mild", failed("x")),
        finding("dirty", failed("x"), SIGNED_WAIVER),
        finding("dirty", unknown("x")),
        finding("dirty", passed("x")),
        finding("dirty", not_applicable("x")),
    ]

    assert {mark_of(each, CHECKS[each.check]) for each in findings} == set(FindingMark)
    assert (
        str(tally(findings, CHECKS))
        == "1 blocking, 1 unknown, 1 warning, 1 waived, 1 passed, 1 not applicable"
    )


def test_what_only_the_policy_lets_pass_is_not_counted_as_blocking():
    findings = [
        finding("dirty", failed("x")),
        finding("grave", failed("x")),
        finding("mild", failed("x")),
    ]

    assert mentions(
        str(tally(findings, CHECKS, Mode.AUDIT)), "1 blocking", "1 failed", "enforced", "1 warning"
    )


def test_a_check_that_cannot_look_names_what_it_follows_from():
    answers = evaluate([dirty], {WorkTree: Unavailable("no answer from origin", "remote origin")})

    assert [each.verdict.causes for each in answers] == [("remote origin",)]
    assert mentions(answers[0].verdict.message, "answer", "origin")
