"""Which waivers do something, and the block that a person signs."""

import tomllib
from datetime import timedelta

import pytest

from builders import NOON, SMALL
from herorun.core.contract import contract_from
from herorun.core.errors import WrongUse
from herorun.core.finding import Finding, Waiver, failed, passed, unknown
from herorun.core.waivers import waiver_toml, waiver_use
from wording import mentions

LATER = NOON + timedelta(days=1)
HERE, ELSEWHERE = {"dirty-tree", "no-remote", "unused-waiver"}, {"open-alerts", "contract-drift"}
FINDINGS = [
    Finding("dirty-tree", failed("dirty", subject="a")),
    Finding("no-remote", passed("there")),
]


def a_waiver(check="dirty-tree", expires=LATER, **changes):
    return Waiver(check, "reason", "@dri", expires, **changes)


def use(*waivers, findings=FINDINGS):
    return waiver_use(waivers, findings, HERE, ELSEWHERE, NOON)


@pytest.mark.parametrize(
    ("waiver", "is_unused"),
    [
        (a_waiver(), False),
        (a_waiver(subject="a"), False),
        (a_waiver(subject="b"), True),
        (a_waiver("no-remote"), True),
        (a_waiver("open-alerts"), False),  # the seal gate's matter
        (a_waiver("unused-waiver"), False),  # it has yet to answer
        (a_waiver("drity-tree"), True),
    ],
)
def test_what_signs_nothing_here(waiver, is_unused):
    assert use(waiver).unused == ((waiver,) if is_unused else ())


def test_two_that_cover_one_finding_are_both_used():
    assert use(a_waiver(), a_waiver(subject="a")).unused == ()


def test_what_nobody_could_see_is_only_signed_by_one_that_says_so():
    blind = [Finding("dirty-tree", unknown("no answer"))]

    assert len(use(a_waiver(), findings=blind).unused) == 1
    assert use(a_waiver(unknown=True), findings=blind).unused == ()


def test_what_is_over_is_expired_at_every_gate_and_not_unused_too():
    over = [a_waiver(expires=NOON), a_waiver("open-alerts", expires=NOON)]

    assert use(*over).expired == tuple(over)
    assert use(*over).unused == ()


def test_a_name_that_no_check_has_is_strange():
    strange = use(a_waiver("drity-tree"), a_waiver("open-alerts")).strange
    assert list(strange) == ["drity-tree"] and mentions(strange["drity-tree"], "`dirty-tree`")


@pytest.mark.parametrize("subject", [None, "runs/tiny.toml", 'a "b" \\ c\n\x7f\x01 é'])
def test_the_block_is_toml_and_refused_until_somebody_signs(subject):
    text = waiver_toml("dirty-tree", subject, 'only "notes"', LATER, True)
    (table,) = tomllib.loads(text)["waiver"]

    assert table.get("subject") == subject
    assert "expires = 2026-01-02T12:00:00Z\n" in text
    with pytest.raises(WrongUse, match="approved_by"):
        contract_from({**SMALL, "waiver": [table]}, "here")
    (signed_waiver,) = contract_from(
        {**SMALL, "waiver": [{**table, "approved_by": "@dri"}]}, "here"
    ).waiver
    assert signed_waiver.as_signed_waiver() == Waiver(
        "dirty-tree", 'only "notes"', "@dri", LATER, subject, True
    )
