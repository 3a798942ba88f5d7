"""Annotated tags: made once, and read as git keeps them."""

import contextlib

from herorun.core.errors import CouldNotLook, HerorunError
from herorun.system.git import Repository
from herorun.system.git.loose_objects import NotLoose
from herorun.system.git.packed_objects import ObjectDatabase
from herorun.system.git.plumbing import read_identity

MAX_TAG_BYTES = 16 << 20  # bytes; the seal of a run with thousands of instances has one of them


def annotated_tag(
    repository: Repository, name: str, commit: str, message: str, sign: bool = False
) -> str:
    """Make an annotated tag, message verbatim; the tag that exists already is left and returned.

    A tag that cannot be signed as git is set up to is not made: `CouldNotLook`.
    """
    from herorun.core.seal.render import split_tag

    existing = repository.git("rev-parse", "--verify", "--quiet", f"refs/tags/{name}", ok=(0, 1))
    if existing.code == 0:
        return existing.text.strip()
    who = read_identity(repository)
    name_part, _, mail = who.rpartition(" <")
    identity = {
        "GIT_COMMITTER_NAME": name_part or "herorun",
        "GIT_COMMITTER_EMAIL": mail.rstrip(">"),
    }
    answer = repository.git(
        "tag",
        *(("--sign",) if sign else ("--annotate", "--no-sign")),
        "--cleanup=verbatim",
        "--file=-",
        name,
        commit,
        stdin=message.encode(),
        env=identity,
    )
    oid = repository.git("rev-parse", "--verify", f"refs/tags/{name}").text.strip()
    if sign and not split_tag(tag_text(repository, name) or "")[2]:
        # git 2.39 calls it a success where ssh-keygen finds no key: the tag is nobody's yet, so it
        # can go.
        repository.git("update-ref", "-d", f"refs/tags/{name}", oid)
        raise CouldNotLook(f"git made the tag without a signature: {answer.complaint}")
    return oid


def tag_text(repository: Repository, name: str) -> str | None:
    """An annotated tag as git keeps it, head and message; None if there is no such tag. One of
    `MAX_TAG_BYTES` is refused.
    """
    ref = f"refs/tags/{name}"
    if repository.lacks(ref):
        return None
    if oid := repository.ref_object(ref):
        with contextlib.suppress(NotLoose):
            tag = ObjectDatabase(f"{repository.common}/objects").content(oid, b"tag", MAX_TAG_BYTES)
            return tag.decode("utf-8", "surrogateescape")
    size = repository.git("cat-file", "-s", ref, ok=(0, 128))
    if size.code == 0 and int(size.text) > MAX_TAG_BYTES:
        raise HerorunError(
            f"The tag {name} holds {int(size.text) >> 20} MiB, and no seal is that large: "
            "herorun did not make it. A person must check it."
        )
    answer = repository.git("cat-file", "tag", ref, ok=(0, 128))
    if repository.is_broken(ref):
        raise CouldNotLook(f"{ref} is damaged in {repository.common}: `git fsck` shows more.")
    return answer.text if answer.code == 0 else None
