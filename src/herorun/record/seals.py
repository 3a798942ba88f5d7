"""Which seals of a record are believed: a line says only that a tag was made, and the tag must say
the same.
"""

from herorun.core.canonical_json import digest
from herorun.core.errors import CouldNotLook, HerorunError, describe_error
from herorun.core.event import Sealed
from herorun.core.git_ref_names import branch_name
from herorun.core.lazy_regex import lazy_regex
from herorun.core.untrusted_json import read_strict_json
from herorun.system.git import Repository
from herorun.system.git.plumbing import fetch
from herorun.system.git.remote_refs import recent_tips
from herorun.system.git.tags import tag_text

_TARGET = lazy_regex(r"object ([0-9a-f]{40,64})\ntype commit\n")


def seal_problem(repository: Repository, slug: str, seal: Sealed) -> str:
    """Why a seal is not believed; empty where its tag is in this clone and states what the record
    says.
    """
    if not is_seal_of(slug, seal.tag):
        return f"{seal.tag!r} is no seal of {slug}"
    try:
        text = tag_text(repository, seal.tag)
    except (HerorunError, OSError) as error:
        return describe_error(error).rstrip(".")
    if text is None:
        return (
            f"there is no such tag in this clone (`git fetch --tags`, if {seal.tag} is on the "
            "remote)"
        )
    target = _TARGET.match(text)
    if target is None or target[1] != seal.commit:
        return f"the tag names another commit than {seal.commit[:9]}"
    return (
        "" if _statement_digest(text) == seal.statement_digest else "the tag states something else"
    )


def is_seal_of(slug: str, tag: str) -> bool:
    try:
        return tag.startswith(f"herorun/{slug}/") and branch_name(tag) == tag
    except ValueError:
        return False


def _statement_digest(text: str) -> str:
    """The digest of the statement in a tag, whatever its form; empty where it holds none."""
    from herorun.core.seal.render import split_tag

    _, message, _ = split_tag(text)
    at = message.find("\n{")
    try:
        return digest(read_strict_json(message[at:])) if at >= 0 else ""
    except ValueError:
        return ""


def bring_tag(repository: Repository, remote: str, tag: str) -> None:
    """Fetch a seal's tag that this clone lacks; a tag that is here is left. `CouldNotLook` where
    the remote is silent.
    """
    ref = f"refs/tags/{tag}"
    if remote not in repository.remotes() or repository.refs(ref):
        return
    tips, is_new = recent_tips(repository, remote)
    if ref in tips or (not is_new and ref in repository.remote_tips(remote, ref)):
        try:
            fetch(repository, remote, {ref: ref})
        except HerorunError as error:
            raise CouldNotLook(f"the tag {tag} could not be fetched: {error}") from None
