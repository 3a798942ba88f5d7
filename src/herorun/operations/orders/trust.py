"""`herorun trust`: shows a person what a contract makes this machine run, and stores the answer in
the user's own folder.
"""

from collections.abc import Iterable
from pathlib import Path

from herorun.core.event import Launching
from herorun.core.evidence import LaunchProof
from herorun.core.journal.launch_intents import launch_id
from herorun.core.lazy_dataclass import dataclass
from herorun.core.redaction.scrub import scrub
from herorun.runs import Run, apply_proof, open_run
from herorun.runs.contract_trust import list_untrusted, must_be_the_users
from herorun.schemas.runs import Trust
from herorun.system.user_trust import ITEMS, LAUNCHES, REJECTIONS, trust, trust_file, trusts_all


@dataclass(frozen=True, kw_only=True)
class TrustQuestion:
    """What a person is asked about. `launches` are the unproven launches of the record, and seals
    without a tag.
    """

    slug: str
    repository: Path
    items: tuple[str, ...]
    launches: tuple[str, ...]
    ids: tuple[str, ...]  # of the launches, as they are stored
    forged: tuple[
        str, ...
    ]  # of them, what a rejection is about: what counts is only rejected where all counts
    seals: tuple[str, ...]  # digests of the statements that no tag states

    @property
    def nothing(self) -> bool:
        return not (self.items or self.launches)

    @property
    def can_reject(self) -> bool:
        return bool(self.forged or self.seals)

    def lines(self, with_advice: bool = True) -> list[str]:
        """The text that a person reads before the answer; `with_advice`: what to do first."""
        if self.nothing:
            everything = " (HERORUN_TRUST=all trusts every repository)" if trusts_all() else ""
            return [f"{self.slug}: nothing is left to trust{everything}"]
        runs = [
            f"{self.slug}: these options make this machine run programs or send credentials:",
            *(f"  {i}" for i in self.items),
        ]
        reject = f"Only if the entry is forged: `herorun trust {self.slug} --reject`."
        advice = [
            f"Read the entry (`herorun logbook show {self.slug}`), and ask who pushed it.",
            f"If its author forgot to push its commit, ask for that push. {reject}",
        ]
        launches = [
            f"{self.slug}: nothing proves these entries of the record:",
            *(f"  {one}" for one in self.launches),
            *(advice if with_advice else []),
        ]
        return [*(runs if self.items else []), *(launches if self.launches else [])]

    def document(self, result: str) -> Trust:
        return Trust.of(self, unproven=self.launches, result=result, file=trust_file())


def build_question(name: str, start: Path) -> TrustQuestion:
    """What must be trusted of a run's contract on disk and of its record."""
    run = open_run(name, start)
    must_be_the_users(run.contract, run.repository)
    run.record.fetch()
    apply_proof(run, run.contract)
    items = list_untrusted(run.contract, run.repository)
    bad, alone = _ids(run.to_prove), _ids(run.to_accept)
    seals = _seals(run)
    forged_lines = bad if bad or seals else alone
    return TrustQuestion(
        slug=run.slug,
        repository=run.repository.main,
        items=items,
        launches=_trust_problems(run),
        ids=(*bad, *alone),
        forged=forged_lines,
        seals=seals,
    )


def _trust_problems(run: Run) -> tuple[str, ...]:
    proof = run.unproven if isinstance(run.unproven, LaunchProof) else LaunchProof()
    return tuple(scrub(problem) for problem in (*proof.doubts, *proof.unstated)) or (
        (scrub(run.closed),) if run.closed else ()
    )


def _ids(launchings: Iterable[Launching]) -> tuple[str, ...]:
    return tuple(launch_id(launching) for launching in launchings)


def _seals(run: Run) -> tuple[str, ...]:
    return tuple(seal.statement_digest for seal, _ in run.record.unproven_seals())


def accept(question: TrustQuestion) -> None:
    """Trust the items and the launches. A seal without its tag cannot be trusted by an answer."""
    trust(question.repository, ITEMS, question.items)
    trust(question.repository, LAUNCHES, question.ids)


def reject(question: TrustQuestion) -> None:
    """Mark the unproven launches and seals as forgeries: they are ignored from now on, without
    further alerts.
    """
    trust(question.repository, REJECTIONS, (*question.forged, *question.seals))
