"""Which commit added each waiver, and whose commit it is."""

from herorun.core.contract import Contract, ContractFile, parse_contract
from herorun.core.errors import HerorunError
from herorun.core.evidence import Approvals, CommitAuthor, Nothing, Waivers
from herorun.core.finding import Waiver
from herorun.system.git import Repository

MAX_COMMITS = 200  # of the contract's file, the newest first
_SIGNATURES = {
    "G": "good",
    "U": "good",
    "B": "bad",
    "R": "bad",
}  # of `git log --format=%G?`; other letters prove nothing
_FORM = "%H%x00%an%x00%ae%x00%G?%x00%GS"


def read_approvals(
    repository: Repository, contract: Contract, file: ContractFile, waivers: Waivers
) -> Approvals | Nothing:
    """Walks the contract's history from HEAD back to the commits that added each waiver."""
    if not waivers.waivers:
        return Nothing("the contract has no waiver")
    options = ("--topo-order", f"--max-count={MAX_COMMITS}", f"--format={_FORM}")
    rows = repository.git("log", *options, "HEAD", "--", file.path).text.splitlines()
    unproven: dict[Waiver, CommitAuthor | str] = dict.fromkeys(
        waivers.waivers, "no commit adds it as it is"
    )
    authors: dict[Waiver, CommitAuthor | str] = {}
    for row in rows:
        author = _author(row)
        stated_waivers = _waivers_at(repository, author.commit, file.path)
        authors |= {
            each: commit_author
            for each, commit_author in unproven.items()
            if each not in stated_waivers
        }
        unproven = {each: author for each in unproven if each in stated_waivers}
        if not unproven:
            break
    cut = _explain_incomplete_history(repository, len(rows))
    return Approvals(tuple(authors.get(each) or cut or unproven[each] for each in waivers.waivers))


def _author(row: str) -> CommitAuthor:
    commit, name, mail, signature, signer = row.split("\0")
    return CommitAuthor(commit, name, mail, _SIGNATURES.get(signature, ""), signer)


def _waivers_at(repository: Repository, commit: str, path: str) -> frozenset[Waiver]:
    """The waivers in that commit; none if this version of herorun cannot read the contract."""
    data = repository.read(commit, [path])[path]
    try:
        contract = parse_contract((data or b"").decode("utf-8", "replace"), path)
    except HerorunError:
        return frozenset()
    return frozenset(waiver.as_signed_waiver() for waiver in contract.waiver)


def _explain_incomplete_history(repository: Repository, rows: int) -> str:
    """Why the oldest commit in the log may not be the one that added a waiver; "" if the history is
    complete.
    """
    if (repository.common / "shallow").exists():
        return "this clone is shallow: `git fetch --unshallow` brings the commit that added it"
    return f"the contract has more than {MAX_COMMITS} commits" if rows >= MAX_COMMITS else ""
