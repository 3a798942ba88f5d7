"""Reads what git prints: objects, trees, remotes and settings."""

import re
from collections.abc import Mapping
from functools import lru_cache

from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex

_REMOTE = lazy_regex(r"^(\S+)\t(.*) \((fetch|push)\)", re.MULTILINE)

_PLAIN = lazy_regex(r"\w[\w.-]*")
_PLAIN_NAME = lazy_regex(r"\w(?:[\w .-]*\w)?")
_PLAIN_MAIL = lazy_regex(r"\w[\w.+-]*@[\w.-]*\w")


@dataclass(frozen=True)
class BatchEntry:
    """One object that `git cat-file --batch` printed."""

    kind: bytes  # blob, tree, commit or tag
    content: bytes


def batch_entries(out: bytes, count: int) -> list[BatchEntry | None]:
    """The objects in the order that they were asked for; None for one that git calls missing."""
    entries: list[BatchEntry | None] = []
    at = 0
    for _ in range(count):
        end = out.index(b"\n", at)
        header = out[at:end].split(b" ")
        at = end + 1
        if len(header) == 3 and b":" not in header[0]:  # not `<commit>:<path> missing`
            size = int(header[2])
            entries.append(BatchEntry(header[1], out[at : at + size]))
            at += size + 1
        else:
            entries.append(None)
    return entries


def ls_tree_rows(text: str) -> list[tuple[str, str, str]]:
    """`(mode, object, path)` of each entry that `git ls-tree -z` printed."""
    rows = []
    for record in text.split("\0"):
        if record:
            facts, _, path = record.partition("\t")
            mode, _, oid = facts.split(" ")
            rows.append((mode, oid, path))
    return rows


def remote_urls(text: str) -> dict[str, str]:
    """The URL of each remote, and of its pushes if they differ, from `git remote --verbose`."""
    rows = _REMOTE.findall(text)
    fetch_urls = {name: url for name, url, way in rows if way == "fetch"}
    push_only = {(name, url) for name, url, way in rows if way == "push"}
    push_urls = {
        name: f"{fetch_urls[name]} (pushes go to {url})"
        for name, url in sorted(push_only - set(fetch_urls.items()))
        if name in fetch_urls
    }
    return fetch_urls | push_urls


# A tick asks some twenty times for settings of the same listing, which takes as long as a commit.
@lru_cache(maxsize=8)
def is_of_repository(text: str) -> bool:
    """Whether the output of `git config --list -z` has the repository's own settings, which git
    leaves out without an error where it cannot open the repository.
    """
    return any(record.startswith("core.repositoryformatversion\n") for record in text.split("\0"))


@lru_cache(maxsize=8)
def remotes_set(text: str) -> Mapping[str, str] | None:
    """The URL of each remote, from `git config --list -z`. None where only git can tell: it
    rewrites URLs, a remote has several, or pushes go elsewhere, or it did not open the repository.
    """
    if not is_of_repository(text):
        return None
    urls: dict[str, str] = {}
    for key, _, value in (record.partition("\n") for record in text.split("\0")):
        name, _, last = key.removeprefix("remote.").rpartition(".")
        if key.startswith("url.") or (key.startswith("remote.") and last == "pushurl"):
            return None
        if key.startswith("remote.") and last == "url" and name:
            if name in urls or not _PLAIN.fullmatch(name) or not value or "\n" in value:
                return None
            urls[name] = value
    return dict(sorted(urls.items()))


@lru_cache(maxsize=256)
def last_setting(text: str, key: str) -> str | None:
    """The value in force, from `git config --list -z`; None where it is not set, or empty. A key
    without a value is true.
    """
    records = [record.partition("\n") for record in text.split("\0")]
    listed_key = _as_listed(key)
    values = [
        value.strip() if equals else "true" for name, equals, value in records if name == listed_key
    ]
    return values[-1] or None if values else None


def plain_identity(text: str) -> str:
    """The committer by `git config --list -z`; empty where only git can tell, as it removes some
    characters from the ends of a name, and makes up what is not set.
    """
    name, mail = (
        last_setting(text, f"committer.{key}") or last_setting(text, f"user.{key}") or ""
        for key in ("name", "email")
    )
    is_plain = _PLAIN_NAME.fullmatch(name) and _PLAIN_MAIL.fullmatch(mail)
    return f"{name} <{mail}>" if is_plain else ""


def _as_listed(key: str) -> str:
    """`core.sshCommand` as `git config --list` spells it; what is between the dots keeps its case.

    >>> _as_listed("Filter.LFS.Process")
    'filter.LFS.process'
    """
    section, _, subkey = key.partition(".")
    inside, dot, name = subkey.rpartition(".")
    return f"{section.lower()}.{inside}{dot}{name.lower()}"
