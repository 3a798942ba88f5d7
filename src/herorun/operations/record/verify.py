"""Verifying a record: its history is read from git, judged by `core.record.verify`, and held
against its anchors.
"""

import contextlib
import os
from dataclasses import replace
from pathlib import Path

from herorun.core.errors import CouldNotLook, HerorunError, WrongUse, describe_error
from herorun.core.evidence import LaunchProof
from herorun.core.finding import count
from herorun.core.lazy_dataclass import dataclass
from herorun.core.record.verify import judge_history
from herorun.core.redaction.scrub import scrub
from herorun.operations.record.anchors import ExternalAnchors, compare_anchors
from herorun.operations.record.history import read_history, remote_faults
from herorun.operations.record.repair import repair_note
from herorun.operations.record.verify_anchors import check_anchors
from herorun.record import Record
from herorun.runs import open_run, watched_run
from herorun.schemas.evaluations import LogbookVerify
from herorun.system.git import Repository, find_repository
from herorun.system.git.plumbing import delete_refs, fetch

NOT_ANCHORED = "not anchored"
NOT_ANCHORED_NOTE = (
    f"the record is {NOT_ANCHORED} yet: until a seal, an issue comment or a job's receipt names "
    "one of its commits, a rewrite of the whole branch cannot be detected"
)


@dataclass(frozen=True, kw_only=True)
class RecordVerification:
    """What was found. `notes` are what could not be proven either way."""

    entries: int
    commits: int
    faults: tuple[str, ...]
    notes: tuple[str, ...]
    remote_faults: tuple[str, ...] = ()  # those of `faults` that are of the branch on the remote
    restore: str = ""  # the command that gives the remote its branch again, if it only lost commits
    unseen: bool = False
    newer_lines: int = 0  # journal lines that only a newer herorun can check
    seal: str = ""  # the newest seal's tag, by the record
    remote_tip: str | None = None  # the record's commit there; None also where it did not answer

    @property
    def verdict(self) -> str:
        if self.faults:
            return "blocked"
        return "unknown" if self.unseen else "clear"

    def document(self) -> LogbookVerify:
        return LogbookVerify.of(self)


def open_record(name: str, start: Path, follow: bool = False) -> Record:
    """The record of RUN, also in a fresh clone and where the contract file is gone. `follow` as for
    `Record.fetch`.
    """
    try:
        record = open_run(name, start).record
    except HerorunError:
        record = _without_contract(name, start, follow)
        record.fetch(follow=follow)
        if record.tip is None:
            raise
    record.fetch(follow=follow)
    if record.tip is None:
        raise WrongUse(f"{record.slug} has no record: `herorun init {record.slug}` creates one.")
    return record


def _without_contract(name: str, start: Path, follow: bool) -> Record:
    """By the admitted contract; before a launch, by where a record is when the contract says
    nothing.
    """
    with contextlib.suppress(HerorunError):
        return watched_run(name, start, follow)[0].record
    repository, slug = find_repository(start), Path(name).stem
    remote = "origin" if "origin" in repository.remotes() else None
    return Record.discover(repository, slug, remote=remote)


def verify_run(name: str, start: Path) -> RecordVerification:
    """The record of RUN, held also against what its issue and its output root name. What the remote
    has beyond it is judged, and not taken over.
    """
    record = open_record(name, start)
    outcome = verify_record(record, compare_anchors(name, start))
    faults, doubts, notes = _unproven(name, start, record, outcome.remote_tip)
    if outcome.faults and record.tip:
        notes += filter(None, [repair_note(record, record.tip, outcome.remote_tip)])
    return replace(
        outcome,
        faults=(*outcome.faults, *faults),
        notes=_without_damage(record, (*outcome.notes, *doubts, *notes)),
        unseen=outcome.unseen or bool(doubts),
        seal=_seal_of(record),
    )


def _without_damage(record: Record, notes: tuple[str, ...]) -> tuple[str, ...]:
    """All that needs a damaged record fails with the same message, which the faults repeat."""
    try:
        record.memory()
    except CouldNotLook:  # which is no damage, and the notes have the reason
        return notes
    except HerorunError as error:
        return tuple(note.replace(str(error), "the record is damaged") for note in notes)
    return notes


def _seal_of(record: Record) -> str:
    with contextlib.suppress(HerorunError):  # the faults of a damaged journal are named already
        if seal := record.memory().sealed:
            return seal.tag
    return ""


def _unproven(
    name: str, start: Path, record: Record, remote_tip: str | None
) -> tuple[list[str], list[str], list[str]]:
    """Launches and seals without a proof, as faults; why it is unknown; and facts about valid
    launches that only the record has.
    """
    try:
        run, _ = watched_run(name, start, follow=False)
    except (HerorunError, OSError) as error:
        return *_report_unreadable(
            record, f"the launches were not proven: {describe_error(error)}"
        ), []
    proof = run.unproven if isinstance(run.unproven, LaunchProof) else LaunchProof()
    faults, unseen_parts = remote_faults(name, start, record, remote_tip)
    return (
        list(dict.fromkeys([*proof.doubts, *faults])),
        [run.closed] if run.closed and not proof.doubts else unseen_parts,
        [scrub(message) for message in proof.unstated],
    )


def seal_doubts(record: Record) -> list[str]:
    """The seals that the journal records and no tag states."""
    return [
        f"the seal {seal.tag} does not count: {message}"
        for seal, message in record.unproven_seals()
    ]


def _report_unreadable(record: Record, why: str) -> tuple[list[str], list[str]]:
    """A journal that is damaged cannot be read at all: `judge_history` names where, and the
    launches stay unproven.
    """
    try:
        return seal_doubts(record), [why] if record.memory().launchings else []
    except HerorunError:
        return [], [why]


def verify_record(record: Record, outside: ExternalAnchors | None = None) -> RecordVerification:
    """Walk every commit of the record, here and on its remote, and demand that each anchor lies on
    its line.

    Without `outside` only what is in this clone and on the remote is an anchor.
    """
    private = f"refs/herorun/probe/{os.getpid()}/record"
    try:
        return _verify_branch(record, private, outside)
    finally:
        if record.repository.resolve(private):
            delete_refs(record.repository, private)


def _verify_branch(
    record: Record, private: str, outside: ExternalAnchors | None
) -> RecordVerification:
    tip = record.tip
    assert tip is not None
    pushed_tip = record.pushed_tip  # before the remote is asked: a babysitter may push meanwhile
    try:
        remote_tip, remote_problem = _on_remote(record, private), ""
    except HerorunError as error:
        remote_tip, remote_problem = None, f"could not query the remote: {error}"
    lines, faults, notes = [tip], list[str](), [remote_problem]
    if remote_tip:
        lines, faults, notes = _compare_tips(record, tip, remote_tip, pushed_tip)
    elif not remote_problem:
        faults, notes = _check_other_refs(record)
    missing_start = _cut_off(record.repository, lines)
    anchor_faults, unfound, has_anchor = check_anchors(
        record, lines, outside, is_complete=bool(remote_tip) and not missing_start
    )
    if not (has_anchor or outside is None or any(note.startswith(NOT_ANCHORED) for note in notes)):
        notes.append(NOT_ANCHORED_NOTE)
    judgements = [judge_history(read_history(record, line)) for line in lines]
    history_faults = dict.fromkeys(fault for each in judgements for fault in each.faults)
    first = judgements[0]
    if first.newer:
        unfound.append(
            f"{count(first.newer, 'journal line')} of a newer herorun, which this one cannot check"
        )
    unfound += missing_start
    outside_notes = outside.notes if outside else ()
    all_notes = tuple(filter(None, (*notes, *unfound, *outside_notes, first.dated)))
    return RecordVerification(
        entries=first.entries,
        commits=first.commits,
        faults=(*history_faults, *faults, *anchor_faults),
        notes=all_notes,
        remote_faults=tuple(faults),
        restore=restore_command(record) if _has_only_lost(record, faults, remote_tip) else "",
        unseen=bool(remote_problem or unfound),
        newer_lines=first.newer,
        remote_tip=remote_tip,
    )


def _has_only_lost(record: Record, faults: list[str], remote_tip: str | None) -> bool:
    """Whether the branch on the remote is gone or was reset: a push of ours replaces nothing."""
    if not faults:
        return False
    return not remote_tip or record.repository.is_ancestor(remote_tip, str(record.tip))


def restore_command(record: Record) -> str:
    """For a person, once the cause is known."""
    return f"git push {record.remote} {record.ref}:refs/heads/{record.branch}"


def _on_remote(record: Record, private: str) -> str | None:
    """The record's commit on the remote as it is now, fetched into a private ref where it is not
    ours; None where there is none.
    """
    if record.remote is None:
        return None
    target = f"refs/heads/{record.branch}"
    theirs = record.repository.remote_tips(record.remote, target).get(target)
    if theirs in (None, record.tip):
        return theirs
    fetch(record.repository, record.remote, {target: private})
    return record.repository.resolve(private)


def _compare_tips(
    record: Record, tip: str, remote_tip: str, pushed_tip: str | None
) -> tuple[list[str], list[str], list[str]]:
    """The lines of commits to walk, the longest first; faults and notes on how the remote's stands
    to ours, which was pushed up to `pushed_tip`.
    """
    repository, where = record.repository, f"the branch on {record.remote}"
    if pushed_tip not in (None, remote_tip) and repository.is_ancestor(remote_tip, pushed_tip):
        message = f"{where} was reset to {remote_tip[:9]}: it lacks commits that were pushed"
        return [tip], [f"anchor: {message}"], []
    if remote_tip == tip or repository.is_ancestor(remote_tip, tip):
        return [tip], [], []
    if repository.is_ancestor(tip, remote_tip):
        return (
            [remote_tip],
            [],
            [f"{where} is ahead of this clone: it was verified up to {remote_tip[:9]}"],
        )
    if record.pushed_tip and repository.is_ancestor(record.pushed_tip, remote_tip):
        return (
            [remote_tip, tip],
            [],
            [f"{where} and this clone both have new commits: the next push puts ours on top"],
        )
    return (
        [tip],
        [
            (
                f"anchor: {where} ({remote_tip[:9]}) is not part of this record: it was rewritten "
                "or forked"
            )
        ],
        [],
    )


def _check_other_refs(record: Record) -> tuple[list[str], list[str]]:
    """Faults and notes where no remote has the record."""
    if record.remote is None:
        return [], [f"{NOT_ANCHORED}: there is no remote"]
    if record.pushed_tip:
        return [f"anchor: {record.branch} is gone from {record.remote}, where it was pushed"], []
    return [], [f"{NOT_ANCHORED}: {record.branch} is not on {record.remote}"]


def _cut_off(repository: Repository, lines: list[str]) -> list[str]:
    """Where a shallow clone lacks the beginning: what was done before cannot be judged."""
    try:
        shallow = set((repository.common / "shallow").read_text(encoding="ascii").split())
    except OSError:
        return []
    roots = repository.git("rev-list", "--max-parents=0", *lines).text.split()
    return [
        (
            f"this clone is shallow and lacks what was before {root[:9]}: `git fetch "
            "--unshallow`, then verify again"
        )
        for root in roots
        if root in shallow
    ]
