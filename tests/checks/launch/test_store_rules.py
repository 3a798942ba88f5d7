from builders import ROOT, TEMPORARY, answer, answers
from herorun.checks.launch.store_rules import store_rules
from herorun.core.check import Response
from herorun.core.evidence import RootFacts
from herorun.core.finding import Outcome


def test_the_rules_of_each_root_are_shown_and_never_fail():
    facts = RootFacts({}, {ROOT: ("deletes after 14 days", "versioning"), TEMPORARY: ()})

    verdict = answer(store_rules, facts)

    assert (verdict.outcome, verdict.subject) == (Outcome.PASS, ROOT)
    assert verdict.details == ("deletes after 14 days", "versioning")
    assert store_rules.response is Response.INFO


def test_a_root_whose_rules_nobody_may_ask_is_unknown_and_says_why():
    facts = RootFacts({}, {ROOT: ("versioning",)}, unknown_rules={TEMPORARY: "403 Forbidden"})

    by_root = {verdict.subject: verdict for verdict in answers(store_rules, facts)}

    assert by_root[ROOT].outcome is Outcome.PASS
    assert by_root[TEMPORARY].outcome is Outcome.UNKNOWN
    assert "403 Forbidden" in by_root[TEMPORARY].message


def test_roots_without_a_rule_are_not_applicable():
    assert answer(store_rules).outcome is Outcome.NOT_APPLICABLE
