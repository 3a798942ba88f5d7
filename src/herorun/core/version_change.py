"""Compares the decisions of the last day under the new and the previous herorun version."""

from collections.abc import Sequence
from datetime import datetime

from herorun.core.event import Replayed
from herorun.core.finding import count
from herorun.core.replay import Replay, ReplayResult
from herorun.core.requirements import version_fits
from herorun.core.version_gate import REPLAY_WINDOW, VersionGate, news_key, question_key

MAX_DIFFERENCES = 10  # differences that are listed; the rest is counted


def summarize_replays(
    judge: VersionGate, version: str, pin: str, at: datetime, again: Sequence[Replay]
) -> Replayed:
    """What judging the last day again came to."""
    unknown = [each for each in again if each.result is ReplayResult.UNKNOWN]
    differ = [each for each in again if each.result is ReplayResult.DIFFERS]
    why = _describe_difference(judge, version, pin, again, unknown)
    changes = tuple(
        f"{each.at:%Y-%m-%d %H:%M} UTC {message}"
        for each in differ
        for message in (*each.interventions, *each.differences)
    )
    question = question_key(version, judge.version, pin)
    news = news_key(version, judge.version, pin) if differ else ""
    return Replayed(
        at=at,
        version=version,
        before=judge.version,
        pin=pin,
        since=at - REPLAY_WINDOW,
        ticks=len(again),
        differ=len(differ),
        unknown=len(unknown),
        changed=changes[:MAX_DIFFERENCES],
        why=why,
        key=question if why else news,
    )


def _describe_difference(
    judge: VersionGate, version: str, pin: str, again: Sequence[Replay], unknown: Sequence[Replay]
) -> str:
    """Why a person is asked; empty where it would have acted alike at every tick."""
    other = [each for each in again if each.interventions]
    before = judge.replayed
    reasons = []
    if not again:
        reasons.append("no tick of the last 24 hours is recorded")
    if unknown:
        reasons.append(
            f"{len(unknown)} of {count(len(again), 'tick')} cannot be replayed: {unknown[0].why}"
        )
    if other:
        reasons.append(
            f"at {len(other)} of {count(len(again), 'tick')} this version would have "
            "acted differently"
        )
    if before and not judge.free and version not in (before.version, before.before):
        reasons.append(f"nobody has approved herorun {before.version}")
    if not reasons:
        return ""
    whose = (
        f"herorun {judge.version} made the earlier ticks"
        if judge.version
        else "this is the first tick"
    )
    fits = "" if version_fits(pin, version) else f", and the contract pins herorun {pin}"
    return f"{whose}{fits}; {'; '.join(reasons)}."
