"""The effect of a contract's waivers at a gate, and the text of one for a person to sign."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime

from herorun.core.check_names import RENAMED, current_name
from herorun.core.evidence import WaiverUse
from herorun.core.finding import Finding, Outcome, Verdict, Waiver, failed, passed


def waiver_use(
    waivers: Sequence[Waiver],
    findings: Sequence[Finding],
    gate_checks: Collection[str],
    other_checks: Collection[str],
    at: datetime,
) -> WaiverUse:
    """Which waivers are over, and which of this gate's checks had nothing to waive.

    A waiver of one of `other_checks` may be used at another gate; one of no check is never used.
    """
    live = [waiver for waiver in waivers if at < waiver.expires]
    open_ones = [f for f in findings if f.verdict.outcome in (Outcome.FAIL, Outcome.UNKNOWN)]
    check_names = {finding.check for finding in findings}
    unused_ones = [
        waiver
        for waiver in live
        if current_name(waiver.check) not in other_checks
        # who asks about waivers has yet to answer
        and (
            current_name(waiver.check) in check_names
            or current_name(waiver.check) not in gate_checks
        )
        and not any(waiver.covers(finding.check, finding.verdict, at) for finding in open_ones)
    ]
    expired_ones = [waiver for waiver in waivers if at >= waiver.expires]
    all_names = {*gate_checks, *other_checks}
    strange = [each.check for each in waivers if current_name(each.check) not in all_names]
    similar_names = {name: _did_you_mean(name, all_names) for name in strange}
    renamed_ones = tuple(waiver for waiver in live if waiver.check in RENAMED)
    return WaiverUse(tuple(unused_ones), tuple(expired_ones), similar_names, renamed_ones)


def _did_you_mean(name: str, names: Collection[str]) -> str:
    from herorun.core.suggestions import did_you_mean  # seldom needed

    return did_you_mean(name, sorted(names))


def waiver_verdicts(use: WaiverUse) -> list[Verdict]:
    """One verdict for each waiver that matches nothing."""
    problems = [
        *((waiver, f"expired on {_day(waiver.expires)}") for waiver in use.expired),
        *((waiver, _describe_unused_waiver(waiver, use)) for waiver in use.unused),
        *((waiver, _describe_renamed_check(waiver)) for waiver in use.renamed),
    ]
    if not problems:
        return [passed("no waiver of this gate is unused or expired")]
    return [
        failed(
            f"the waiver of {name_of(waiver)} {why}",
            f"reason: {waiver.reason}",
            subject=name_of(waiver),
        )
        for waiver, why in problems
    ]


def _describe_renamed_check(waiver: Waiver) -> str:
    return f"still counts, and its check is called {RENAMED[waiver.check]} now: write that"


def _describe_unused_waiver(waiver: Waiver, use: WaiverUse) -> str:
    if waiver.check in use.strange:
        return f"matches nothing: there is no such check.{use.strange[waiver.check]}".rstrip(".")
    return "matches nothing: no such finding is open"


def name_of(waiver: Waiver) -> str:
    return waiver.check if waiver.subject is None else f"{waiver.check} [{waiver.subject}]"


def _day(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def waiver_toml(
    check: str, subject: str | None, reason: str, expires: datetime, covers_unknown: bool
) -> str:
    """A `[[waiver]]` for a person to sign: the empty `approved_by` is refused until a person
    does.
    """
    from herorun.core.toml_values import toml_value  # only where one is proposed

    lines = [
        "[[waiver]]",
        f"check = {toml_value(check)}",
        *([f"subject = {toml_value(subject)}"] if subject is not None else []),
        f"reason = {toml_value(reason)}",
        'approved_by = ""',
        f"expires = {expires.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
        *(["covers_unknown = true"] if covers_unknown else []),
    ]
    return "\n".join(lines) + "\n"
