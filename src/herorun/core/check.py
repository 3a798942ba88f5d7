"""A check is one pure question, asked at one gate."""

import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from enum import StrEnum
from functools import cached_property, lru_cache
from inspect import getdoc, getmodule
from typing import Any

from herorun.core.evidence import Evidence, Nothing, Unavailable
from herorun.core.finding import NOT_READ, Finding, Verdict, not_applicable, unknown
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex
from herorun.core.notify.escalation import EscalationReason

UNREAD_EVIDENCE = Unavailable("this evidence was not read")
_RUN = lazy_regex(r"\bRUN\b")  # in a check's advice: the run that is asked about
_COMMAND = lazy_regex(r" \(`[^`)]*\bRUN\b[^)]*\)")  # in it: a command that takes a run


class Gate(StrEnum):
    LAUNCH = "launch"  # may it start?
    CHECKIN = "checkin"  # is what runs what was admitted?
    HEALTH = "health"  # may it continue?
    SEAL = "seal"  # is it done?


class Response(StrEnum):
    """What an open finding calls for."""

    INFO = "info"
    WARN = "warn"
    BLOCK = "block"
    REFUSE = "refuse"
    RELAUNCH = "relaunch"
    ESCALATE = "escalate"
    STOP = "stop"


class Severity(StrEnum):
    INFO = "info"
    WARN = "warn"
    CRITICAL = "critical"


class Topic(StrEnum):
    """What a health check is about; whole topics are muted (see `core.babysit.inhibition`)."""

    JOB = "job"
    MONITOR = "monitor"
    PROGRESS = "progress"
    CHECKPOINTS = "checkpoints"
    METRIC = "metric"  # spikes, drifts: anything about the shape of a curve
    # how an instance continues what came before; what follows from it never mutes it
    LINEAGE = "lineage"
    NUMERIC = "numeric"  # not-finite


class AtRelaunch(StrEnum):
    """How a launch check is asked when the babysitter relaunches under a standing contract."""

    SKIP = "skip"  # it is about the user's checkout, which a relaunch never reads
    WARN = "warn"  # FAIL blocks, UNKNOWN is reported
    BLOCK = "block"  # FAIL and UNKNOWN both block


class Mode(StrEnum):
    """`[policy] mode`: what the open findings of the launch gate do."""

    ENFORCE = "enforce"  # they stop the launch
    WARN = "warn"  # they are printed and recorded, and do not stop it
    AUDIT = "audit"  # they are only written down


_EVERYWHERE = frozenset({Response.WARN, Response.INFO})
ALLOWED_RESPONSES: Mapping[Gate, frozenset[Response]] = {
    Gate.LAUNCH: _EVERYWHERE | {Response.BLOCK},
    Gate.CHECKIN: _EVERYWHERE | {Response.REFUSE},
    Gate.HEALTH: _EVERYWHERE | {Response.RELAUNCH, Response.ESCALATE, Response.STOP},
    Gate.SEAL: _EVERYWHERE | {Response.BLOCK},
}
SEVERITY: Mapping[Response, Severity] = {
    Response.INFO: Severity.INFO,
    Response.WARN: Severity.WARN,
}


@dataclass(frozen=True)
class Hold:
    """How long a finding must stay open before it fires: the largest of the given measures."""

    duration: timedelta = timedelta()
    ticks: int = 1  # consecutive observations that fail
    steps: int = 0  # training steps


@dataclass(frozen=True, kw_only=True)
class Check:
    """One question.

    `needs` are the evidence types that it asks for, read from the function's annotations; `accepts`
    says for each whether the function itself deals with `Nothing` or `Unavailable`. `limits` are
    its thresholds.
    """

    name: str
    gate: Gate
    response: Response
    hold: Hold
    topic: Topic
    vetoes_relaunch: bool
    at_relaunch: AtRelaunch
    needs: tuple[Any, ...]
    accepts: tuple[frozenset[Any], ...]
    limits: type[Any] | None
    ask: Callable[..., Verdict | Sequence[Verdict]]
    always: bool = False  # in every `[policy] mode`: continuing would do harm that cannot be undone
    asks: EscalationReason | None = None  # what of a person, where it escalates
    # checks that tell the same fact of the same subject, and more: meanwhile it sends no message
    inhibited_by: tuple[str, ...] = ()

    @property
    def about_numbers(self) -> bool:
        """Whether it is about what is trained (manage-hero-run: numerical instability)."""
        return self.vetoes_relaunch and self.topic in (Topic.METRIC, Topic.LINEAGE, Topic.NUMERIC)

    def __call__(self, *evidence: Any) -> Verdict | Sequence[Verdict]:
        return self.ask(*evidence)

    @property
    def severity(self) -> Severity:
        return SEVERITY.get(self.response, Severity.CRITICAL)

    @property
    def reason(self) -> EscalationReason:
        """Why a person decides: what was not seen well is unverified, all else is judgement."""
        return self.asks or (
            EscalationReason.UNVERIFIED
            if self.topic is Topic.MONITOR
            else EscalationReason.JUDGEMENT
        )

    @cached_property
    def default_limits(self) -> Any:
        """The thresholds of a contract that sets none; None for a check without any."""
        return self.limits() if self.limits else None

    @property
    def declared_limits(self) -> Any:
        """The same in plain form, which needs no import of the check's file."""
        from herorun.core.canonical_json import plain

        return plain(self.default_limits)

    @cached_property
    def doc(self) -> str:
        """The page on top of its file; a check that is made on the fly brings its own. Each
        paragraph is one line.
        """
        from herorun.core.docstrings import unwrap

        own = getdoc(self.ask) or ""
        return unwrap(own if "\nWhy: " in own else getdoc(getmodule(self.ask)) or "")

    @property
    def problem(self) -> str:
        return self.doc.partition("\n")[0]

    @cached_property
    def why(self) -> str:
        return self._paragraph("Why")

    @cached_property
    def fix(self) -> str:
        return self._paragraph("Fix")

    def next_action(self, slug: str, fix: str = "") -> str:
        """The fix, or the given one, with the run's name in its commands; without a name, without
        such commands.
        """
        fix = fix or self.fix
        return _RUN.sub(slug, fix) if slug else _COMMAND.sub("", fix)

    def _paragraph(self, title: str) -> str:
        head = f"{title}: "
        lines = (line for line in self.doc.splitlines() if line.startswith(head))
        return next(lines, "").removeprefix(head)


def check(
    gate: Gate,
    response: Response,
    *,
    hold: Hold | None = None,
    topic: Topic = Topic.JOB,
    vetoes_relaunch: bool = False,
    at_relaunch: AtRelaunch = AtRelaunch.SKIP,
    always: bool = False,
    asks: EscalationReason | None = None,
    inhibited_by: tuple[str, ...] = (),
) -> Callable[[Callable[..., Verdict | Sequence[Verdict]]], Check]:
    """Make a function a check; its annotations say which evidence it needs.

    A parameter whose type is a class named `Limits` receives the check's thresholds, as the
    contract sets them under `[babysit.thresholds.<check>]`.
    """
    if response not in ALLOWED_RESPONSES[gate]:
        raise ValueError(f"{response} makes no sense at the {gate} gate")
    if always and response is not Response.BLOCK:
        raise ValueError(f"{response} never blocks: with `always` it makes no sense")

    def decorate(ask: Callable[..., Verdict | Sequence[Verdict]]) -> Check:
        hints = _hints(ask)
        hints.pop("return", None)
        limits = next((kind for kind in hints.values() if _is_limits(kind)), None)
        needs = [_split(kind) for kind in hints.values() if not _is_limits(kind)]
        return Check(
            name=ask.__name__.replace("_", "-"),
            gate=gate,
            response=response,
            hold=hold or Hold(),
            topic=topic,
            vetoes_relaunch=vetoes_relaunch,
            at_relaunch=at_relaunch,
            needs=tuple(kind for kind, _ in needs),
            accepts=tuple(accepts for _, accepts in needs),
            limits=limits,
            ask=ask,
            always=always,
            asks=asks,
            inhibited_by=inhibited_by,
        )

    return decorate


def evaluate(
    checks: Iterable[Check], evidence: Evidence, limits: Mapping[str, Any] | None = None
) -> list[Finding]:
    """Ask every check. `limits` holds thresholds by check name; the defaults stand for the rest."""
    return [
        Finding(check.name, verdict)
        for check in checks
        for verdict in _answers(check, evidence, limits or {})
    ]


def _answers(check: Check, evidence: Evidence, limits: Mapping[str, Any]) -> Sequence[Verdict]:
    values = [evidence.get(need, UNREAD_EVIDENCE) for need in check.needs]
    if not _ABSENCES.isdisjoint(map(type, values)) and (lacking := _lacking(check, values)):
        if gaps := [values[at] for at in lacking if isinstance(values[at], Unavailable)]:
            return [_blind(gaps)]
        return [_not_there(values[lacking[0]].why, check.needs[lacking[0]])]
    try:
        if check.limits is not None:
            values.append(limits.get(check.name) or check.default_limits)
        answer = check.ask(*values)
    except Exception as error:  # a broken check must not read as a healthy run
        return [unknown(f"the check itself failed: {error!r}")]
    return [answer] if isinstance(answer, Verdict) else list(answer)


def _lacking(check: Check, values: Sequence[Any]) -> list[int]:
    """The places of what is absent, where the check does not deal with that itself."""
    return [
        at
        for at, value in enumerate(values)
        if type(value) in _ABSENCES and type(value) not in check.accepts[at]
    ]


_ABSENCES = frozenset({Nothing, Unavailable})  # neither has subclasses


@lru_cache(maxsize=1024)
def _not_there(why: str, need: Any) -> Verdict:
    """The same for each run of a process."""
    return not_applicable(why or _none_yet(need))


def _none_yet(need: Any) -> str:
    from herorun.core.evidence_names import evidence_name

    return f"no {evidence_name(name_of(need))} yet"


def _blind(gaps: Sequence[Unavailable]) -> Verdict:
    reasons = [gap.why for gap in gaps]
    causes = tuple(dict.fromkeys(gap.root or gap.why for gap in gaps))
    return replace(unknown(NOT_READ + "; ".join(sorted(set(reasons))), *reasons), causes=causes)


def name_of(kind: Any) -> str:
    return str(getattr(kind, "__name__", kind))


def _hints(ask: Callable[..., Any]) -> dict[str, Any]:
    """What `typing.get_type_hints` says, which is slow where no annotation is a text."""
    hints = dict(ask.__annotations__)
    if any(isinstance(kind, str) for kind in hints.values()):
        return typing.get_type_hints(ask)
    return hints


def _is_limits(kind: Any) -> bool:
    """Looked for by name: to read the fields would make them, and a start needs few of them."""
    return name_of(kind) == "Limits" and "__dataclass_fields__" in vars(kind)


def _split(kind: Any) -> tuple[Any, frozenset[Any]]:
    """`Job | Nothing` -> Job, {Nothing}."""
    if typing.get_origin(kind) not in (typing.Union, types.UnionType):
        return kind, frozenset()
    parts = typing.get_args(kind)
    special = frozenset(part for part in parts if part in (Nothing, Unavailable))
    (main,) = [part for part in parts if part not in special]
    return main, special
