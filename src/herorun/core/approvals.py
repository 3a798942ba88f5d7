"""Whether the person that a waiver names approved it, by the DRI, the contract's approvers and git.
Pure.

A name in a file is what somebody wrote there: it is *recorded*. The author or the signature of the
commit that added it says more: then it is *committed*.
"""

import re
from collections.abc import Iterable, Iterator

from herorun.core.contract import Contract
from herorun.core.evidence import Approvals, CommitAuthor
from herorun.core.finding import Verdict, Waiver, failed, not_applicable, passed, unknown
from herorun.core.lazy_regex import lazy_regex
from herorun.core.waivers import name_of

_MAIL = lazy_regex(r"[^\s<>@]+@[^\s<>@]+")
_NOREPLY = lazy_regex(r"(?:\d+\+)?([^@]+)@users\.noreply\.github\.com")


def requires_committed_approval(contract: Contract) -> bool:
    """Whether a recorded name is not enough. Of a hero run it never is."""
    return contract.is_hero or contract.policy.approvals == "committed"


def approval_verdicts(
    contract: Contract, waivers: Iterable[Waiver], approvals: Approvals
) -> Iterator[Verdict]:
    """One verdict for each waiver."""
    approvers = [name for name in (contract.dri, *contract.policy.approvers) if name]
    for number, waiver in enumerate(waivers):
        yield _verdict(
            waiver, approvers, requires_committed_approval(contract), approvals.added[number]
        )


def _verdict(
    waiver: Waiver, approvers: list[str], strict: bool, commit_author: CommitAuthor | str
) -> Verdict:
    about, who = name_of(waiver), waiver.approved_by
    person = next(
        (each for each in approvers if _shares_identity(names_in(each), names_in(who))), None
    )
    if approvers and person is None:
        message = (
            f"the waiver of {about} names {who} as its approver, who is neither the DRI nor in "
            "[policy] approvers"
        )
        return failed(message, subject=about)
    if not strict and person is None:
        message = f"the contract names no DRI or approver to compare with {who} of the waiver"
        return not_applicable(f"{message} of {about}", subject=about)
    if not strict:
        message = (
            f"the waiver of {about} names {who}, whom the contract lists; [policy] approvals = "
            f'"recorded": anyone may commit it, and {who} need not sign it'
        )
        return passed(message, subject=about)
    if isinstance(commit_author, str):
        return unknown(
            f"it is unknown who approved the waiver of {about}: {commit_author}", subject=about
        )
    return _held_against(about, who, names_in(person or "") | names_in(who), commit_author)


def _held_against(
    about: str, who: str, names: frozenset[str], commit_author: CommitAuthor
) -> Verdict:
    where = f"commit {commit_author.commit[:9]}"
    if commit_author.signature == "bad":
        return failed(
            f"the waiver of {about} was added by {where}, whose signature is not valid",
            subject=about,
        )
    signer = names_in(commit_author.signer) if commit_author.signature == "good" else frozenset()
    author = names_in(f"{commit_author.name} <{commit_author.mail}>") | {commit_author.name.lower()}
    if _shares_identity(names, signer or author):
        how = "signed" if signer else "authored"
        return passed(
            f"the waiver of {about} was added by {where}, {how} by its approver {who}",
            subject=about,
        )
    other = commit_author.signer if signer else f"{commit_author.name} <{commit_author.mail}>"
    message = (
        f"the waiver of {about} says that {who} approved it, but {where}, which added it, is "
        f"{other}'s"
    )
    return failed(message, subject=about)


def names_in(person: str) -> frozenset[str]:
    """What a person is called by in a contract or a commit: handle, name, addresses; all in small
    letters.

    >>> sorted(names_in("@ana <12+ana@users.noreply.github.com>"))
    ['12+ana@users.noreply.github.com', 'ana']
    """
    text = person.strip().lower()
    mails = _MAIL.findall(text)
    handles = [match[1] for mail in mails if (match := _NOREPLY.fullmatch(mail))]
    login = re.sub(r"<[^>]*>", "", text).strip().lstrip("@").strip()
    return frozenset(filter(None, (*mails, *handles, login if "@" not in login else "")))


def _shares_identity(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one & other)
