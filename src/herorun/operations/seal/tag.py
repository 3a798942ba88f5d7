"""A seal's tag: its name, its creation (signed if git is set up to sign), and its create-only
push.
"""

from herorun.core.errors import Blocked, CouldNotLook, describe_error
from herorun.core.journal import Memory
from herorun.runs import Run
from herorun.system.git.plumbing import push
from herorun.system.git.signing import Signing, signing_of
from herorun.system.git.tags import annotated_tag


def tag_name(run: Run, memory: Memory) -> str:
    """The name of the next seal: milestones are counted, and the seal that ends the run comes after
    them.
    """
    return f"herorun/{run.slug}/seal-{len(memory.milestones) + 1}"


def make_tag(run: Run, tag: str, commit: str, message: str) -> tuple[str, list[str]]:
    """Create the tag, signed if git is set up to sign. The second result warns if a key is set and
    cannot be used.
    """
    signing = signing_of(run.repository)
    if signing is Signing.OFF:
        return annotated_tag(run.repository, tag, commit, message), []
    try:
        return annotated_tag(run.repository, tag, commit, message, sign=True), []
    except CouldNotLook as error:
        if signing is Signing.DEMANDED:
            raise CouldNotLook(
                "Nothing was tagged: git must sign tags here (tag.gpgSign or "
                f"tag.forceSignAnnotated), and could not: {error}"
            ) from None
        why = (
            "the tag is not signed: user.signingkey is set, and git could not sign with it: "
            f"{describe_error(error)}"
        )
        return annotated_tag(run.repository, tag, commit, message), [why]


def push_tag(run: Run, tag: str, oid: str) -> str:
    """Push the tag, create-only: a different tag of that name is never moved. Returns the remote
    that has it now; "" if there is no remote.
    """
    remote = run.contract.code.remote
    if remote not in run.repository.remotes():
        return ""
    remote_oid = remote_tag(run, tag)
    if remote_oid == oid:
        return remote
    if remote_oid is not None:
        raise Blocked(
            f"{remote} has another tag {tag}, which herorun never moves: find out who pushed it."
        )
    push(run.repository, remote, oid, f"refs/tags/{tag}", None)
    return remote


def remote_tag(run: Run, tag: str) -> str | None:
    """The tag's object on the remote; None if it does not exist, or without a remote."""
    remote, ref = run.contract.code.remote, f"refs/tags/{tag}"
    if remote not in run.repository.remotes():
        return None
    return run.repository.remote_tips(remote, ref).get(ref)


def local_tag(run: Run, tag: str) -> str | None:
    """The tag's object in this clone."""
    answer = run.repository.git("rev-parse", "--verify", "--quiet", f"refs/tags/{tag}", ok=(0, 1))
    return answer.text.strip() if answer.code == 0 else None
