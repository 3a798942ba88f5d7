"""What checks say is grammatical for every count: no "1 steps", no "2 row", nothing that
"continues" and has ended.
"""

import ast
import dataclasses
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import herorun
from builders import NOON, an_excursion, healthy, some_metrics
from herorun import discover
from herorun.core.babysit.alert import Alert, AlertState
from herorun.core.babysit.ended_alerts import as_ended, as_over
from herorun.core.check import Check, Gate, evaluate
from herorun.core.detectors.loss_state import LASTING
from herorun.core.evidence import Metrics
from herorun.core.finding import Outcome

PACKAGE = Path(herorun.__file__).parent
NOUNS = (
    "attempt|byte|change|checkpoint|commit|day|file|finding|hour|instance|job|line|metric|minute|node|part|"
    "relaunche|row|run|alert|event|fault|receipt|try|trie|entrie|machine|invocation|step|task|tick|time|token|update"
)
ONE_MANY = re.compile(rf"\b1 ({NOUNS})s\b")
MANY_ONE = re.compile(rf"(?<![.\d-])\b(0|[2-9]|\d\d+) ({NOUNS})\b(?!-)")
# A limit of many, and what is no number: progress in words, a kind, an adjective.
_CONSTANT_OR_WORDS = re.compile(r"^[A-Z_]+$|progress|kind|other")
# What runs where nothing of core can be imported: inside the job, or on another machine.
ON_ITS_OWN = (
    "checkin.py",
    "log.py",
    "process_facts.py",
    "core/admission/",
    "system/_host_",
    "stores/_posix_files.py",
    "demo/",
)
UNCOUNTED_NOUN = re.compile(rf"^ ({NOUNS.replace('|run|', '|')})s\b(?! the expected)")
MAYBE_UNCOUNTED = re.compile(rf"[}}\"'] ({NOUNS})s\b")  # a field or a part of a text before it
KINDS = [
    "spike",
    *LASTING,
    "flat",
    "chance",
    "constant",
    "repeats",
    "explosion",
    "creep",
    "vanished",
    "slow",
    "wall",
    "leak",
    "spent",
    "idle",
    "growth",
    "wander",
    "skipped",
    "band",
    "mixed",
    "doubled",
    "not-finite",
]


def an_alert(message: str) -> Alert:
    return Alert(
        check="ill",
        subject="m",
        since=NOON,
        seen=NOON,
        state=AlertState.FIRING,
        message=message,
        instance="tiny-1",
    )


def faults(message: str) -> list[str]:
    """What a reader stumbles over."""
    return [
        search[0]
        for pattern in (ONE_MANY, MANY_ONE)
        for search in [pattern.search(message)]
        if search
    ]


def shrunk(value: Any, number: int) -> Any:
    """The same evidence with every count in it, and as many of each collection."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return number
    if isinstance(value, tuple):
        return tuple((value * 2)[:number])
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value) if f.init}
        return dataclasses.replace(
            value, **{name: shrunk(each, number) for name, each in fields.items()}
        )
    return value


def metrics_of(number: int, is_open: bool, back: bool) -> Metrics:
    """One excursion of every kind, of so many rows."""
    excursions = [
        dataclasses.replace(
            an_excursion(number, 1.6, metric=f"m-{kind}", first=90, is_open=is_open),
            kind=kind,
            typical=1.5,
            back=back and kind != "not-finite",
        )
        for kind in KINDS
    ]
    by_kind = {each.kind: each for each in excursions}
    return some_metrics(
        step=200 + number,
        excursions=tuple(excursions),
        spikes=(by_kind["spike"],),
        non_finite=(by_kind["not-finite"],),
    )


def all_limits(check: Check) -> Any:
    """Limits that let everything through, so that all is told."""
    limits = check.limits()
    numbers = {
        f.name: type(getattr(limits, f.name))(0)
        for f in dataclasses.fields(limits)
        if isinstance(getattr(limits, f.name), int | float)
        and not isinstance(getattr(limits, f.name), bool)
    }
    return dataclasses.replace(limits, **numbers)


def messages(
    check: Check, evidence: Mapping[Any, Any], limits: Any = None
) -> Iterator[tuple[Outcome, str]]:
    try:
        verdict = evaluate([check], evidence, {check.name: limits} if limits is not None else {})
    except Exception:  # a world that cannot be: it has no message
        return
    for finding in verdict:
        yield finding.verdict.outcome, finding.verdict.message
        for detail in finding.verdict.details:
            yield finding.verdict.outcome, detail


@pytest.mark.parametrize("number", [0, 1, 2])
@pytest.mark.parametrize("gate", Gate)
def test_every_message_of_every_check_is_grammatical(gate: Gate, number: int) -> None:
    evidence = healthy(gate)
    worlds = {kind: {**evidence, kind: shrunk(value, number)} for kind, value in evidence.items()}
    shrunk_world = {kind: shrunk(value, number) for kind, value in evidence.items()}
    wrong = [
        (check.name, message)
        for check in discover.checks(gate)
        # a world that differs in what the check does not need is the healthy one to it
        for world in (evidence, shrunk_world, *(worlds[kind] for kind in check.needs))
        for _, message in messages(check, world)
        if faults(message)
    ]
    assert wrong == []


@pytest.mark.parametrize("number", [0, 1, 2])
@pytest.mark.parametrize(("is_open", "back"), [(True, False), (True, True), (False, False)])
def test_every_alert_about_a_curve_has_the_right_number_and_state(
    number: int, is_open: bool, back: bool
) -> None:
    metrics, names = metrics_of(number, is_open, back), set()
    for check in discover.checks(Gate.HEALTH):
        if Metrics not in check.needs or check.limits is None:
            continue
        evidence = {**healthy(Gate.HEALTH), Metrics: metrics}
        for outcome, message in messages(check, evidence, all_limits(check)):
            assert faults(message) == [], message
            if outcome is Outcome.FAIL and "m-" in message:
                names.add(check.name)
                ended_message = as_ended(an_alert(message)).message
                assert (
                    not re.search(r"still (is|going)|(is) not finite", ended_message)
                    and faults(ended_message) == []
                ), ended_message
                over = as_over(message)
                assert "still" not in over and "so far" not in over and faults(over) == [], over
                goes_on = "still in progress" in message or "still is" in message
                assert goes_on <= is_open and not (
                    goes_on and back and check.name != "not-finite"
                ), (
                    check.name,
                    message,
                )
    assert len(names) >= 10, names


def failures(metrics: Metrics) -> set[tuple[str, str]]:
    return {
        (check.name, message)
        for check in discover.checks(Gate.HEALTH)
        if Metrics in check.needs and check.limits is not None
        for outcome, message in messages(
            check, {**healthy(Gate.HEALTH), Metrics: metrics}, all_limits(check)
        )
        if outcome is Outcome.FAIL
    }


def test_an_alert_that_ended_reads_as_none_that_lasts() -> None:
    calm = failures(some_metrics(step=212))
    under_way, over = (failures(metrics_of(12, is_open, False)) - calm for is_open in (True, False))

    assert {name for name, _ in under_way} == {name for name, _ in over}
    assert len({name for name, _ in over}) >= 20 and not under_way & over


def test_a_number_before_a_noun_is_written_by_count() -> None:
    wrong = []
    for path in PACKAGE.rglob("*.py"):
        if path.relative_to(PACKAGE).as_posix().startswith(ON_ITS_OWN):
            continue
        source = path.read_text(encoding="utf-8")
        # to parse the whole package takes a second
        for node in ast.walk(ast.parse(source)) if MAYBE_UNCOUNTED.search(source) else ():
            if isinstance(node, ast.JoinedStr):
                wrong += [f"{path.name}:{node.lineno}: {text}" for text in _uncounted_nouns(node)]
    assert wrong == []


def _uncounted_nouns(node: ast.JoinedStr) -> Iterator[str]:
    for value, text in pairwise(node.values):
        if not (isinstance(value, ast.FormattedValue) and isinstance(text, ast.Constant)):
            continue
        if (
            UNCOUNTED_NOUN.match(str(text.value))
            and "count(" not in ast.unparse(value.value)
            and not _CONSTANT_OR_WORDS.search(ast.unparse(value.value))
            and value.format_spec is None
        ):
            yield f"{ast.unparse(value)}{text.value}"
